// Every outcome, and every code of it, that a run can end with: reached by the whole of omega on a scripted model.

import { expect, test } from "bun:test";
import { echo, everyWire, finish, nothingBegan, type Scripted, scripted } from "../support/scripted.ts";
import { fixtureServer } from "../support/skills.ts";

const schema = { type: "object", properties: { n: { type: "integer" } }, required: ["n"] };

for (const wire of everyWire) {
  test(`${wire}: work that is done by calls and told in words is done, 0`, async () => {
    await using life = await scripted({ wire, turns: [{ calls: [echo("a"), echo("b")] }, { text: "All is done." }] });
    const { code, json } = await life.run();
    expect(code).toBe(0);
    expect(json).toMatchObject({
      ...{ version: 1, skill: "work", model: `${wire}/m`, outcome: "done", code: null, reason: null, hint: null },
      ...{ retryable: false, retryAfterMs: null, text: "All is done.", output: null, turns: 2, toolCalls: 2 },
      usage: { input: 120, output: 20, cacheRead: 80 },
      attempts: [{ outcome: "done", turns: 2, toolCalls: 2 }],
      ...{ denials: [], undecided: [], checks: [] },
      servers: [{ name: "s", status: "ready", tools: 1, exit: { code: 0 } }],
      children: { started: 1, exited: 1, killed: 0 },
    });
    expect(life.model.asked(-1).results.map(({ text }) => text)).toEqual(["echo: a", "echo: b"]);
  });

  test(`${wire}: a model that finds nothing to do is nothing-to-do, 0`, async () => {
    await using life = await scripted({ wire, turns: [finish("nothing-to-do", "No commits.")] });
    const { code, json } = await life.run();
    expect(code).toBe(0);
    expect(json).toMatchObject({
      outcome: "nothing-to-do",
      code: null,
      reason: null,
      text: "No commits.",
      toolCalls: 0,
    });
  });

  test(`${wire}: a model that is blocked is failed/blocked, 1, with its words`, async () => {
    await using life = await scripted({ wire, turns: [finish("blocked", "The repository is gone.")] });
    const { code, json } = await life.run();
    expect(code).toBe(1);
    expect(json).toMatchObject({ outcome: "failed", code: "blocked", text: "The repository is gone." });
    expect(json.reason).toContain("The repository is gone.");
  });

  test(`${wire}: an output that does not fit its schema three times is failed/schema, 1`, async () => {
    const wrong = { text: "It is three.", ...finish("done", "ok", { output: { n: "three" } }) };
    await using life = await scripted({ wire, skill: { output: { schema } }, turns: () => wrong });
    const { code, json } = await life.run();
    expect(code).toBe(1);
    expect(json).toMatchObject({ outcome: "failed", code: "schema", turns: 3, text: "It is three.", output: null });
    expect(json.reason).toContain("/n: must be integer");
    expect(life.model.asked(-1).results.at(-1)?.text).toContain("/n: must be integer");
  });

  test(`${wire}: the limit of turns is limit/turns, 5, and the last turn reports with no tool but finish`, async () => {
    await using life = await scripted({
      wire,
      turns: (index) => (index < 2 ? { calls: [echo(`${index}`)] } : { text: "Two of three are done." }),
    });
    const { code, json } = await life.run(["--limit", "turns=3"]);
    expect(code).toBe(5);
    expect(json).toMatchObject({ outcome: "limit", code: "turns", turns: 3, text: "Two of three are done." });
    expect(json.hint).toContain("limits.turns");
    expect(life.model.asked(0).tools).toEqual(["mcp__s__echo", "finish"]);
    expect(life.model.asked(-1).tools).toEqual(["finish"]);
    expect(life.model.asked(-1).messages.at(-1)?.text).toContain("This is your last turn");
  });
}

