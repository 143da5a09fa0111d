// 200 runs, each killed at a random moment, half of them while their end is written, every third together with its guardian.

import { expect, test } from "bun:test";
import { type Killed, killOnce } from "../support/kills.ts";

const ROUNDS = Number(process.env["ROUNDS"] ?? 200);

test(`${ROUNDS} runs killed at random moments leave readable records with one end each, and nothing else`, async () => {
  const killed: Killed[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const nearEnd = round % 2 === 1;
    killed.push(await killOnce({ spanMs: nearEnd ? 30 : 180, nearEnd, withGuardian: round % 3 === 0 }));
  }
  for (const key of ["moment", "toldBy", "server"] as const) {
    const counts = Object.entries(Object.groupBy(killed, (one) => one[key]));
    console.log(`${key}: ${counts.map(([name, all]) => `${name} ${all?.length}`).join(", ")}`);
  }
  expect(killed).toHaveLength(ROUNDS);
}, 3_600_000);
