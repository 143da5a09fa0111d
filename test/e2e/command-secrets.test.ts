// Whatever a server says, and wherever, the commands without a model do not show the secret that the server was given.

import { expect, test } from "bun:test";
import { omega, type Result } from "../support/omega.ts";
import { fixture, fixtureServer, manifest } from "../support/skills.ts";
import { temporaryFolder } from "../support/temporary.ts";

const canary = "cAnArY/+7f3?a=b9~d2!xQ";
const base64 = (text: string) => Buffer.from(text).toString("base64");

/** What each encoding has of the canary, whatever is around it. */
const traces = [
  canary,
  canary.slice(0, 8),
  canary.slice(-8),
  base64(canary).slice(0, -4),
  base64(`a${canary}`).slice(2, -4),
  base64(`ab${canary}`).slice(3, -4),
  encodeURIComponent(canary),
  encodeURIComponent(canary).slice(-8),
  Buffer.from(canary).toString("hex"),
].flatMap((trace) => [trace, trace.replaceAll("+", "-").replaceAll("/", "_"), trace.toLowerCase()]);

const server = (mode: string, more: object = {}) => ({
  ...fixtureServer("tells-secret.mjs"),
  args: [fixture("tells-secret.mjs"), `--login=me:\${CANARY_TOKEN}@h`],
  env: { CANARY_TOKEN: "${CANARY_TOKEN}", MODE: mode },
  restart: "never",
  ...more,
});

async function onSkill(server: object, words: readonly string[]): Promise<Result> {
  using folder = temporaryFolder({ "skill.yaml": manifest({ s: server }) });
  const [command = "", ...rest] = words;
  const env = { OMEGA_HOME: folder.file("home"), CANARY_TOKEN: canary };
  return await omega([command, folder.path, ...rest], { env, timeoutMs: 50_000 });
}

/** Nothing of it is shown, though it was there to be shown. */
function expectHidden({ stdout, stderr }: Result): void {
  const all = stdout + stderr;
  for (const trace of traces) expect(all, trace).not.toContain(trace);
  expect(all).toContain("‹CANARY_TOKEN›");
}

const listings = [["tools"], ["resources"], ["prompts"], ["servers"], ["resources", "x://read"], ["prompts", "tell"]];

for (const words of listings) {
  test(`omega ${words.join(" ")} hides a server's secret, as text and as JSON`, async () => {
    const text = await onSkill(server("normal"), words);
    expect(text.code, text.stderr).toBe(0);
    expectHidden(text);
    const json = await onSkill(server("normal"), [...words, "--json", "-v"]);
    expectHidden(json);
    expect(JSON.parse(json.stdout)).toBeObject();
  });
}

test("omega call hides it in a result, in a tool's own failure, in a refusal and in the last words", async () => {
  for (const [tool, code] of [
    ["tell", 0],
    ["fail", 1],
    ["refuse", 1],
    ["leave", 3],
  ] as const) {
    for (const flags of [[], ["--json"], ["-v"]]) {
      const result = await onSkill(server("normal"), ["call", tool, ...flags]);
      expect(result.code, `${tool} ${result.stderr}`).toBe(code);
      expectHidden(result);
      if (flags[0] === "--json" && tool !== "leave") expect(JSON.parse(result.stdout)).toBeObject();
    }
  }
});

test("the server itself gets what a person gave it, secret or not", async () => {
  const result = await onSkill(server("normal"), ["call", "tell", JSON.stringify({ [canary]: canary })]);
  expect(result.stdout).toContain(" true\n");
  expectHidden(result);
});

test("a server that does not start is told without the secret of its arguments and its last words", async () => {
  for (const words of [["tools"], ["call", "tell"], ["resources"], ["prompts"], ["servers"], ["servers", "--json"]]) {
    for (const verbose of [[], ["-v"]]) {
      const result = await onSkill(server("dies"), [...words, ...verbose]);
      expect(result.code).toBe(3);
      expectHidden(result);
      expect(result.stdout + result.stderr).toContain("--login=me:‹CANARY_TOKEN›@h");
    }
  }
  for (const command of ["/nowhere/${CANARY_TOKEN}", "no-such-${CANARY_TOKEN}"]) {
    expectHidden(await onSkill(server("normal", { command }), ["tools"]));
  }
});

test("a warning hides it: an optional server that does not start", async () => {
  const result = await onSkill(server("dies", { required: false }), ["tools"]);
  expect(result.code).toBe(0);
  expect(result.stderr).toStartWith("warning: ");
  expectHidden(result);
});

test("a mistake of the person is told without it", async () => {
  for (const words of [
    ["call", "nobody"],
    ["prompts", "nobody"],
    ["prompts", "refuse"],
    ["resources", "x://refuse"],
  ]) {
    const result = await onSkill(server("normal"), words);
    expect(result.code).not.toBe(0);
    for (const trace of traces) expect(result.stdout + result.stderr).not.toContain(trace);
  }
});

test("the servers of .mcp.json too", async () => {
  for (const mode of ["normal", "dies"]) {
    using folder = temporaryFolder({ ".mcp.json": JSON.stringify({ mcpServers: { s: server(mode) } }) });
    const options = {
      cwd: folder.path,
      env: { HOME: "/nonexistent", OMEGA_HOME: folder.file("home"), CANARY_TOKEN: canary },
    };
    for (const flags of [[], ["--json"]]) {
      const result = await omega(["servers", "--connect", ...flags], options);
      expect(result.code).toBe(mode === "dies" ? 3 : 0);
      expectHidden(result);
    }
  }
});
