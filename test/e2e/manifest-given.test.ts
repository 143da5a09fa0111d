// What a manifest is given from outside: variables, env files, secret files, folders, .mcp.json. Through `omega plan`.

import { expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { truncateSync } from "node:fs";
import { type Options, omega } from "../support/omega.ts";
import { temporaryFolder } from "../support/temporary.ts";

async function plan(words: string[], options: Options) {
  const { code, stdout, stderr } = await omega(["plan", "--json", ...words], { timeoutMs: 10_000, ...options });
  return { code, stderr, plan: code === 0 ? JSON.parse(stdout) : undefined, all: stdout + stderr };
}

test("the environment wins over --env-file, which wins over envFile; a fallback comes last", async () => {
  using folder = temporaryFolder({
    "skill.yaml":
      'description: d\nenvFile: own.env\nservers: { a: { command: x, args: ["${A}", "${B}", "${C}", "${D:-last}"] } }\n',
    "own.env": "# ours\nA=own\nB=own\nexport C='own c'\n",
    "given.env": 'A=given\nB="given"\n',
  });
  const { plan: planned } = await plan([".", "--env-file", "given.env"], { cwd: folder.path, env: { A: "outside" } });
  expect(planned.servers[0].argv).toEqual(["x", "outside", "given", "own c", "last"]);
});

test("an env file that is missing, outside the skill's folder or not NAME=value is invalid, and its lines are not shown", async () => {
  using folder = temporaryFolder({
    "skill/skill.yaml": "description: d\n",
    "skill/out.yaml": "description: d\nenvFile: ../bad.env\n",
    "bad.env": "A=1\nhunter2hunter2\n",
  });
  const cwd = folder.path;
  expect((await plan(["skill", "--env-file", "no.env"], { cwd })).stderr).toContain("no.env (ENOENT)");
  expect((await plan(["skill/out.yaml"], { cwd })).stderr).toContain("leads out of the skill's folder");
  const { code, stderr } = await plan(["skill", "--env-file", "bad.env"], { cwd });
  expect(code).toBe(2);
  expect(stderr).toContain("bad.env:2:1: expected NAME=value");
  expect(stderr).not.toContain("hunter2");
});

test("${file:…} gives the file without its last line break, as a secret", async () => {
  using folder = temporaryFolder({
    "skill.yaml": 'description: d\nservers: { a: { command: x, args: ["--a=${file:token}", "${file:two}"] } }\n',
    token: "hunter2hunter2\n",
    two: "first-line\nsecond-line\r\n",
  });
  const { plan: planned, all } = await plan([folder.path], {});
  expect(planned.servers[0].argv).toEqual(["x", "--a=‹token›", "‹two›"]);
  expect(planned.secrets).toEqual([
    { name: "token", source: "file token" },
    { name: "two", source: "file two" },
  ]);
  expect(all).not.toMatch(/hunter2|second-line/);
});

test("${file:…} that is missing, a FIFO, a folder or larger than 1 MB is invalid at its place, and nothing waits for it", async () => {
  using folder = temporaryFolder({ big: "" });
  truncateSync(folder.file("big"), 1_000_001);
  expect(spawnSync("mkfifo", [folder.file("pipe")]).status).toBe(0);
  const files: [string, string][] = [
    ["missing", "cannot read"],
    ["pipe", "is not a regular file"],
    [".", "is not a regular file"],
    ["big", "is larger than 1 MB"],
  ];
  for (const [name, says] of files) {
    await Bun.write(
      folder.file("skill.yaml"),
      `description: d\nservers: { a: { command: x, args: ["\${file:${name}}"] } }\n`,
    );
    const { code, stderr } = await plan([folder.path], {});
    expect(code).toBe(2);
    expect(stderr).toContain("skill.yaml:2:37: servers.a.args.0: ");
    expect(stderr).toContain(says);
  }
});

test("--workdir wins over workdir, which wins over the current folder; one that is not there is invalid", async () => {
  using folder = temporaryFolder({
    "plain/skill.yaml": "description: d\n",
    "own/skill.yaml": "description: d\ninputs: { to: { default: one } }\nworkdir: '{{ inputs.to }}'\n",
    "one/x": "",
    "two/x": "",
  });
  const workdir = async (...words: string[]) => (await plan(words, { cwd: folder.path })).plan?.workdir;
  expect(await workdir("plain")).toBe(folder.path);
  expect(await workdir("own")).toBe(folder.file("one"));
  expect(await workdir("own", "--workdir", "two")).toBe(folder.file("two"));
  const lost = await plan(["own", "--input", "to=three"], { cwd: folder.path });
  expect(lost.code).toBe(2);
  expect(lost.stderr).toContain(`own/skill.yaml:3:10: workdir: no such folder: ${folder.file("three")}`);
  expect((await plan(["own", "--workdir", "one/x"], { cwd: folder.path })).stderr).toContain(
    "--workdir: no such folder",
  );
});

test("requires that this omega does not meet is told alone, in place of the fields it does not know", async () => {
  using folder = temporaryFolder({ "skill.yaml": 'description: d\nrequires: ">=99"\nfutureField: 1\n' });
  const { code, stderr } = await omega(["validate", folder.path]);
  expect(code).toBe(2);
  expect(stderr).toContain("this skill needs omega >=99; this is omega ");
  expect(stderr).not.toContain("futureField");
  await Bun.write(folder.file("skill.yaml"), 'description: d\nrequires: ">=0.0.1"\n');
  expect((await omega(["validate", folder.path])).code).toBe(0);
});

test("a broken .mcp.json is a warning where the server comes from the other file, an error where it is needed, nothing where none is inherited", async () => {
  using home = temporaryFolder({ ".mcp.json": '{"mcpServers":{"a":{"command":"from-home"}}}' });
  using folder = temporaryFolder({
    ".mcp.json": '{"mcpServers":{"a":{"env":{"K":"hunter2hunter2"}',
    "a.yaml": "description: d\nservers: { a: { inherit: true } }\n",
    "b.yaml": "description: d\nservers: { b: { inherit: true } }\n",
    "none.yaml": "description: d\nservers: { a: { command: x } }\n",
  });
  const options = { cwd: folder.path, env: { HOME: home.path } };
  const passed = await plan(["a.yaml"], options);
  expect(passed.plan.servers[0].argv).toEqual(["from-home"]);
  expect(passed.plan.warnings).toHaveLength(1);
  expect(passed.stderr).toContain("a broken .mcp.json was passed over: ");
  const needed = await plan(["b.yaml"], options);
  expect(needed.code).toBe(2);
  expect(needed.stderr).toContain(`${folder.file(".mcp.json")}:1:`);
  expect((await plan(["none.yaml"], options)).stderr).toBe("");
  expect(passed.all + needed.all).not.toContain("hunter2");
});

test("a secret of fewer than 8 characters is told as one that cannot be kept out of logs, by name", async () => {
  using folder = temporaryFolder({
    "skill.yaml": 'description: d\nservers: { a: { command: x, args: ["${MY_TOKEN}", "${OTHER_KEY}"] } }\n',
  });
  const { plan: planned, stderr } = await plan([folder.path], { env: { MY_TOKEN: "1234567", OTHER_KEY: "12345678" } });
  const warning = "secret MY_TOKEN is shorter than 8 characters: it cannot be kept out of logs";
  expect(planned.warnings).toEqual([warning]);
  expect(stderr).toBe(`warning: ${warning}\n`);
});

test("what is wrong with an input file or a secret input is told without its values", async () => {
  using folder = temporaryFolder({
    "skill.yaml":
      "description: d\ninputs: { t: { secret: true, type: integer }, u: { secret: true, enum: [hunter2a] } }\n",
    "broken.yaml": "t: @hunter2\n",
    "wrong.yaml": "t: hunter2\nu: hunter2\n",
  });
  for (const file of ["broken.yaml", "wrong.yaml"]) {
    const { code, all } = await plan([folder.path, "--input-file", file], { cwd: folder.path });
    expect(code).toBe(2);
    expect(all).not.toContain("hunter2");
  }
});
