import { expect, test } from "bun:test";
import type { RunEvent } from "../../src/events.ts";
import { type RunOptions, run } from "../../src/run/run.ts";

test("a bug inside a run is an outcome, and its stack is there for -v", async () => {
  const { signal } = new AbortController();
  const broken = { skill: ".", words: 7, inputs: [], model: undefined, yes: false, signal, hurry: signal };
  const told: RunEvent[] = [];
  const events = run(broken as unknown as RunOptions);
  for (let next = await events.next(); ; next = await events.next()) {
    if (next.done) {
      expect(next.value).toMatchObject({ outcome: "internal", exitCode: 70 });
      break;
    }
    told.push(next.value);
  }
  expect(told).toEqual([{ type: "debug", message: expect.stringMatching(/TypeError.*\n +at /) }]);
});
