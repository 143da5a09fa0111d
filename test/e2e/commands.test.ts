// The commands that look at servers and use them without a model.

import { expect, test } from "bun:test";
import { omega } from "../support/omega.ts";
import { onServer } from "../support/one-server.ts";
import { fixture, fixtureServer, manifest } from "../support/skills.ts";
import { temporaryFolder } from "../support/temporary.ts";

const good = ["--", "node", fixture("good.mjs")];

test("a server needs no skill: its command line may follow --", async () => {
  expect(await omega(["call", "echo", "text=hi", ...good])).toMatchObject({
    code: 0,
    stdout: "echo: hi\n",
    stderr: "",
  });
  const tools = await omega(["tools", ...good]);
  expect(tools.stdout).toMatch(
    /^server: MCP 2025-11-25, 1 tools, about \d+ tokens \(estimate: characters \/ 4\)\n {2}echo/,
  );
  expect((await omega(["servers", ...good])).stdout).toMatch(
    /^server {2}ready {2}MCP 2025-11-25 {2}1 tools .* fixture 1\n$/,
  );
  expect((await omega(["resources", ...good])).stdout).toBe("no resources\n");
  expect((await omega(["prompts", ...good])).stdout).toBe("no prompts\n");
});

test("what is missing on the command line is said, with exit 2", async () => {
  for (const [words, message] of [
    [["tools"], "give a skill, or a server's command line after --"],
    [["servers", "--server", "nobody"], 'no .mcp.json has a server "nobody"'],
    [["tools", "--"], "no command line of a server after --"],
    [["call", ...good], "give the tool to call"],
    [["call", "ecko", ...good], 'there is no tool "ecko"; did you mean "echo"?'],
    [["call", "echo", "text", ...good], 'expected name=value or a JSON object, got "text"'],
    [["prompts", "x", ...good], 'there is no prompt "x"'],
    [["tools", "--jsom", ...good], "no flag --jsom"],
  ] as const) {
    const { code, stderr, stdout } = await omega(words);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain(message);
  }
});

test("`tools --json` tells everything of each tool, and whether the manifest allows it", async () => {
  using folder = temporaryFolder({ "skill.yaml": manifest({ s: fixtureServer("good.mjs", { tools: ["other*"] }) }) });
  const { stdout } = await omega(["tools", folder.path, "--json"]);
  expect(JSON.parse(stdout)).toMatchObject([
    {
      server: "s",
      name: "echo",
      nameForModel: "mcp__s__echo",
      isAllowed: false,
      estimatedTokens: expect.any(Number),
      description: "Gives back its text.",
      inputSchema: { type: "object", required: ["text"] },
    },
  ]);
});

test("`call` reads name=value by the declared type, JSON, and JSON on stdin", async () => {
  const words = ["call", "typed", "text=5", "count=5", "on=true", 'list=["a"]', "kind=1"];
  expect(JSON.parse((await onServer("typed.mjs", words)).stdout)).toEqual({
    text: "5",
    count: 5,
    on: true,
    list: ["a"],
    kind: "1",
  });
  const json = await onServer("typed.mjs", ["call", "s/typed", '{"text":"a=b"}', "count=2"]);
  expect(JSON.parse(json.stdout)).toEqual({ text: "a=b", count: 2 });
  const stdin = await onServer("typed.mjs", ["call", "mcp__s__typed", "-"], { input: '{"text":"in"}' });
  expect(JSON.parse(stdin.stdout)).toEqual({ text: "in" });
});

test("`call` refuses arguments that do not fit before the tool sees them", async () => {
  const { code, stdout, stderr } = await onServer("typed.mjs", ["call", "typed", "count=x"]);
  expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
  expect(stderr).toContain("/count: must be integer");
});

test("`call --json` prints what the server said, with nothing that a terminal would act on", async () => {
  const { stdout, json } = await onServer("odd-results.mjs", ["call", "echo", "text=escapes", "--json"]);
  expect(json).toEqual({ content: [{ type: "text", text: "a\x1b[2Jb\x85c" }] });
  expect(stdout).not.toMatch(/[\x00-\x09\x0b-\x1f\x7f-\x9f]/);
});

test("a tool that two servers have must be called by its full name", async () => {
  using folder = temporaryFolder({
    "skill.yaml": manifest({ a: fixtureServer("good.mjs"), b: fixtureServer("good.mjs") }),
  });
  const { code, stderr } = await omega(["call", folder.path, "echo", "text=hi"]);
  expect(code).toBe(2);
  expect(stderr).toContain('more than one server has a tool "echo"\n  a/echo, b/echo');
  expect(await omega(["call", folder.path, "b/echo", "text=hi"])).toMatchObject({ code: 0, stdout: "echo: hi\n" });
});

test("resources are listed with templates over all pages, and read", async () => {
  const { json, stderr } = await onServer("offers-more.mjs", ["resources", "--json"]);
  expect(json.map((entry: any) => entry.uri ?? entry.uriTemplate)).toEqual(["note:a", "note:b", "note:{id}"]);
  expect(stderr).toContain("1 malformed resources skipped");
  expect(await onServer("offers-more.mjs", ["resources", "note:a"])).toMatchObject({ code: 0, stdout: "text of a\n" });
  expect((await onServer("offers-more.mjs", ["resources", "note:b"])).stdout).toContain(
    "note:b image/png, 4 characters",
  );
  expect((await onServer("offers-more.mjs", ["resources", "note:b", "--json"])).json.contents[0].blob).toBe("aGk=");
  const unknown = await onServer("offers-more.mjs", ["resources", "note:x"]);
  expect({ code: unknown.code, stderr: unknown.stderr }).toEqual({
    code: 1,
    stderr: "error: failed: s: no such note\n",
  });
});

test("prompts are listed and filled in", async () => {
  expect((await onServer("offers-more.mjs", ["prompts"])).stdout).toBe("s  greet  who=…\n");
  expect((await onServer("offers-more.mjs", ["prompts", "greet", "who=Ada"])).stdout).toBe("user: Greet Ada.\n");
  const missing = await onServer("offers-more.mjs", ["prompts", "s/greet"]);
  expect({ code: missing.code, stderr: missing.stderr }).toEqual({
    code: 1,
    stderr: "error: failed: s: who is missing\n",
  });
});

test("`servers` shows those that work and those that do not, and exits 3 if a required one does not", async () => {
  using folder = temporaryFolder({
    "skill.yaml": manifest({ good: fixtureServer("good.mjs"), bad: fixtureServer("complains-and-exits.mjs") }),
  });
  const { code, stdout } = await omega(["servers", folder.path]);
  expect(code).toBe(3);
  expect(stdout).toMatch(/^good {2}ready .*\nbad {3}failed {2}server "bad" exited with code 1: config error/);
  const one = await omega(["servers", folder.path, "--server", "good", "--json"]);
  expect(one.code).toBe(0);
  expect(JSON.parse(one.stdout)).toMatchObject([
    { name: "good", status: "ready", session: { info: { name: "fixture" } } },
  ]);
});

test("a server that offers no tools is listed with none", async () => {
  const { code, json } = await onServer("no-tools-method.mjs", ["servers", "--json"]);
  expect(code).toBe(0);
  expect(json).toMatchObject([{ status: "ready", tools: 0 }]);
});
