// One tape, played a hundred times, at a rate that keeps the machine busy: always the same.

import { expect, test } from "bun:test";
import { lasting, recorded } from "../support/cassettes.ts";
import { rich, richGiven, richWords } from "../support/rich-run.ts";
import { everyWire } from "../support/scripted.ts";

const ROUNDS = Number(process.env["ROUNDS"] ?? 100);
const AT_ONCE = 4;

for (const wire of everyWire) {
  test(`${wire}: a run on real servers replays to the same envelope ${ROUNDS} times`, async () => {
    await using life = await recorded(rich(wire), richWords, richGiven);
    const then = lasting(life.ended.json);
    expect(then.outcome).toBe("done");
    for (let round = 0; round < ROUNDS; round += AT_ONCE) {
      const replays = Array.from({ length: AT_ONCE }, () => life.replay([], { timeoutMs: 60_000 }));
      for (const { json, stderr } of await Promise.all(replays)) expect(lasting(json), stderr).toEqual(then);
    }
  });
}

test(`${ROUNDS / 2} recordings, no two of which went the same way in time, each replay to their own`, async () => {
  for (let round = 0; round < ROUNDS / 2; round += AT_ONCE) {
    const recordings = everyWire.map(async (wire) => {
      await using life = await recorded(rich(wire), richWords, { ...richGiven, timeoutMs: 60_000 });
      const again = await life.replay([], { timeoutMs: 60_000 });
      expect(lasting(again.json), again.json?.reason).toEqual(lasting(life.ended.json));
    });
    await Promise.all(recordings);
  }
});
