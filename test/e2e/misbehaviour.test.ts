// Each class of misbehaviour of a stdio server, by a small server of our own, through the whole of omega.

import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { modelServer } from "../support/model-server.ts";
import { omega, startOmega } from "../support/omega.ts";
import { onServer } from "../support/one-server.ts";
import { peakMemory, until } from "../support/processes.ts";
import { fixtureServer, manifest } from "../support/skills.ts";
import { temporaryFolder } from "../support/temporary.ts";

const underDeno = process.env["OMEGA_UNDER_TEST"] === "deno";
const call = (text: string, id?: string) => ({ ...(id && { id }), tool: "s/echo", arguments: { text } });
const oneCall = [{ calls: [call("hi", "a")] }, { text: "{{ a }}" }];

test("noise of every kind between messages is skipped and counted", async () => {
  const { code, stdout, stderr } = await onServer("noisy.mjs", ["call", "echo", "text=hi"]);
  expect({ code, stdout }).toEqual({ code: 0, stdout: "echo: hi\n" });
  expect(stderr).toMatch(/^warning: server "s": \d+ lines on its stdout are no MCP messages; they were skipped\n$/);
});

test("a hundred thousand notifications and an endless stderr do not keep it from working", async () => {
  const { code, stdout, alive } = await onServer("floods.mjs", ["call", "echo", "text=hi"]);
  expect({ code, stdout, alive }).toEqual({ code: 0, stdout: "echo: hi\n", alive: [] });
});

test("an endless flood starves no deadline", async () => {
  const { code, stderr, alive } = await onServer("floods-for-ever.mjs", ["call", "echo", "text=hi"], {
    server: { timeout: "1s", stopGrace: "100ms" },
  });
  expect(code).toBe(1);
  expect(stderr).toContain('server "s" did not answer tools/call within');
  expect(alive).toEqual([]);
});

test.if(existsSync("/proc/self/status")).each([1, 1_000])(
  "a server that asks without end and reads no answer cannot fill the memory: ids of %d characters",
  async (length) => {
    using folder = temporaryFolder();
    const server = fixtureServer("asks-without-reading.mjs", {
      env: { DONE: folder.file("done"), ID_LENGTH: String(length) },
      stopGrace: "100ms",
    });
    await Bun.write(folder.file("skill.yaml"), manifest({ s: server }));
    const { child, result } = startOmega(["call", folder.path, "echo", "text=hi"], { timeoutMs: 50_000 });
    const peak = peakMemory(child.pid ?? 0);
    expect(await until(() => existsSync(folder.file("done")) || child.exitCode !== null, 40_000)).toBe(true);
    child.kill("SIGTERM");
    // Interrupted, or ended before that because the call could not be written.
    expect([143, 3]).toContain((await result).code ?? -1);
    expect(peak()).toBeLessThan(underDeno ? 500 : 250);
  },
);

test("a message over the limit fails the call with the limit in the error", async () => {
  const { code, stderr } = await onServer("long-line.mjs", ["call", "echo", "text=hi"], {
    server: { maxMessage: "1MB" },
  });
  expect(code).toBe(1);
  expect(stderr).toContain("sent a message of more than 1000000 bytes");
});

test("answers under foreign ids and second answers are dropped", async () => {
  const { stdout } = await onServer("odd-ids.mjs", ["call", "echo", "text=hi"]);
  expect(stdout).toBe("right\n");
});

test("an answer that comes after the deadline is dropped, the server was told, and the next call gets its own", async () => {
  const turns = [{ calls: [call("one", "a")] }, { calls: [call("two", "b")] }, { text: "{{ a }} | {{ b }}" }];
  const { code, stdout, json } = await onServer("slow-but-alive.mjs", ["run", "--json"], {
    server: { timeout: "1s" },
    turns,
  });
  expect(code).toBe(0);
  expect(json.text).toMatch(/did not answer tools\/call within \d+ ms \| cancelled: number$/);
  expect(stdout).not.toContain("LATE");
});

