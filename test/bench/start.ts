// `omega --version` against an empty program, both compiled with the same flags: what omega's own code adds to the start.

import { compiled, interleave, omegaBinary, printTable, type Sample } from "./measure.ts";

async function wall(argv: string[]): Promise<Sample> {
  const started = performance.now();
  const child = Bun.spawn(argv, { stdout: "ignore", stderr: "ignore", stdin: "ignore" });
  await child.exited;
  return {
    "wall ms": performance.now() - started,
    "CPU ms": Number(child.resourceUsage()?.cpuTime.total ?? 0) / 1_000,
  };
}

export async function benchStart(rounds = 40): Promise<void> {
  const empty = compiled("empty", "export {};\n");
  const samples = await interleave(rounds, {
    "omega --version": () => wall([omegaBinary, "--version"]),
    "empty binary": () => wall([empty]),
  });
  printTable("start (goal: at most 1.5×)", samples);
}
