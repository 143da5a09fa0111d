import { expect, test } from "bun:test";
import { symlinkSync } from "node:fs";
import { checkSkill, loadSkill } from "../../src/manifest/load.ts";
import type { LoadOptions } from "../../src/manifest/resolve.ts";
import { temporaryFolder } from "../support/temporary.ts";

const options = (cwd: string, more: Partial<LoadOptions> = {}): LoadOptions => ({
  run: "r1",
  now: new Date("2026-11-18T07:30:00+01:00"),
  cwd,
  environment: {},
  inputs: { flags: [], file: undefined },
  ...more,
});

/** A number below the given one; the same row of them for the same seed. */
function seeded(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state * 1103515245 + 12345) % 2147483648;
    return Math.floor((state / 2147483648) * below);
  };
}

const standard: [string, string, string[]][] = [
  ["plain", "name: plain\ndescription: d", []],
  ["licensed", "name: licensed\ndescription: d\nlicense: MIT\nmetadata: { author: a, version: '1' }", []],
  ["shell", "name: shell\ndescription: d\nallowed-tools: Bash(git log:*) Read", ["Bash(git log:*)"]],
  ["listed", "name: listed\ndescription: d\nallowed-tools: [Write, WebFetch]", ["Write", "WebFetch"]],
  ["other", "name: other\ndescription: d\ncompatibility: needs git\nargument-hint: x", ["argument-hint"]],
];
for (const [name, frontmatter, named] of standard) {
  test(`the SKILL.md folder "${name}" of the public standard loads and names what it cannot do here`, async () => {
    using folder = temporaryFolder({
      "SKILL.md": `---\n${frontmatter}\n---\n\n# Do it\n\nSee references/a.md, then run \${{ x }} and {{ y }}.\n`,
      "references/a.md": "a",
      "scripts/b.sh": "b",
    });
    const skill = await loadSkill(folder.path, options(folder.path));
    expect(skill.name).toBe(name);
    expect(skill.instructions).toContain("${{ x }} and {{ y }}.");
    expect(skill.warnings).toHaveLength(named.length);
    for (const word of named) expect(skill.warnings.join("\n")).toContain(word);
  });
}

test("a manifest beside a SKILL.md replaces its fields one by one, and mcp: is read as servers:", async () => {
  using folder = temporaryFolder({
    "SKILL.md":
      "---\nname: a\ndescription: d\nmcp: { git: { command: git } }\nallowed-tools: mcp__git__log mcp__no__x\n---\nBody.\n",
    "skill.yaml": "description: e\nprompt: Go.\n",
  });
  const skill = await loadSkill(folder.path, options(folder.path));
  expect(skill).toMatchObject({ name: "a", description: "e", prompt: "Go.", instructions: "Body." });
  expect(skill.servers).toMatchObject([{ name: "git", command: "git", tools: [], cwd: folder.path, timeout: 120_000 }]);
  expect(skill.allowedTools).toEqual(["git/log"]);
  expect(skill.warnings.join()).toContain('no server "no"');
});

test("seeded: a SKILL.md and its manifest merge field by field, as if all fields stood in one file; a fault is told in its own file", async () => {
  const random = seeded(11182026);
  const names = [
    "name",
    "description",
    "version",
    "license",
    "metadata",
    "trigger",
    "inputs",
    "servers",
    "prompt",
    "limits",
  ];
  const value = (name: string): unknown => {
    const n = random(1_000);
    if (name === "metadata") return { [`k${n}`]: { deep: [n] } };
    if (name === "inputs") return { [`i${n}`]: { default: `d${n}` } };
    if (name === "servers") return { [`s${n}`]: { command: `c${n}`, env: { A: `a${n}` } } };
    if (name === "limits") return random(2) ? { turns: n + 1 } : { time: `${n}s` };
    return `${name}-${n}`;
  };
  const some = () => Object.fromEntries(names.filter(() => random(2)).map((name) => [name, value(name)]));
  for (let round = 0; round < 200; round++) {
    const under = { ...some(), description: `under-${round}` };
    const over = some();
    const markdown = `---\n${JSON.stringify(under, null, 1)}\n---\nBody.\n`;
    using two = temporaryFolder({ "SKILL.md": markdown, "skill.yaml": JSON.stringify(over) });
    using one = temporaryFolder({ "skill.json": JSON.stringify({ ...under, ...over, instructions: "Body." }) });
    const merged = await checkSkill(two.path);
    expect(merged.manifest).toEqual((await checkSkill(one.path)).manifest);

    const isOver = random(2) === 1;
    const wrong = { ...(isOver ? over : under), license: 5 };
    await Bun.write(two.file("SKILL.md"), `---\n${JSON.stringify(isOver ? under : wrong, null, 1)}\n---\nBody.\n`);
    await Bun.write(two.file("skill.yaml"), JSON.stringify(isOver ? wrong : { ...over, license: undefined }));
    await expect(checkSkill(two.path)).rejects.toThrow(`${two.file(isOver ? "skill.yaml" : "SKILL.md")}:`);
  }
});