test("a server that stops answering at all is ended as hung, later calls fail at once, and the run is server-failed", async () => {
  await using model = await modelServer((index) =>
    index < 3
      ? { calls: [{ name: "mcp__s__echo", arguments: { text: "x" } }], delayMs: index === 1 ? 8_000 : 0 }
      : { text: "Sorry." },
  );
  using folder = temporaryFolder({
    "skill.yaml": manifest({ s: fixtureServer("hangs-in-call.mjs", { timeout: "700ms" }) }),
  });
  const { code, stdout } = await omega(["run", folder.path, "--json", "--model", "openai-chat/m"], {
    env: { OPENAI_BASE_URL: model.url },
    timeoutMs: 50_000,
  });
  const envelope = JSON.parse(stdout);
  expect(code).toBe(3);
  expect(envelope).toMatchObject({
    outcome: "server-failed",
    code: "hung",
    text: "Sorry.",
    servers: [{ status: "hung" }],
    children: { survivors: [] },
  });
  const results = model.requests[3].messages.filter((message: any) => message.role === "tool");
  expect(results[0].content).toContain("did not answer tools/call");
  expect(results[2].content).toContain("hangs");
});

test("it is server-failed too if the model is done before it is known, and so when it is played", async () => {
  const calls = [{ tool: "s/echo", arguments: { text: "x" } }];
  using folder = temporaryFolder({
    "skill.yaml": manifest(
      { s: fixtureServer("hangs-in-call.mjs", { timeout: "300ms" }) },
      { model: "replay/turns.yaml" },
    ),
    "turns.yaml": JSON.stringify({ turns: [{ calls }, { text: "All is well." }] }),
  });
  const tape = ["--cassette", folder.file("tests/hung.jsonl")];
  const { code, stdout } = await omega(["run", folder.path, "--json", ...tape]);
  expect(code).toBe(3);
  expect(JSON.parse(stdout)).toMatchObject({ outcome: "server-failed", code: "hung", servers: [{ status: "hung" }] });
  expect((await omega(["test", folder.path])).stdout).toContain("1 passed, 0 failed");
});

test("a server that dies in a call fails that call at once with its exit code and last words, and the run is server-failed", async () => {
  const turns = [{ calls: [call("die", "a")] }, { calls: [call("again", "b")] }, { text: "{{ a }} | {{ b }}" }];
  const { code, json } = await onServer("dies-in-call.mjs", ["run", "--json"], { turns });
  expect(code).toBe(3);
  const death = 'server "s" exited with code 3: out of luck';
  expect(json).toMatchObject({ outcome: "server-failed", code: "died", reason: death, text: `${death} | ${death}` });
  expect(json.servers).toMatchObject([{ status: "died", exit: { code: 3 } }]);
});

test("the same of a server that is not required leaves the run done", async () => {
  const turns = [{ calls: [call("die", "a")] }, { text: "{{ a }}" }];
  const { code, json } = await onServer("dies-in-call.mjs", ["run", "--json"], { turns, server: { required: false } });
  expect({ code, outcome: json.outcome }).toEqual({ code: 0, outcome: "done" });
});

test("restart: on-failure starts it again; the call in flight fails, the next one works", async () => {
  using files = temporaryFolder();
  const server = { restart: "on-failure", env: { STARTS: files.file("starts"), DIED: files.file("died") } };
  const turns = [{ calls: [call("one", "a")] }, { calls: [call("two", "b")] }, { text: "{{ a }} | {{ b }}" }];
  const { code, json } = await onServer("dies-once.mjs", ["run", "--json"], { server, turns });
  expect(code).toBe(0);
  expect(json.text).toBe('server "s" exited with code 3 | echo: two');
  expect(json.warnings.join()).toContain("starting it again (1 of 3)");
  expect(json.servers).toMatchObject([{ status: "ready" }]);
  expect(await Bun.file(files.file("starts")).text()).toBe("start\nstart\n");
});

test("restart: on-failure gives up after three times", async () => {
  const turns = [...Array(6).keys()].map((n) => ({ calls: [call(`die ${n}`, `c${n}`)] }));
  const { code, json } = await onServer("dies-in-call.mjs", ["run", "--json"], {
    server: { restart: "on-failure" },
    turns: [...turns, { text: "{{ c5 }}" }],
  });
  expect(code).toBe(3);
  expect(json.children.started).toBe(4);
  expect(json.text).toContain("exited with code 3");
});

test("a server that never answers is one line that names the server and the time, and is gone", async () => {
  const { code, stderr, alive } = await onServer("never-answers.mjs", ["tools"], {
    server: { startupTimeout: "700ms" },
  });
  expect(code).toBe(3);
  expect(stderr).toMatch(/^error: server-failed: server "s" did not answer initialize within [67]\d\d ms\n/);
  expect(alive).toEqual([]);
});

