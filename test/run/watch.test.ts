// What passes here has lost its secrets, in whatever order it comes.

import { expect, test } from "bun:test";
import type { RunEvent } from "../../src/events.ts";
import { createSecrets } from "../../src/redact.ts";
import { emptyTally } from "../../src/run/envelope.ts";
import { openWatch } from "../../src/run/watch.ts";

const token = "hunter2-hunter2";

function watch() {
  const secrets = createSecrets();
  secrets.add({ name: "TOKEN", value: token, source: "a test" });
  const tally = emptyTally();
  const opened = openWatch(tally);
  opened.hide(secrets);
  return { ...opened, tally };
}

async function pass(events: readonly RunEvent[]): Promise<RunEvent[]> {
  const told: RunEvent[] = [];
  async function* come() {
    yield* events;
  }
  for await (const event of watch().events(come())) told.push(event);
  return told;
}

const text = (text: string): RunEvent => ({ type: "text", turn: 1, text });

test("a warning that comes in the middle of a text does not cut a secret in two", async () => {
  const warning: RunEvent = { type: "warning", message: "from beside" };
  const told = await pass([text("it is hunter2-"), warning, text("hunter2."), { type: "turn", turn: 2 }]);
  expect(told).toEqual([text("it is "), warning, text("‹TOKEN›."), { type: "turn", turn: 2 }]);
});

test("what ends a text tells all of it first", async () => {
  const turn: RunEvent = { type: "turn", turn: 2 };
  expect(await pass([text("it is hunter"), turn])).toEqual([text("it is "), text("hunter"), turn]);
});

test("an event that is told outside of the story loses its secrets and is counted too", () => {
  const { event, tally } = watch();
  expect([...event({ type: "warning", message: `at ${token}` })]).toEqual([{ type: "warning", message: "at ‹TOKEN›" }]);
  expect(tally.warnings).toEqual([`at ${token}`]);
});