test("an answer that cannot be checked is not done, and a schema that cannot be is invalid before anything starts", async () => {
  const answer = (text: string) => () => finish("done", "ok", { output: text });
  await using long = await scripted({
    turns: answer("z".repeat(400)),
    skill: { output: { schema: { pattern: "^a+$" } } },
  });
  expect((await long.run()).json).toMatchObject({ outcome: "failed", code: "schema", output: null });
  await using wrong = await scripted({ turns: answer("b"), skill: { output: { schema: { pattern: "^(a+)+$" } } } });
  const { code, json } = await wrong.run();
  expect(code).toBe(2);
  expect(json).toMatchObject({ outcome: "invalid", code: "manifest", ...nothingBegan });
  expect(json.reason).toContain("output.schema cannot be checked: the pattern ^(a+)+$ could take too long");
});

test("an empty answer is failed/empty", async () => {
  await using life = await scripted({ wire: "google", turns: [{ calls: [echo("a")] }, {}] });
  const { code, json } = await life.run();
  expect(code).toBe(1);
  expect(json).toMatchObject({ outcome: "failed", code: "empty", turns: 2, toolCalls: 1 });
});

test("done without a word is not taken: the model is asked for its answer, and a last turn without one is the limit", async () => {
  await using life = await scripted({
    wire: "anthropic",
    turns: [finish("done", " "), finish("done", "Two commits.")],
  });
  const { json } = await life.run();
  expect(json).toMatchObject({ outcome: "done", text: "Two commits.", turns: 2 });
  expect(life.model.asked(1).results).toMatchObject([{ text: expect.stringContaining("not taken"), isError: true }]);
  await using mute = await scripted({ turns: () => finish("done", "") });
  expect((await mute.run(["--limit", "turns=2"])).json).toMatchObject({ outcome: "limit", code: "turns", turns: 2 });
});

test("an answer that is cut by its length, and again when it goes on, is failed/truncated, with what there is of it", async () => {
  const cut = (text: string) => ({ text, finish: "length" });
  await using life = await scripted({ wire: "anthropic", turns: [cut("Once upon "), cut("a time")] });
  const { code, json } = await life.run();
  expect(code).toBe(1);
  expect(json).toMatchObject({ outcome: "failed", code: "truncated", text: "Once upon a time" });
  expect(json.hint).toContain("model.maxTokens");
});

for (const [wire, finish] of [
  ["openai", "refusal"],
  ["openai-chat", "refusal"],
  ["anthropic", "content_filter"],
  ["google", "content_filter"],
] as const) {
  test(`${wire}: a model that declines (${finish}) is failed/refused`, async () => {
    await using life = await scripted({ wire, turns: [{ text: "I cannot help with that.", finish }] });
    const { code, json } = await life.run();
    expect(code).toBe(1);
    expect(json).toMatchObject({ outcome: "failed", code: "refused" });
    expect(json.reason).toContain("declined to answer: I cannot help with that.");
  });
}

test("an answer that cannot be written to its file is failed/output-file, and is in the envelope", async () => {
  await using life = await scripted({
    wire: "openai",
    turns: () => ({ text: "The notes." }),
    skill: { output: { file: "plain/notes.md" } },
    files: { "work/plain": "a regular file" },
  });
  const { code, json } = await life.run();
  expect(code).toBe(1);
  expect(json).toMatchObject({ outcome: "failed", code: "output-file", text: "The notes." });
  expect(json.reason).toContain(life.file("work/plain/notes.md"));
  expect(life.names("work")).toEqual(["plain"]);
  expect((await life.tell()).stdout).toBe("");
});

test("a run that leaves the script of its replay model is failed/diverged", async () => {
  await using life = await scripted({
    turns: [],
    files: { "skill/t.yaml": "turns: [{ calls: [{ tool: s/echo, arguments: { text: x } }] }]" },
  });
  const { code, json } = await life.run(["--model", `replay/${life.file("skill/t.yaml")}`]);
  expect(code).toBe(1);
  expect(json).toMatchObject({ outcome: "failed", code: "diverged", toolCalls: 1 });
});

