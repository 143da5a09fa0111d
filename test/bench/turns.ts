// The same ten turns by omega and by the floor, each compiled with the same flags, on the same server, with a model that
// takes 50 ms to answer. Own time per turn: from the end of the model's answer to the next request, the tool calls included.

import { readdirSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { type ModelServer, modelServer } from "../support/model-server.ts";
import { root } from "../support/omega.ts";
import { fixtureServer, manifest } from "../support/skills.ts";
import { temporaryFolder } from "../support/temporary.ts";
import { compiled, interleave, median, omegaBinary, printTable, type Sample } from "./measure.ts";

const TURNS = 10;
const LATENCY_MS = 50;

export async function benchTurns(rounds = 15): Promise<void> {
  const floor = compiled("floor", { file: resolve(import.meta.dir, "floor.ts") });
  const { command, args } = fixtureServer("good.mjs");
  using folder = temporaryFolder({ "skill.yaml": manifest({ good: { command, args } }) });
  const samples = await interleave(rounds, {
    omega: () => measure(() => [omegaBinary, "run", folder.path, "--model", "openai-chat/m"]),
    floor: () => measure((url) => [floor, url, command, ...args]),
  });
  printTable(`${TURNS} turns, model latency ${LATENCY_MS} ms`, samples);
}

async function measure(argv: (url: string) => string[]): Promise<Sample> {
  let pid = 0;
  let own = { cpuMs: 0, rssMb: 0 };
  await using model: ModelServer = await modelServer((index) => {
    own = readOwn(pid);
    const calls = [1, 2].map((n) => ({ name: "mcp__good__echo", arguments: { text: `turn ${index} call ${n}` } }));
    return { delayMs: LATENCY_MS, ...(index < TURNS - 1 ? { text: "Working.", calls } : { text: "All is done." }) };
  });
  const started = performance.now();
  const child = Bun.spawn(argv(model.url), {
    cwd: root,
    env: {
      PATH: process.env["PATH"] ?? "",
      HOME: "/nonexistent",
      OPENAI_BASE_URL: model.url,
    },
    stdout: "pipe",
    stderr: "ignore",
    stdin: "ignore",
  });
  pid = child.pid;
  const answer = await new Response(child.stdout).text();
  if ((await child.exited) !== 0 || answer.trim() !== "All is done.") throw new Error(`wrong end: ${answer}`);
  const wall = performance.now() - started;
  const gaps = model.times.slice(1).map(({ asked }, index) => asked - (model.times[index]?.answered ?? 0));
  return {
    "wall ms": wall,
    "spawn → first request ms": (model.times[0]?.asked ?? 0) - started,
    "own time per turn ms": median(gaps),
    "last answer → exit ms": started + wall - (model.times.at(-1)?.answered ?? 0),
    "own CPU ms": own.cpuMs,
    "peak RSS MB": own.rssMb,
  };
}

/** CPU of all its threads and peak memory of one process, its children not counted, as /proc tells it. */
function readOwn(pid: number): { cpuMs: number; rssMb: number } {
  const nanoseconds = readdirSync(`/proc/${pid}/task`).map((task) =>
    Number(readFileSync(`/proc/${pid}/task/${task}/schedstat`, "utf8").split(" ")[0]),
  );
  const peak = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
  return { cpuMs: nanoseconds.reduce((sum, each) => sum + each, 0) / 1e6, rssMb: Number(peak) / 1024 };
}
