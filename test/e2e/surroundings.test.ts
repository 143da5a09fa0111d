// omega where nobody watches: other folders, bare environments, closed pipes, planted files.

import { expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { resolve } from "node:path";
import { bin, omega, root } from "../support/omega.ts";
import { fixture, manifest } from "../support/skills.ts";
import { temporaryFolder } from "../support/temporary.ts";

const node = Bun.which("node") ?? "node";
const files = {
  "skill/skill.yaml": manifest(
    { good: { command: node, args: [fixture("good.mjs")] } },
    { model: "replay/turns.yaml" },
  ),
  "skill/turns.yaml":
    "turns: [{ calls: [{ id: a, tool: good/echo, arguments: { text: hi } }] }, { text: 'got {{ a }}' }]",
};
const underDeno = process.env["OMEGA_UNDER_TEST"] === "deno";
const binary = underDeno
  ? [bin("deno"), "run", "-A", "--quiet", resolve(root, "src/main.ts")]
  : [resolve(root, "dist/omega")];

/** On Deno a write to a full disk throws where it is called: the run ends, as internal. */
const onBun = test.skipIf(underDeno);

function shell(script: string, cwd: string, env: Record<string, string>) {
  const quoted = binary.map((word) => `'${word}'`).join(" ");
  const result = spawnSync("/bin/sh", ["-c", `omega() { ${quoted} "$@"; }\n${script}`], {
    cwd,
    env,
    encoding: "utf8",
    timeout: 30_000,
  });
  return { code: result.status, stdout: result.stdout, stderr: result.stderr };
}

test("a skill runs from another folder, by a relative path", async () => {
  using folder = temporaryFolder(files);
  const { code, stdout } = await omega(["run", "skill", "--quiet"], { cwd: folder.path });
  expect({ code, stdout }).toEqual({ code: 0, stdout: "got echo: hi\n" });
});

test("it runs with no HOME and no PATH", () => {
  using folder = temporaryFolder(files);
  const { code, stdout, stderr } = shell(
    "omega run skill",
    folder.path,
    underDeno ? { DENO_DIR: folder.file("deno") } : {},
  );
  expect({ code, stdout }, stderr).toEqual({ code: 0, stdout: "got echo: hi\n" });
});

test("it runs with stdin closed", () => {
  using folder = temporaryFolder(files);
  const { code, stdout, stderr } = shell("omega run skill <&-", folder.path, { PATH: process.env["PATH"] ?? "" });
  expect({ code, stdout }, stderr).toEqual({ code: 0, stdout: "got echo: hi\n" });
});

test("a closed stdout does not crash it: the work is done and the exit code says so", () => {
  using folder = temporaryFolder(files);
  const script = "{ omega run skill; echo exit $? >&2; } | true";
  const { stderr } = shell(script, folder.path, { PATH: process.env["PATH"] ?? "" });
  expect(stderr).toContain("exit 0");
  expect(stderr).not.toContain("EPIPE");
});

onBun("a stderr that cannot be written (a log on a full disk) does not keep it: the work is done", () => {
  using folder = temporaryFolder(files);
  const { code, stdout } = shell("omega run skill 2>/dev/full", folder.path, { PATH: process.env["PATH"] ?? "" });
  expect({ code, stdout }).toEqual({ code: 0, stdout: "got echo: hi\n" });
});

onBun("a stdout that cannot be written is a failure, told once, and no bug of ours", () => {
  using folder = temporaryFolder(files);
  for (const format of ["text", "json", "stream-json"]) {
    const script = `omega run skill --quiet --format ${format} >/dev/full`;
    const { code, stderr } = shell(script, folder.path, { PATH: process.env["PATH"] ?? "" });
    expect(code).toBe(1);
    expect(stderr.match(/stdout cannot be written \(ENOSPC\)/g)).toHaveLength(1);
  }
});

test("NO_COLOR, a pipe and CI all mean: no escape codes", async () => {
  using folder = temporaryFolder(files);
  for (const env of [{ NO_COLOR: "1" }, { CI: "true" }, {}]) {
    for (const words of [["run", "skill"], ["--help"], ["run", "--help"], ["nonsense"]]) {
      const { stdout, stderr } = await omega(words, { cwd: folder.path, env });
      expect(stdout + stderr).not.toContain("\x1b");
    }
  }
});

test("a bunfig.toml and a .env in the current folder have no effect", async () => {
  using folder = temporaryFolder({
    ...files,
    "bunfig.toml": 'preload = ["./planted.ts"]\n',
    "planted.ts": 'require("node:fs").writeFileSync("planted", ""); console.log("planted");',
    ".env": "OMEGA_MODEL=replay/skill/planted.yaml\nOPENAI_BASE_URL=http://127.0.0.1:9/v1\n",
    "skill/skill.yaml": manifest({ good: { command: node, args: [fixture("good.mjs")] } }),
  });
  const { code, stdout, stderr } = await omega(["run", "skill"], { cwd: folder.path });
  expect(code).toBe(2);
  expect(stderr).toContain("no model is set");
  expect(stdout).toBe("");
  expect(await Bun.file(folder.file("planted")).exists()).toBe(false);
});

test("a child gets its declared variables and a safe few, never a key of ours", async () => {
  using folder = temporaryFolder({
    "skill.yaml": manifest(
      { env: { command: node, args: [fixture("tells-environment.mjs")], env: { GIVEN: "yes", PASSED: null } } },
      { model: "replay/turns.yaml" },
    ),
    "turns.yaml": "turns: [{ calls: [{ id: a, tool: env/environment, arguments: {} }] }, { text: '{{ a }}' }]",
  });
  const env = { OPENAI_API_KEY: "sk-canary-12345678", PASSED: "through", OTHER: "no", LC_ALL: "C" };
  const { stdout } = await omega(["run", folder.path, "--quiet"], { env });
  const seen = JSON.parse(stdout);
  expect(seen).toMatchObject({ GIVEN: "yes", PASSED: "through", LC_ALL: "C", OMEGA_RUN: expect.any(String) });
  expect(Object.keys(seen)).not.toContain("OPENAI_API_KEY");
  expect(Object.keys(seen)).not.toContain("OTHER");
});

test("an answer of a megabyte reaches a slow reader whole", () => {
  using folder = temporaryFolder({
    ...files,
    "skill/turns.yaml": `turns: [{ text: "${"0123456789".repeat(100_000)}" }]`,
  });
  const { code, stdout } = shell("omega run skill --quiet | { sleep 0.3; wc -c; }", folder.path, {
    PATH: process.env["PATH"] ?? "",
  });
  expect({ code, count: Number(stdout) }).toEqual({ code: 0, count: 1_000_001 });
});
