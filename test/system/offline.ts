// In a network namespace without interfaces (not even loopback is up) a cassette plays as anywhere.

import { expect, test } from "bun:test";
import { copyFileSync, mkdirSync } from "node:fs";
import { lasting, recorded } from "../support/cassettes.ts";
import { rich, richGiven, richWords } from "../support/rich-run.ts";

const offline = { under: ["unshare", "-n", "--"] };

test("a run on real servers replays without a network", async () => {
  await using life = await recorded(rich("anthropic"), richWords, richGiven);
  expect(life.ended.json.outcome).toBe("done");
  const reach = Bun.spawnSync([...offline.under, "node", "-e", `fetch("${life.model.url}")`]);
  expect(reach.exitCode).not.toBe(0);
  const again = await life.replay([], offline);
  expect(lasting(again.json)).toEqual(lasting(life.ended.json));
  expect(again.code).toBe(0);

  mkdirSync(life.file("skill/tests"));
  copyFileSync(life.cassette, life.file("skill/tests/good.jsonl"));
  expect(await life.play(["test", life.file("skill")], offline)).toMatchObject({ code: 0 });
});
