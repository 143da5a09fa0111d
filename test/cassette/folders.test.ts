// A cassette that was recorded in one folder plays in another.

import { expect, test } from "bun:test";
import { mkdirSync } from "node:fs";
import { namePlaces } from "../../src/cassette/places.ts";
import { omega } from "../support/omega.ts";
import { fixtureServer, manifest } from "../support/skills.ts";
import { temporaryFolder } from "../support/temporary.ts";

const { hide } = namePlaces({ workdir: "/tmp/work", "skill.dir": "/elsewhere" });
const written: [string, string][] = [
  ["/tmp/work", "{{ workdir }}"],
  ["read /tmp/work/a.md and /tmp/work.", "read {{ workdir }}/a.md and {{ workdir }}."],
  ["/tmp/work... or /tmp/work?", "{{ workdir }}... or {{ workdir }}?"],
  ["/tmp/works /tmp/work-2 /tmp/work.old /tmp/work..old", "/tmp/works /tmp/work-2 /tmp/work.old /tmp/work..old"],
];

for (const [text, told] of written) {
  test(`"${text}" is written as "${told}"`, () => {
    expect(hide(text)).toBe(told);
  });
}

const turns = JSON.stringify({
  turns: [{ calls: [{ id: "a", tool: "s/echo", arguments: { text: "x" } }] }, { text: "{{ a }}" }],
});
const skill = (more: object) =>
  manifest({ s: fixtureServer("good.mjs") }, { name: "moves", model: "replay/turns.yaml", ...more });

test("a run whose inputs name its folder plays where that folder is not", async () => {
  const text = skill({
    inputs: { place: {} },
    workdir: "{{ inputs.place }}",
    prompt: "Look into {{ inputs.place }}. It is {{ workdir }}.",
  });
  using folder = temporaryFolder({ "skill/skill.yaml": text, "skill/turns.yaml": turns });
  mkdirSync(folder.file("there"));
  for (const [name, place] of [
    ["absolute", folder.file("there")],
    ["relative", "there"],
  ]) {
    const tape = folder.file(`skill/tests/${name}.jsonl`);
    // The folder of the first tape is made.
    const words = ["run", folder.file("skill"), "--input", `place=${place}`, "--cassette", tape];
    expect((await omega(words, { cwd: folder.path })).code).toBe(0);
    const told = await Bun.file(tape).text();
    // Its first line alone tells which folder that was.
    expect(told.slice(told.indexOf("\n"))).not.toContain(folder.path);
  }
  using elsewhere = temporaryFolder();
  const { code, stdout } = await omega(["test", folder.file("skill")], { cwd: elsewhere.path });
  expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining("2 passed, 0 failed") });
});

test("a cassette plays in the skill's own folder, around it, and at the root", async () => {
  using folder = temporaryFolder();
  const there = folder.file("there");
  const file = (name: string) => folder.file(`skill/${name}`);
  mkdirSync(there);
  await Bun.write(file("skill.yaml"), skill({ prompt: "Look into {{ workdir }}/notes and {{ skill.dir }}/names." }));
  await Bun.write(file("turns.yaml"), turns.replace('"x"', `"${there}/notes"`));
  const recorded = await omega(["run", file("."), "--cassette", file("tests/a.jsonl")], { cwd: there });
  expect(recorded.stdout).toBe(`echo: ${there}/notes\n`);
  for (const cwd of [file("."), folder.path, file("tests"), "/"]) {
    const { stdout } = await omega(["test", file(".")], { cwd });
    expect(stdout, cwd).toContain("1 passed, 0 failed");
  }
});