const invalid: [string, string, Omit<Scripted, "turns">, string[], Record<string, string>, RegExp][] = [
  ["two claims on stdin", "usage", {}, ["-", "-"], {}, /stdin can be read only once/],
  ["a field that there is not", "manifest", { skill: { promt: "x" } }, [], {}, /promt.*did you mean "prompt"/],
  ["an input that is missing", "input", { skill: { inputs: { repo: {} } } }, [], {}, /input "repo" is missing/],
  ["a provider that there is not", "model", {}, ["--model", "antropic/m"], {}, /did you mean "anthropic"/],
  ["a key that is not set", "key", {}, ["--model", "anthropic/m"], {}, /ANTHROPIC_API_KEY or \w+ is not set/],
  [
    "a limit of cost without a price",
    "price",
    {},
    ["--limit", "cost=1"],
    {},
    /nobody knows the price of openai-chat\/m/,
  ],
  [
    "a lock where nothing can be written",
    "home",
    { skill: { overlap: "skip" } },
    [],
    { OMEGA_HOME: "skill/skill.yaml" },
    /overlap/,
  ],
  [
    "a limit of the day where nothing can be written",
    "home",
    { skill: { limits: { costPerDay: 1 } }, model: { price: { input: 1, output: 1 } } },
    [],
    { OMEGA_HOME: "skill/skill.yaml" },
    /costPerDay/,
  ],
];
for (const [what, word, skill, words, env, reason] of invalid) {
  test(`${what} is invalid/${word}, 2: nothing was started, nothing was asked`, async () => {
    await using life = await scripted({ ...skill, turns: [] });
    const home = env["OMEGA_HOME"] && { OMEGA_HOME: life.file(env["OMEGA_HOME"]) };
    const { code, json, stderr } = await life.run(words, { env: { ...home } });
    expect(code).toBe(2);
    expect(stderr).toMatch(reason);
    expect(json).toMatchObject({ outcome: "invalid", code: word, ...nothingBegan });
    expect(life.model.requests).toEqual([]);
  });
}

const serverFailures: [string, string, object, object, RegExp][] = [
  ["does not start", "start", { command: "no-such-program" }, {}, /^server "s": no such command/],
  ["complains and leaves", "start", fixtureServer("complains-and-exits.mjs"), {}, /exited with code 1: config error/],
  [
    "never answers",
    "start",
    fixtureServer("never-answers.mjs"),
    { startupTimeout: "300ms" },
    /did not answer initialize/,
  ],
  ["lacks a tool that the skill names", "tool", fixtureServer("good.mjs"), { tools: ["ecko"] }, /has no tool "ecko"/],
];
for (const [what, word, server, more, reason] of serverFailures) {
  test(`a server that ${what} is server-failed/${word}, 3, before a token is spent; another one is ended`, async () => {
    const servers = { s: { ...server, ...more }, other: fixtureServer("good.mjs") };
    await using life = await scripted({ turns: [], servers });
    const { code, json } = await life.run();
    expect(code).toBe(3);
    expect(json).toMatchObject({
      outcome: "server-failed",
      code: word,
      reason: expect.stringMatching(reason),
      turns: 0,
    });
    expect(life.model.requests).toEqual([]);
  });
}

const mortal = { s: fixtureServer("dies-in-call.mjs") };
const dying = { calls: [echo("die")] };

test("a server that dies in a call is server-failed/died, whatever the model makes of it", async () => {
  await using life = await scripted({ wire: "anthropic", servers: mortal, turns: [dying, { text: "All is done." }] });
  const { code, json } = await life.run();
  expect(code).toBe(3);
  expect(json).toMatchObject({ outcome: "server-failed", code: "died", text: "All is done." });
  expect(json.servers).toMatchObject([{ status: "died", exit: { code: 3 } }]);
  expect(life.model.asked(-1).results).toMatchObject([{ text: expect.stringContaining("out of luck"), isError: true }]);
});

test("a server that hangs in a call is server-failed/hung", async () => {
  await using life = await scripted({
    wire: "google",
    servers: { s: fixtureServer("hangs-in-call.mjs", { timeout: "500ms" }) },
    turns: (index, { results }) =>
      /hangs/.test(results.at(-1)?.text ?? "") ? { text: "It hangs." } : { calls: [echo(`${index}`)] },
  });
  const { code, json } = await life.run();
  expect(code).toBe(3);
  expect(json).toMatchObject({ outcome: "server-failed", code: "hung", servers: [{ status: "hung" }] });
});

