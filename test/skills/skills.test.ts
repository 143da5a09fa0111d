// The skills that ship: their manifests are right, their cassettes play anywhere, and their servers do what the tapes say.

import { expect, test } from "bun:test";
import { cpSync, readdirSync, readFileSync } from "node:fs";
import { omega, root } from "../support/omega.ts";
import { temporaryFolder } from "../support/temporary.ts";
import { testLive } from "./live.ts";
import { cassetteOf, skillFolder } from "./scene.ts";
import { scenes } from "./scenes.ts";

const names = readdirSync(skillFolder(".")).sort();
const folders = names.map(skillFolder);
/** Inputs that a skill cannot do without. */
const inputs: Record<string, string[]> = {
  "database-check": ["--input", "database=shop.db"],
  "page-watch": ["--input", "url=https://example.com/"],
};

test("every skill is valid, and has a word for people and a test", async () => {
  const { code, stdout, stderr } = await omega(["validate", ...folders]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout.trimEnd().split("\n")).toHaveLength(names.length);
  for (const name of names.filter((name) => name !== "hello")) {
    expect(readFileSync(`${skillFolder(name)}/README.md`, "utf8"), name).toContain("**Schedule**");
  }
  const cassettes = folders.map((folder) => readdirSync(`${folder}/tests`).map((file) => `${folder}/tests/${file}`));
  expect(cassettes.every((files) => files.length > 0)).toBe(true);
  expect(cassettes.flat().sort()).toEqual(scenes.map(cassetteOf).sort());
});

for (const name of names) {
  test(`${name} has a plan`, async () => {
    const { code, stdout, stderr } = await omega(["plan", skillFolder(name), "--json", ...(inputs[name] ?? [])]);
    expect(code, stderr).toBe(0);
    const { servers } = JSON.parse(stdout);
    expect(servers.length).toBeGreaterThan(0);
    // What is started is of one version, and what it offers is named.
    const packages = JSON.stringify(servers).match(/"@[\w./-]+@[^"]*"/g) ?? [];
    for (const each of packages) expect(each).toMatch(/@\d+\.\d+\.\d+"$/);
    expect(JSON.stringify(servers.map(({ tools }: any) => tools))).not.toContain('"*"');
  });
}

for (const cwd of ["/", root, skillFolder("folder-digest")]) {
  test(`the cassettes play without servers, key or network, started in ${cwd.replace(root, "the checkout")}`, async () => {
    const env = { PATH: "/nowhere", TZ: "Pacific/Kiritimati" };
    const { code, stdout } = await omega(["test", ...folders], { cwd, env });
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining(`${scenes.length} passed, 0 failed`) });
  });
}

test("they play in another checkout too, and tell nothing of the machine that recorded them", async () => {
  using folder = temporaryFolder();
  cpSync(skillFolder("."), folder.file("a.b/skills"), { recursive: true });
  const copies = names.map((name) => folder.file(`a.b/skills/${name}`));
  const { stdout } = await omega(["test", ...copies], { cwd: folder.path });
  expect(stdout).toEndWith(`${scenes.length} passed, 0 failed\n`);
  for (const scene of scenes)
    expect(readFileSync(cassetteOf(scene), "utf8")).not.toMatch(/\/tmp\/|\/root\b|\/home\/|\/work\//);
});

for (const scene of scenes.filter(({ needs }) => !needs)) testLive(scene);