test("a server that closes its output and lives on is an error at once, and is gone", async () => {
  const { code, stderr, alive } = await onServer("closes-output.mjs", ["tools"]);
  expect(code).toBe(3);
  expect(stderr).toContain('server "s" closed its output');
  expect(alive).toEqual([]);
});

test("a server that stops reading cannot hold a large call for ever", async () => {
  const { code, stderr, alive } = await onServer("stops-reading.mjs", ["call", "echo", "-"], {
    server: { timeout: "700ms", stopGrace: "100ms" },
    input: JSON.stringify({ text: "x".repeat(8_000_000) }),
  });
  expect(code).toBe(1);
  expect(stderr).toContain("did not answer tools/call");
  expect(alive).toEqual([]);
});

for (const [pages, words] of [
  ["new", "more than 1000 pages"],
  ["same", "comes round to the same page again"],
] as const) {
  test(`a list of tools without end (${pages} pages) is an error`, async () => {
    const { code, stderr } = await onServer("endless-pages.mjs", ["tools"], { server: { env: { PAGES: pages } } });
    expect(code).toBe(3);
    expect(stderr).toContain(words);
  });
}

test("of odd tools the good ones are kept, each under a safe and unique name, and the rest is told", async () => {
  const { code, json, stderr } = await onServer("odd-tools.mjs", ["tools", "--json"]);
  expect(code).toBe(0);
  expect(json).toHaveLength(11);
  const names: string[] = json.map((tool: any) => tool.nameForModel);
  for (const name of names) expect(name).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
  expect(new Set(names).size).toBe(11);
  expect(json.every((tool: any) => tool.inputSchema.type === "object")).toBe(true);
  expect(json[0]).toMatchObject({ name: "echo", description: "Gives back its text." });
  expect(stderr).toContain("5 malformed tools skipped");
  expect(stderr).toContain("1 tools with a name that was already taken skipped");
});

test("a schema that cannot be checked is a warning, and the tool can be called", async () => {
  const { code, stdout, stderr } = await onServer("odd-tools.mjs", ["call", "far-schema", "a=1"]);
  expect({ code, stdout }).toEqual({ code: 0, stdout: "echo: undefined\n" });
  expect(stderr).toContain('the input schema of s/far-schema cannot be checked: it refers to "http://127.0.0.1:9/x"');
});

for (const [ask, answer] of [
  ["ping", { result: {} }],
  ["x/unknown", { error: { code: -32601 } }],
  ["sampling/createMessage", { error: { code: -32601 } }],
] as const) {
  test(`a server's own request ${ask} is answered while it is asked`, async () => {
    const { json } = await onServer("asks-the-client.mjs", ["tools", "--json"], { server: { env: { ASK: ask } } });
    expect(JSON.parse(json[0].description)).toMatchObject(answer);
  });
}

test("tools that a server adds during a run come with the next turn; what the model was told before stays", async () => {
  await using model = await modelServer((index) =>
    index < 2
      ? { calls: [{ name: "mcp__s__echo", arguments: { text: "x" } }], delayMs: index === 1 ? 1_000 : 0 }
      : { text: "Done." },
  );
  using folder = temporaryFolder({ "skill.yaml": manifest({ s: fixtureServer("changes-its-tools.mjs") }) });
  const { stdout } = await omega(["run", folder.path, "--json", "--model", "openai-chat/m"], {
    env: { OPENAI_BASE_URL: model.url },
  });
  const offered = model.requests.map(({ tools }) => tools.map((tool: any) => tool.function.name));
  expect(offered[0]).toEqual(["mcp__s__echo", "finish"]);
  expect(offered[2]).toEqual(["mcp__s__echo", "mcp__s__extra", "finish"]);
  expect(JSON.stringify(model.requests)).not.toContain("RUGPULL");
  expect(JSON.parse(stdout).warnings.join()).toContain('the definition of tool "echo" changed');
});

test("at most `concurrency` calls are in flight, 16 unless the manifest says otherwise", async () => {
  const calls = [...Array(20).keys()].map((n) => call("x", `c${n}`));
  for (const [concurrency, most] of [
    [undefined, 16],
    [2, 2],
  ]) {
    const { json } = await onServer("counts-calls.mjs", ["run", "--json"], {
      server: { concurrency },
      turns: [{ calls }, { text: "{{ c19 }}" }],
    });
    expect(json.text).toBe(`at most ${most}`);
  }
});

