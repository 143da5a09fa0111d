// omega is killed at any moment: what it had written by then can be read, and its end is told by others, once.

import { expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { killOnce } from "../support/kills.ts";
import { openLife } from "../support/lives.ts";
import { omega } from "../support/omega.ts";
import { until } from "../support/processes.ts";
import { fixtureServer } from "../support/skills.ts";

for (const withGuardian of [false, true]) {
  test(`kill -9 ${withGuardian ? "of omega and of its guardian " : ""}at random moments: a readable record, and one end`, async () => {
    for (let round = 0; round < 4; round++) await killOnce({ spanMs: 150, withGuardian });
    for (let round = 0; round < 4; round++) await killOnce({ spanMs: 25, nearEnd: true, withGuardian });
  });
}

test("kill -9 in the middle of a call: the result says killed, and what the run had done and cost by then", async () => {
  using life = openLife(fixtureServer("slow-call.mjs"));
  const { child, result } = life.start();
  expect(await until(life.isReady, 20_000)).toBe(true);
  const [run = ""] = life.journal();
  const events = life.file(`home/runs/${run}/events.jsonl`);
  expect(await until(() => readFileSync(events, "utf8").includes('"type":"usage"'))).toBe(true);
  child.kill("SIGKILL");
  await result;
  const file = life.file(`home/runs/${run}/result.json`);
  expect(await until(() => existsSync(file) && life.journal().length === 0, 20_000)).toBe(true);
  expect(JSON.parse(readFileSync(file, "utf8"))).toMatchObject({
    ...{ run, skill: "skill", model: "replay/turns.yaml", outcome: "killed", exitCode: null },
    ...{ turns: 1, toolCalls: 1, children: { started: 1, survivors: [] }, record: life.file(`home/runs/${run}`) },
  });
  // A second sweep has nothing to tell, and a second end is not written.
  const before = readFileSync(file, "utf8");
  await omega(["sweep"], { env: { OMEGA_HOME: life.file("home") } });
  expect(readFileSync(file, "utf8")).toBe(before);
});