test("checks that held overrule a lost call; one that did not hold leaves it server-failed", async () => {
  const turns = [dying, finish("done", "Found another way.")];
  const held = { expect: [{ file: "notes.md" }] };
  await using good = await scripted({
    wire: "openai",
    servers: mortal,
    turns,
    skill: held,
    files: { "work/notes.md": "x" },
  });
  const { code, json } = await good.run();
  expect(code).toBe(0);
  expect(json).toMatchObject({ outcome: "done", checks: [{ ok: true }], servers: [{ status: "died" }] });
  await using bad = await scripted({ wire: "openai", servers: mortal, turns, skill: held });
  const failed = await bad.run();
  expect(failed.code).toBe(3);
  expect(failed.json).toMatchObject({ outcome: "server-failed", code: "died", checks: [{ ok: false }] });
});

test("a check that allows so many calls proves nothing: a lost call leaves it server-failed", async () => {
  for (const status of ["done", "nothing-to-do"]) {
    const turns = [dying, finish(status, "None.")];
    await using life = await scripted({ servers: mortal, turns, skill: { expect: [{ tool: "s/echo", max: 5 }] } });
    expect((await life.run()).json).toMatchObject({ outcome: "server-failed", code: "died", checks: [{ ok: true }] });
  }
});

test("a limit outweighs a lost server, which outweighs a model that fails", async () => {
  await using limited = await scripted({ servers: mortal, turns: [dying, { text: "Half of it." }] });
  expect((await limited.run(["--limit", "turns=2"])).json).toMatchObject({ outcome: "limit", code: "turns" });
  await using rejected = await scripted({ servers: mortal, turns: [dying, { status: 400, body: "{}" }] });
  expect((await rejected.run()).json).toMatchObject({ outcome: "server-failed", code: "died" });
});

for (const wire of everyWire) {
  test(`${wire}: a key that the provider does not take is model-failed/rejected, 6, asked once`, async () => {
    await using life = await scripted({
      wire,
      turns: () => ({ status: 401, body: '{"error":{"message":"Bad key"}}' }),
    });
    const { code, json } = await life.run();
    expect(code).toBe(6);
    expect(json).toMatchObject({ outcome: "model-failed", code: "rejected", retryable: false, turns: 1 });
    expect(json.reason).toContain("answered 401: Bad key");
    expect(life.model.requests).toHaveLength(1);
  });
}

test("a model that is overloaded for ever is unavailable/model, 75, after its retries", async () => {
  await using life = await scripted({ wire: "anthropic", turns: () => ({ status: 529, retryAfter: 0 }) });
  const { code, json } = await life.run();
  expect(code).toBe(75);
  expect(json).toMatchObject({ outcome: "unavailable", code: "model", retryable: true, retryAfterMs: 0, turns: 1 });
  expect(life.model.requests).toHaveLength(5);
});

test("a wait that the run has no time for is not begun, and told as retryAfterMs", async () => {
  await using life = await scripted({ wire: "openai", turns: () => ({ status: 429, retryAfter: 7200 }) });
  const { code, json } = await life.run();
  expect(code).toBe(75);
  expect(json).toMatchObject({ outcome: "unavailable", code: "model", retryable: true, retryAfterMs: 7_200_000 });
  expect(life.model.requests).toHaveLength(1);
});

test("a model that is unavailable gives way to its fallback, which is named in the envelope", async () => {
  await using life = await scripted({
    wire: "anthropic",
    model: { fallbacks: ["openai/other"] },
    turns: (_, { wire, results }) => {
      if (wire === "anthropic" && results.length > 0) return { status: 529, retryAfter: 0 };
      return results.length > 0 ? { text: `Went on: ${results.map(({ text }) => text)}` } : { calls: [echo("a")] };
    },
  });
  const { code, json } = await life.run([], { env: life.model.env("openai") });
  expect(code).toBe(0);
  expect(json).toMatchObject({ outcome: "done", model: "openai/other", text: "Went on: echo: a", turns: 2 });
  expect(json.warnings.join()).toContain("went on with openai/other: anthropic/m answered 529");
});
