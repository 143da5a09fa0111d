// A skill that ships becomes one's own.

import { expect, test } from "bun:test";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { omega, root } from "../support/omega.ts";
import { temporaryFolder } from "../support/temporary.ts";

const shipped = readdirSync(resolve(root, "skills")).sort();

function filesIn(folder: string): Record<string, string> {
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" }).sort();
  const files = names.filter((name) => statSync(resolve(folder, name)).isFile());
  return Object.fromEntries(files.map((name) => [name, readFileSync(resolve(folder, name), "utf8")]));
}

test("init --from copies each skill that ships, every file of it, and its tests pass in their new place", async () => {
  using folder = temporaryFolder();
  const cwd = { cwd: folder.path };
  for (const name of shipped) {
    const { code, stdout, stderr } = await omega(["init", "--from", name, `my-${name}`], cwd);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toEndWith(`\ntry it: omega test my-${name}\n`);
    expect(filesIn(folder.file(`my-${name}`))).toEqual(filesIn(resolve(root, "skills", name)));
  }
  const { code, stdout } = await omega(["test", ...shipped.map((name) => `my-${name}`)], cwd);
  expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining(", 0 failed\n") });
});

test("without a folder it is named as the skill is, and nothing is ever overwritten", async () => {
  using folder = temporaryFolder({ "folder-digest/README.md": "mine" });
  const cwd = { cwd: folder.path };
  const refused = await omega(["init", "--from", "folder-digest"], cwd);
  expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining("nothing was written") });
  expect(filesIn(folder.path)).toEqual({ "folder-digest/README.md": "mine" });
  expect((await omega(["init", "--from", "page-watch"], cwd)).code).toBe(0);
  expect((await omega(["validate", "page-watch"], cwd)).stdout).toContain("is valid: page-watch");
});

test("init --list names them all; another name is an error with the nearest one, and makes nothing", async () => {
  using folder = temporaryFolder();
  const cwd = { cwd: folder.path };
  const { code, stdout } = await omega(["init", "--list"], cwd);
  expect(code).toBe(0);
  expect(
    stdout
      .trimEnd()
      .split("\n")
      .map((line) => line.split(" ")[0]),
  ).toEqual(shipped);
  const wrong = await omega(["init", "--from", "folder-digets", "mine"], cwd);
  expect(wrong.code).toBe(2);
  expect(wrong.stderr).toContain('no skill "folder-digets" ships with omega; did you mean "folder-digest"?');
  expect(wrong.stderr).toContain(shipped.join(", "));
  for (const name of ["../hello", "hello/tests", "", "__proto__"]) {
    expect((await omega(["init", `--from=${name}`, "mine"], cwd)).code, name).toBe(2);
  }
  expect(readdirSync(folder.path)).toEqual([]);
});
