// The whole way through, as a user has it: the compiled binary (or Deno), a scripted model on loopback, real servers.

import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { modelServer } from "../support/model-server.ts";
import { omega, startOmega } from "../support/omega.ts";
import { aliveWith, until } from "../support/processes.ts";
import { everything, fixtureServer, manifest } from "../support/skills.ts";
import { temporaryFolder } from "../support/temporary.ts";

/** A word in the environment of every child of one test, by which the test finds them itself. */
const mark = () => `MARK=${crypto.randomUUID()}`;
const marked = (server: object, word: string) => ({ ...server, env: { MARK: word.slice(5) } });

test("ten turns with parallel calls on a real server end as done, with a right envelope and no process left", async () => {
  const word = mark();
  const calls = (turn: number) =>
    [1, 2, 3].map((n) => ({ name: "mcp__all__echo", arguments: { message: `hello ${turn}.${n} ü` } }));
  await using model = await modelServer((index) =>
    index < 9 ? { text: "Working. ", calls: calls(index + 1) } : { text: "All is done." },
  );
  using folder = temporaryFolder({ "skill.yaml": manifest({ all: marked({ ...everything, tools: ["echo"] }, word) }) });

  const { code, stdout, stderr } = await omega(["run", folder.path, "--json", "--model", "openai-chat/scripted"], {
    env: { OPENAI_BASE_URL: model.url, OPENAI_API_KEY: "sk-canary-12345678" },
  });

  expect(stderr).not.toContain("error");
  expect(code).toBe(0);
  const envelope = JSON.parse(stdout);
  expect(envelope).toMatchObject({
    version: 1,
    model: "openai-chat/scripted",
    outcome: "done",
    exitCode: 0,
    code: null,
    reason: null,
    text: "All is done.",
    turns: 10,
    toolCalls: 27,
    usage: { input: 600, cacheRead: 400, output: 100 },
    children: { started: 1, exited: 1, killed: 0, survivors: [] },
  });
  expect(envelope.servers).toMatchObject([{ name: "all", status: "ready", protocol: "2025-11-25", exit: { code: 0 } }]);
  expect(model.requests).toHaveLength(10);
  expect(model.headers[0]?.authorization).toBe("Bearer sk-canary-12345678");
  const results = model.requests[1].messages.filter((message: any) => message.role === "tool");
  expect(results.map((message: any) => message.content)).toEqual([
    "Echo: hello 1.1 ü",
    "Echo: hello 1.2 ü",
    "Echo: hello 1.3 ü",
  ]);
  expect(model.requests[0].tools.map((tool: any) => tool.function.name)).toEqual(["mcp__all__echo", "finish"]);
  expect(stdout + stderr).not.toContain("sk-canary");
  expect(aliveWith(word)).toEqual([]);
});

test("SIGINT in the middle of a call ends as interrupted with 130, and nothing is left", async () => {
  const word = mark();
  await using model = await modelServer([{ calls: [{ name: "mcp__slow__echo", arguments: { text: "x" } }] }]);
  using folder = temporaryFolder();
  const ready = folder.file("ready");
  const slow = fixtureServer("slow-call.mjs", { env: { READY: ready, MARK: word.slice(5) } });
  await Bun.write(folder.file("skill.yaml"), manifest({ slow }));

  const { child, result } = startOmega(["run", folder.path, "--json", "--model", "openai-chat/m"], {
    env: { OPENAI_BASE_URL: model.url },
  });
  expect(await until(() => existsSync(ready), 20_000)).toBe(true);
  child.kill("SIGINT");
  const { code, stdout } = await result;

  expect(code).toBe(130);
  expect(JSON.parse(stdout)).toMatchObject({ outcome: "interrupted", exitCode: 130, children: { survivors: [] } });
  expect(aliveWith(word)).toEqual([]);
});

test("SIGTERM while a model hangs ends as interrupted with 143 and closes the model's socket", async () => {
  await using model = await modelServer([{ text: "thinking", hang: true }]);
  using folder = temporaryFolder({ "skill.yaml": manifest({ good: fixtureServer("good.mjs") }) });
  const { child, result } = startOmega(["run", folder.path, "--model", "openai-chat/m"], {
    env: { OPENAI_BASE_URL: model.url },
  });
  await until(() => model.requests.length === 1, 20_000);
  child.kill("SIGTERM");
  expect((await result).code).toBe(143);
  expect(await until(() => model.closed === 1)).toBe(true);
});

test("a server whose command does not exist is server-failed with one clear line, before a token is spent", async () => {
  await using model = await modelServer([]);
  using folder = temporaryFolder({ "skill.yaml": manifest({ git: { command: "no-such-program-here" } }) });
  const { code, stdout, stderr } = await omega(["run", folder.path, "--quiet", "--model", "openai-chat/m"], {
    env: { OPENAI_BASE_URL: model.url },
  });
  expect(code).toBe(3);
  expect(stdout).toBe("");
  expect(stderr.split("\n")[0]).toBe('error: server-failed: server "git": no such command: no-such-program-here');
  expect(model.requests).toEqual([]);
});

test("a server that complains and exits is quoted", async () => {
  using folder = temporaryFolder({ "skill.yaml": manifest({ odd: fixtureServer("complains-and-exits.mjs") }) });
  const { code, stderr } = await omega(["run", folder.path, "--model", "openai-chat/m"], {
    env: { OPENAI_BASE_URL: "http://127.0.0.1:9/v1" },
  });
  expect(code).toBe(3);
  expect(stderr).toContain('server "odd" exited with code 1: config error: API_KEY is missing');
});