test("seeded: no input value adds a field, an argument or a template, and nothing expands twice", async () => {
  using folder = temporaryFolder({
    "skill.yaml":
      'description: d\ninputs: { a: {}, b: { default: B } }\nservers: { s: { command: x, args: ["{{ inputs.a }}", "${V}", "end"] } }\nprompt: "P {{ inputs.a }} {{ inputs.b }}"\n',
  });
  const pieces = [
    "{{ inputs.b }}",
    "${V}",
    "${file:/etc/passwd}",
    "\n",
    '"',
    "'",
    ": ",
    "{{",
    "}}",
    "$&",
    "$1",
    ", x",
    "#",
    "\\",
    "é",
  ];
  const random = seeded(20261118);
  for (let round = 0; round < 300; round++) {
    const value = Array.from({ length: 1 + random(6) }, () => pieces[random(pieces.length)]).join("");
    const skill = await loadSkill(
      folder.path,
      options(folder.path, { environment: { V: value }, inputs: { flags: [`a=${value}`], file: undefined } }),
    );
    expect(skill.servers.map(({ args }) => args)).toEqual([[value, value, "end"]]);
    expect(skill.prompt).toBe(`P ${value} B`);
  }
});

test("a secret input that is a list or an object is one as a whole, and so is each of its longer parts", async () => {
  using folder = temporaryFolder({
    "skill.yaml": "description: d\ninputs: { t: { type: object, secret: true } }\n",
  });
  const value = '{"user":"me","login":{"word":"hunter2hunter2","pin":123456789}}';
  const skill = await loadSkill(
    folder.path,
    options(folder.path, { inputs: { flags: [`t=${value}`], file: undefined } }),
  );
  expect(skill.secrets.list().map((secret) => secret.value)).toEqual([
    value,
    '{"word":"hunter2hunter2","pin":123456789}',
    "hunter2hunter2",
    "123456789",
  ]);
});

test("a mistake that is found while secrets are filled in is told without them", async () => {
  using folder = temporaryFolder({
    "skill.yaml": 'description: d\ninputs: { t: { secret: true } }\nworkdir: "/nowhere/{{ inputs.t }}"\n',
  });
  const given = options(folder.path, { inputs: { flags: ["t=hunter2hunter2"], file: undefined } });
  const error = await loadSkill(folder.path, given).catch((error: Error) => error);
  expect(error).toMatchObject({ message: expect.stringContaining("no such folder: /nowhere/‹t›") });
});

test("inputs: flag > file > env > default, by type, and all that is wrong is told at once", async () => {
  using folder = temporaryFolder({
    "skill.yaml":
      "description: d\ninputs: { a: { env: A, default: d }, n: { type: integer, default: 1 }, need: {}, t: { secret: true, env: T } }\n",
  });
  const load = (flags: string[], values?: object) =>
    loadSkill(
      folder.path,
      options(folder.path, {
        environment: { A: "env", T: "hunter2hunter2" },
        inputs: { flags, file: values && { name: "f.json", values: { ...values } } },
      }),
    );
  const skill = await load(["need=x=y", "n=5"], { n: 4, a: "file" });
  expect(skill.inputs.map(({ value, source }) => [value, source])).toEqual([
    ["file", "f.json"],
    [5, "--input"],
    ["x=y", "--input"],
    ["hunter2hunter2", "$T"],
  ]);
  expect(skill.secrets.list()).toEqual([{ name: "t", value: "hunter2hunter2", source: "$T" }]);
  const message = await load(["n=five", "neet=x"]).catch((error: Error) => error.message);
  expect(message).toContain('no input "neet" (--input); did you mean "need"?');
  expect(message).toContain('input "n" from --input: expected a whole number, got "five"');
  expect(message).toContain('input "need" is missing; give --input need=…');
});

test("what a manifest reads stays in its folder, links followed; what is not set is an error with its place", async () => {
  using outside = temporaryFolder({ "secret.md": "s" });
  using folder = temporaryFolder({ "skill.yaml": "description: d\ninstructions: { file: link.md }\n" });
  symlinkSync(outside.file("secret.md"), folder.file("link.md"));
  await expect(loadSkill(folder.path, options(folder.path))).rejects.toThrow("leads out of the skill's folder");
  await Bun.write(folder.file("skill.yaml"), 'description: d\nservers: { a: { command: "${NO_SUCH}" } }\n');
  await expect(loadSkill(folder.path, options(folder.path))).rejects.toThrow(
    "skill.yaml:2:27: servers.a.command: NO_SUCH is not set",
  );
});

test("inherit takes a server by name from .mcp.json, the project's before the user's", async () => {
  using home = temporaryFolder({
    ".mcp.json": '{"mcpServers":{"a":{"command":"user"},"b":{"command":"b","disabled":true}}}',
  });
  using folder = temporaryFolder({
    ".mcp.json": '{"servers":{"a":{"type":"stdio","command":"project","args":["${env:X}","${workspaceFolder}"]}}}',
    "skill.yaml": "description: d\nservers: { a: { inherit: true, tools: [t] }, b: { inherit: true } }\n",
  });
  const skill = await loadSkill(folder.path, options(folder.path, { environment: { HOME: home.path, X: "x" } }));
  expect(skill.servers).toMatchObject([
    { name: "a", command: "project", args: ["x", folder.path], tools: ["t"] },
    { name: "b", command: "b" },
  ]);
});
