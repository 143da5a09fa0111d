import { expect, test } from "bun:test";
import { left, nothing, openLife } from "../support/lives.ts";
import { until } from "../support/processes.ts";
import { fixtureServer } from "../support/skills.ts";
import { strike } from "../support/storm.ts";

test("a signal at any moment ends a run with the right code and leaves nothing", async () => {
  for (let round = 0; round < 12; round++) await strike(["SIGHUP", "SIGINT", "SIGTERM"], 120);
}, 120_000);

test("kill -9 at any moment leaves nothing, at the latest after the next sweep", async () => {
  for (let round = 0; round < 6; round++) await strike(["SIGKILL"], 120);
}, 120_000);

test("under nohup a run outlives the hang-up of its terminal", async () => {
  using life = openLife(fixtureServer("slow-call.mjs"));
  const { child, result } = life.start({ under: ["nohup"] });
  expect(await until(life.isReady, 20_000)).toBe(true);
  child.kill("SIGHUP");
  child.kill("SIGTERM");
  expect((await result).code).toBe(143);
  expect(left(life)).toEqual(nothing);
});
