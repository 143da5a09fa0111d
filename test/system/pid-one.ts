// omega as PID 1 of a container-like namespace: needs root and unshare.

import { expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { resolve } from "node:path";
import { root } from "../support/omega.ts";
import { fixtureServer, manifest } from "../support/skills.ts";
import { temporaryFolder } from "../support/temporary.ts";

test("as PID 1 a run ends as done, with all of its children gone", () => {
  using folder = temporaryFolder({
    "skill.yaml": manifest({ good: fixtureServer("good.mjs") }, { model: "replay/turns.yaml" }),
    "turns.yaml": "turns: [{ calls: [{ id: a, tool: good/echo, arguments: { text: hi } }] }, { text: 'got {{ a }}' }]",
  });
  const argv = ["--pid", "--fork", "--mount-proc", resolve(root, "dist/omega"), "run", folder.path, "--json"];
  const { status, stdout, stderr } = spawnSync("unshare", argv, { encoding: "utf8", timeout: 30_000 });
  expect(status, stderr).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ outcome: "done", text: "got echo: hi", children: { survivors: [] } });
});