test("a server without tools: is denied before a token is spent, with the line to paste", async () => {
  await using model = await modelServer([]);
  using folder = temporaryFolder({ "skill.yaml": manifest({ good: fixtureServer("good.mjs", { tools: [] }) }) });
  const { code, stderr } = await omega(["run", folder.path, "--model", "openai-chat/m"], {
    env: { OPENAI_BASE_URL: model.url },
  });
  expect(code).toBe(4);
  expect(stderr).toContain('tools: ["echo"]');
  expect(model.requests).toEqual([]);
});

test("a tool that the manifest names and the server lacks is server-failed with the nearest name", async () => {
  using folder = temporaryFolder({ "skill.yaml": manifest({ good: fixtureServer("good.mjs", { tools: ["ecko"] }) }) });
  const { code, stderr } = await omega(["run", folder.path, "--model", "openai-chat/m"], {
    env: { OPENAI_BASE_URL: "http://127.0.0.1:9/v1" },
  });
  expect(code).toBe(3);
  expect(stderr).toContain('server "good" has no tool "ecko"; did you mean "echo"?');
});

test("the limit of turns ends the run as limit", async () => {
  await using model = await modelServer(() => ({ calls: [{ name: "mcp__good__echo", arguments: { text: "again" } }] }));
  using folder = temporaryFolder({
    "skill.yaml": manifest({ good: fixtureServer("good.mjs") }, { limits: { turns: 3 } }),
  });
  const { code, stdout } = await omega(["run", folder.path, "--json", "--model", "openai-chat/m"], {
    env: { OPENAI_BASE_URL: model.url },
  });
  expect(code).toBe(5);
  expect(JSON.parse(stdout)).toMatchObject({ outcome: "limit", code: "turns", turns: 3 });
});

test("the limit of time ends a hanging model as limit", async () => {
  await using model = await modelServer([{ hang: true }]);
  using folder = temporaryFolder({
    "skill.yaml": manifest({ good: fixtureServer("good.mjs") }, { limits: { time: "700ms" } }),
  });
  const { code, stdout } = await omega(["run", folder.path, "--json", "--model", "openai-chat/m"], {
    env: { OPENAI_BASE_URL: model.url },
  });
  expect(code).toBe(5);
  expect(JSON.parse(stdout)).toMatchObject({ outcome: "limit", code: "time" });
});

const modelEnds: [string, object, number, string, string][] = [
  [
    "a wrong key",
    { status: 401, body: '{"error":{"message":"Incorrect API key"}}' },
    6,
    "model-failed",
    "answered 401: Incorrect API key",
  ],
  ["an empty answer", {}, 1, "failed", "without an answer"],
  ["an answer cut by length", { text: "Once upon", finish: "length" }, 1, "failed", "length limit"],
  ["a refusal", { finish: "content_filter" }, 1, "failed", "declined"],
];
for (const [what, turn, exit, outcome, reason] of modelEnds) {
  test(`${what} from the model ends as ${outcome}, exit ${exit}`, async () => {
    await using model = await modelServer(() => turn);
    using folder = temporaryFolder({ "skill.yaml": manifest({ good: fixtureServer("good.mjs") }) });
    const { code, stdout } = await omega(["run", folder.path, "--json", "--model", "openai-chat/m"], {
      env: { OPENAI_BASE_URL: model.url },
    });
    expect(code).toBe(exit);
    expect(JSON.parse(stdout)).toMatchObject({
      outcome,
      reason: expect.stringContaining(reason),
      children: { survivors: [] },
    });
  });
}

test("what the model can mend comes back to it as an error result", async () => {
  await using model = await modelServer([
    {
      calls: [
        { name: "mcp__good__ecko", arguments: {} },
        { name: "mcp__good__echo", arguments: "{broken" },
      ],
    },
    { text: "Sorry." },
  ]);
  using folder = temporaryFolder({ "skill.yaml": manifest({ good: fixtureServer("good.mjs") }) });
  const { code } = await omega(["run", folder.path, "--model", "openai-chat/m"], {
    env: { OPENAI_BASE_URL: model.url },
  });
  expect(code).toBe(0);
  const [unknown, broken] = model.requests[1].messages.filter((message: any) => message.role === "tool");
  expect(unknown.content).toContain('no tool mcp__good__ecko; did you mean "mcp__good__echo"?');
  expect(broken.content).toContain("not a JSON object");
});

test("stream-json prints every event as a line and the envelope last", async () => {
  using folder = temporaryFolder({
    "skill.yaml": manifest({ good: fixtureServer("good.mjs") }),
    "turns.yaml": "turns: [{ calls: [{ id: a, tool: good/echo, arguments: { text: hi } }] }, { text: 'got {{ a }}' }]",
  });
  const { code, stdout } = await omega([
    "run",
    folder.path,
    "--format",
    "stream-json",
    "--model",
    `replay/${folder.file("turns.yaml")}`,
  ]);
  expect(code).toBe(0);
  const events = stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(events.map((event) => event.type)).toEqual(
    "warning start starting server turn call usage result turn text usage answer end".split(" "),
  );
  expect(events.at(-1)).toMatchObject({ outcome: "done", text: "got echo: hi" });
});

test("a run that leaves the script of the replay model is failed as diverged", async () => {
  using folder = temporaryFolder({
    "skill.yaml": manifest({ good: fixtureServer("good.mjs") }),
    "turns.yaml": "turns: [{ calls: [{ tool: good/echo, arguments: { text: hi } }] }]",
  });
  const { code, stdout } = await omega([
    "run",
    folder.path,
    "--json",
    "--model",
    `replay/${folder.file("turns.yaml")}`,
  ]);
  expect(code).toBe(1);
  expect(JSON.parse(stdout)).toMatchObject({ outcome: "failed", code: "diverged" });
});