test("a big answer, an 8 MB argument and a tool result come through whole", async () => {
  const text = "é".repeat(1_000_000);
  const { json } = await onServer("good.mjs", ["call", "echo", "-", "--json"], { input: JSON.stringify({ text }) });
  expect(json.content[0].text).toBe(`echo: ${text}`);
});

const startErrors: [string, object, RegExp][] = [
  [
    "a command that does not exist",
    { command: "no-such-program" },
    /no such command: no-such-program -x\n.*not on PATH/,
  ],
  ["a path that does not exist", { command: "./nope" }, /no such command: \.\/nope -x\n.*check the path/],
  ["a folder", { command: "/tmp" }, /a folder, not a program: \/tmp -x\n/],
  [
    "a file that is not executable",
    { command: "/etc/passwd" },
    /not an executable file: \/etc\/passwd -x\n.*chmod \+x/,
  ],
  [
    "a working folder that does not exist",
    { command: "node", cwd: "/no/such" },
    /folder \/no\/such does not exist: node -x/,
  ],
];
for (const [what, server, message] of startErrors) {
  test(`${what} is one clear line with the argv, and a hint`, async () => {
    const { code, stderr } = await onServer({ command: "", args: ["-x"] }, ["tools"], { server });
    expect(code).toBe(3);
    expect(stderr).toMatch(message);
    expect(stderr.trim().split("\n")).toHaveLength(2);
  });
}

const resultTable: [string, number, string][] = [
  ["failed", 1, "it failed\n"],
  ["plain", 0, '{"answer":42}\n'],
  ["scalar", 0, "42\n"],
  ["empty", 0, "\n"],
  ["escapes", 0, "abc\n"],
];
for (const [name, exit, printed] of resultTable) {
  test(`the result "${name}" is printed as ${JSON.stringify(printed)} with exit ${exit}`, async () => {
    const { code, stdout } = await onServer("odd-results.mjs", ["call", "echo", `text=${name}`]);
    expect({ code, stdout }).toEqual({ code: exit, stdout: printed });
  });
}

for (const [name, words] of [
  ["error", "backend down"],
  ["odd-error", "error -32603"],
  ["both", "both"],
  ["nothing", "answered nothing"],
  ["null", "answered nothing"],
] as const) {
  test(`the answer "${name}" is a failed call`, async () => {
    const { json } = await onServer("odd-results.mjs", ["run", "--json"], {
      turns: [{ calls: [call(name, "a")] }, { text: "{{ a }}" }],
    });
    expect(json).toMatchObject({ outcome: "done", text: expect.stringContaining(words) });
  });
}

test("of content blocks each is passed on or named, and nothing crashes", async () => {
  const { stdout } = await onServer("odd-results.mjs", ["call", "echo", "text=blocks"]);
  expect(stdout).toStartWith("one\ntwo\n");
  for (const words of ["[audio audio/wav", "inside", "file:///y", "[resource link at file:///z]", "hologram", "[image"])
    expect(stdout).toContain(words);
});

test("structured output that breaks its schema reaches the model with a note", async () => {
  const good = await onServer("structured.mjs", ["call", "good"]);
  expect({ code: good.code, stdout: good.stdout }).toEqual({ code: 0, stdout: "said\n" });
  const bad = await onServer("structured.mjs", ["call", "bad"]);
  expect(bad.stdout).toContain("said\n[the output of s/bad does not fit its schema: /n: must be number]");
  const none = await onServer("structured.mjs", ["call", "none"]);
  expect(none.stdout).toContain("there is no structured content");
});

test("arguments that do not fit the schema never reach the server, and the model is told path and expectation", async () => {
  const { json } = await onServer("typed.mjs", ["run", "--json"], {
    turns: [
      { calls: [{ id: "a", tool: "s/typed", arguments: { count: "three", extra: 1, kind: "z" } }] },
      { text: "{{ a }}" },
    ],
  });
  expect(json.text).toBe(
    [
      "the arguments do not fit the tool's schema:",
      "/: must have required properties text",
      "/: must not have additional properties: extra",
      "/count: must be integer",
      "/kind: must be equal to one of the allowed values: a, 1",
    ].join("\n"),
  );
});

test("a working server leaves by itself when its input ends, and is counted so", async () => {
  const { json, alive } = await onServer("good.mjs", ["run", "--json"], { turns: oneCall });
  expect(json).toMatchObject({ text: "echo: hi", children: { started: 1, exited: 1, killed: 0, survivors: [] } });
  expect(alive).toEqual([]);
});
