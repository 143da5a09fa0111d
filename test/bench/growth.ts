// What one more costs when there are many: turns, tools, servers. A good row says that each one more adds the same.

import { readFileSync } from "node:fs";
import { type ModelServer, modelServer } from "../support/model-server.ts";
import { root } from "../support/omega.ts";
import { fixture, manifest } from "../support/skills.ts";
import { temporaryFolder } from "../support/temporary.ts";
import { median, omegaBinary } from "./measure.ts";

type Load = { turns: number; tools: number; servers: number };
type Cost = { firstMs: number; turnMs: number; rssMb: number; endMs: number };

const ROUNDS = 3;

export async function benchGrowth(): Promise<void> {
  const least = { turns: 2, tools: 10, servers: 1 };
  await table("turns", [5, 10, 50, 200], (turns) => ({ ...least, turns }), "turnMs", "own time of a late turn, ms");
  await table(
    "tools",
    [10, 100, 1_000, 5_000],
    (tools) => ({ ...least, turns: 6, tools }),
    "turnMs",
    "own time per turn, ms",
  );
  await table("servers", [1, 5, 10, 20], (servers) => ({ ...least, servers }), "firstMs", "spawn → first request, ms");
}

async function table(
  unit: keyof Load,
  counts: number[],
  load: (count: number) => Load,
  cost: keyof Cost,
  what: string,
) {
  console.log(`\n${what}, by the number of ${unit} (medians of ${ROUNDS})`);
  let smallest: { count: number; value: number } | undefined;
  for (const count of counts) {
    const samples: Cost[] = [];
    for (let round = 0; round < ROUNDS; round++) samples.push(await measure(load(count)));
    const value = median(samples.map((sample) => sample[cost]));
    const rss = median(samples.map(({ rssMb }) => rssMb));
    smallest ??= { count, value };
    const each =
      count === smallest.count
        ? ""
        : `, ${((value - smallest.value) / (count - smallest.count)).toFixed(4)} more for each`;
    const end = median(samples.map(({ endMs }) => endMs));
    console.log(
      `  ${String(count).padStart(5)} ${value.toFixed(2).padStart(9)}${each}   (last answer → exit ${end.toFixed(0)} ms, peak RSS ${rss.toFixed(0)} MB)`,
    );
  }
}

async function measure({ turns, tools, servers }: Load): Promise<Cost> {
  const call = (index: number) => ({ name: "mcp__s0__tool_0", arguments: { text: `turn ${index}` } });
  let pid = 0;
  let rssMb = 0;
  await using model: ModelServer = await modelServer((index) => {
    if (index === turns - 1) rssMb = peakOf(pid);
    return index < turns - 1 ? { text: "Working.", calls: [call(index)] } : { text: "All is done." };
  });
  const server = { command: "node", args: [fixture("many-tools.mjs"), String(tools)] };
  const names = Array.from({ length: servers }, (_, index) => [`s${index}`, server]);
  using folder = temporaryFolder({
    "skill.yaml": manifest(Object.fromEntries(names), { limits: { turns: turns + 10 } }),
  });
  const started = performance.now();
  const child = Bun.spawn([omegaBinary, "run", folder.path, "--quiet", "--model", "openai-chat/m"], {
    cwd: root,
    env: { PATH: process.env["PATH"] ?? "", HOME: folder.path, OPENAI_BASE_URL: model.url },
    stdout: "ignore",
    stderr: "inherit",
    stdin: "ignore",
  });
  pid = child.pid;
  if ((await child.exited) !== 0) throw new Error("the run was not done");
  const ended = performance.now();
  const gaps = model.times.slice(1).map(({ asked }, index) => asked - (model.times[index]?.answered ?? 0));
  return {
    firstMs: (model.times[0]?.asked ?? 0) - started,
    turnMs: median(gaps.slice(-20)),
    endMs: ended - (model.times.at(-1)?.answered ?? 0),
    rssMb,
  };
}

function peakOf(pid: number): number {
  return Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1024;
}
