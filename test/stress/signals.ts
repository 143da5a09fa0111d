// 200 runs, each hit once at a random moment; a quarter of them by kill -9.

import { expect, test } from "bun:test";
import { type StormSignal, type Strike, strike } from "../support/storm.ts";

const ROUNDS = Number(process.env["ROUNDS"] ?? 200);
const signals: StormSignal[] = ["SIGHUP", "SIGINT", "SIGTERM", "SIGKILL"];

test(`${ROUNDS} runs hit at random moments leave no process, no temporary file and no journal row`, async () => {
  const strikes: Strike[] = [];
  for (let round = 0; round < ROUNDS; round++) strikes.push(await strike(signals, 120));
  for (const signal of signals)
    console.log(
      summary(
        signal,
        strikes.filter((one) => one.signal === signal),
      ),
    );
  expect(strikes).toHaveLength(ROUNDS);
}, 3_600_000);

function summary(signal: string, strikes: Strike[]): string {
  const ends = Object.entries(Object.groupBy(strikes, ({ ended }) => ended)).map(
    ([end, all]) => `${end}: ${all?.length}`,
  );
  const times = strikes.map(({ goneMs }) => goneMs).sort((a, b) => a - b);
  const [median, worst] = [times[times.length >> 1], times.at(-1)].map((ms) => Math.round(ms ?? 0));
  const swept = strikes.filter(({ neededSweep }) => neededSweep).length;
  return `${signal}: ${strikes.length} (${ends.join(", ")}); all gone after ${median} ms, at worst ${worst} ms; left to the next start: ${swept}`;
}
