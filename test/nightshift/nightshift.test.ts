// The demonstration in the README, as a test.

import { expect, test } from "bun:test";
import { resolve } from "node:path";
import { root } from "../support/omega.ts";

test("twelve bad nights end as they must, leave no process, and the failed run is a test that passes", async () => {
  const script = resolve(root, "test/nightshift/nightshift.ts");
  const child = Bun.spawn([process.execPath, script], { cwd: root, stdout: "pipe", stderr: "pipe" });
  const [said, complaints] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  expect(await child.exited, `${said}${complaints}`).toBe(0);
  expect(complaints).toBe("");
  expect(said.split("\n").filter((line) => / 0$/.test(line))).toHaveLength(12);
  expect(said).toContain("1 passed, 0 failed\n");
});
