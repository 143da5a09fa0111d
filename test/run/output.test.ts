import { expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { chmodSync, lstatSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync } from "node:fs";
import { writeOutput } from "../../src/run/output.ts";
import { temporaryFolder } from "../support/temporary.ts";

const read = (path: string) => readFileSync(path, "utf8");

test("the answer takes the place of what was there, and its modes", () => {
  using folder = temporaryFolder({ "notes.md": "old" });
  chmodSync(folder.file("notes.md"), 0o666);
  writeOutput(folder.path, "notes.md", "new");
  expect(read(folder.file("notes.md"))).toBe("new\n");
  expect(statSync(folder.file("notes.md")).mode & 0o777).toBe(0o666);
  expect(readdirSync(folder.path)).toEqual(["notes.md"]);
});

test("a link stays a link, and what it leads to is written", () => {
  using folder = temporaryFolder({ "there/real.md": "old" });
  symlinkSync("there/real.md", folder.file("link.md"));
  writeOutput(folder.path, "link.md", "new");
  expect(lstatSync(folder.file("link.md")).isSymbolicLink()).toBe(true);
  expect(read(folder.file("there/real.md"))).toBe("new\n");
});

test("what is no regular file stays what it is: a pipe that nobody reads, a folder", () => {
  using folder = temporaryFolder();
  spawnSync("mkfifo", [folder.file("pipe")]);
  mkdirSync(folder.file("folder"));
  for (const name of ["pipe", "folder"]) {
    expect(() => writeOutput(folder.path, name, "new")).toThrow("could not be written");
  }
  expect(lstatSync(folder.file("pipe")).isFIFO()).toBe(true);
  expect(readdirSync(folder.path).sort()).toEqual(["folder", "pipe"]);
});

for (const [what, name] of [
  ["too long a name", "x".repeat(300)],
  ["a name that is none", "a\0b"],
] as const) {
  test(`${what} is no bug of ours`, () => {
    using folder = temporaryFolder();
    expect(() => writeOutput(folder.path, name, "new")).toThrow("could not be written");
    expect(readdirSync(folder.path)).toEqual([]);
  });
}
