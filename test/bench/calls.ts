// One echo server, four clients, each compiled with omega's flags: calls per second, and the way from spawn over the list
// of tools to the exit.

import { resolve } from "node:path";
import { cleanEnvironment } from "../support/omega.ts";
import { fixtureServer } from "../support/skills.ts";
import { compiled, interleave, printTable, type Sample } from "./measure.ts";

const clients = ["omega", "sdk-1", "sdk-2", "floor"];

export async function benchCalls(rounds = 7): Promise<void> {
  const { command, args } = fixtureServer("good.mjs");
  const binaries = clients.map((name) => {
    const file = resolve(import.meta.dir, "clients", `${name}.ts`);
    return [name, compiled(`client-${name}`, { file })] as const;
  });
  const contenders = binaries.map(([name, binary]) => [name, () => measure(binary, [command, ...args])] as const);
  printTable("one server: time per call and per visit", await interleave(rounds, Object.fromEntries(contenders)));
}

async function measure(binary: string, server: string[]): Promise<Sample> {
  const started = performance.now();
  await run([binary, "list", ...server]);
  const visit = performance.now() - started;
  const { alone, together } = JSON.parse(await run([binary, "calls", ...server]));
  return {
    "spawn → tools → exit ms": visit,
    "one at a time, µs per call": 1e6 / alone,
    "64 in flight, µs per call": 1e6 / together,
  };
}

async function run(argv: string[]): Promise<string> {
  // The clients pass on different parts of the environment, and some variables slow a server's start.
  const child = Bun.spawn(argv, { env: cleanEnvironment, stdout: "pipe", stderr: "inherit", stdin: "ignore" });
  const text = await new Response(child.stdout).text();
  if ((await child.exited) !== 0) throw new Error(`${argv[0]} failed`);
  return text;
}
