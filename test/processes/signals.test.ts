import { test } from "bun:test";
import { strike } from "../support/storm.ts";

test("a signal at any moment ends a run with the right code and leaves nothing", async () => {
  for (let round = 0; round < 12; round++) await strike(["SIGHUP", "SIGINT", "SIGTERM"], 200);
}, 120_000);

test("kill -9 at any moment leaves nothing, at the latest after the next sweep", async () => {
  for (let round = 0; round < 6; round++) await strike(["SIGKILL"], 200);
}, 120_000);
