// Skills that give work away: to sub-agents, and to sub-skills with servers, inputs and checks of their own.

import { expect, test } from "bun:test";
import type { Asked, ScriptedTurn } from "../support/model-server.ts";
import { call, echo, finish, scripted } from "../support/scripted.ts";
import { fixtureServer, manifest } from "../support/skills.ts";

const agent = (task: string, more: object = {}) => call("agent", { task, ...more });
const deep = (depth = 1) => ({ limits: { depth } });

/** Each conversation has turns of its own, told apart by what it was asked first: a part of the task. */
function byTask(turns: Record<string, ScriptedTurn[]>) {
  return (_: number, { messages, results }: Asked): ScriptedTurn | undefined => {
    const [first] = messages;
    const task = Object.keys(turns).find((word) => first?.text.includes(word));
    const turn = messages.filter(({ role }) => role === "assistant").length;
    const found = task === undefined ? undefined : turns[task]?.[turn];
    return (
      found && {
        ...found,
        ...(found.text && { text: found.text.replaceAll("{results}", results.map(({ text }) => text).join(" | ")) }),
      }
    );
  };
}

const requestsFor = (model: { requests: unknown[]; asked(index: number): Asked }, task: string) =>
  model.requests.map((_, index) => model.asked(index)).filter(({ messages }) => messages[0]?.text.includes(task));

for (const wire of ["openai-chat", "anthropic", "google", "openai"] as const) {
  test(`${wire}: two sub-agents work side by side with the parent's tools, and cost what they cost`, async () => {
    await using life = await scripted({
      wire,
      skill: { ...deep(), instructions: "Be brief." },
      turns: byTask({
        Work: [{ calls: [agent("the left half"), agent("the right half")] }, { text: "Both: {results}" }],
        left: [{ calls: [echo("l")] }, { text: "Left says {results}" }],
        right: [{ calls: [echo("r")] }, finish("done", "Right is done.")],
      }),
    });
    const { code, json } = await life.run();
    expect(code).toBe(0);
    expect(json).toMatchObject({
      ...{ outcome: "done", text: "Both: Left says echo: l | Right is done.", turns: 6, toolCalls: 4 },
      usage: { input: 360, output: 60, cacheRead: 240 },
      children: { started: 1 },
    });
    const [left] = requestsFor(life.model, "left");
    expect(left?.tools).toEqual(["mcp__s__echo", "finish"]);
    expect(left?.system).toContain("Be brief.");
    expect(left?.messages).toEqual([{ role: "user", text: "the left half" }]);
    const events = life.events(json);
    const calls = events.filter(({ type }) => type === "call");
    expect(calls.map(({ agent, tool }) => `${agent ?? "run"} ${tool}`).sort()).toEqual([
      ...["1 mcp__s__echo", "2 finish", "2 mcp__s__echo"],
      ...["run agent", "run agent"],
    ]);
    expect(events.filter(({ type, agent }) => type === "turn" && agent === "2")).toHaveLength(2);
  });
}

test("the agents are at work at the same time", async () => {
  const seen = new Set<string>();
  await using life = await scripted({
    skill: deep(),
    turns: (_, { messages }) => {
      const task = messages[0]?.text ?? "";
      seen.add(task);
      if (task === "Work.") return messages.length === 1 ? { calls: [agent("one"), agent("two")] } : { text: "Done." };
      // Each is asked again until the other one has come as well.
      return seen.has("one") && seen.has("two") ? { text: task } : { calls: [echo(`${messages.length}`)] };
    },
  });
  expect((await life.run()).json).toMatchObject({ outcome: "done", text: "Done." });
});

test("without limits.depth there is no agent, and a sub-agent has one only as deep as the limit", async () => {
  await using flat = await scripted({ turns: [{ calls: [agent("x")] }, { text: "Alone." }] });
  expect((await flat.run()).json.outcome).toBe("done");
  expect(flat.model.asked(0).tools).toEqual(["mcp__s__echo", "finish"]);
  expect(flat.model.asked(1).results[0]?.text).toContain("there is no tool agent");

  await using life = await scripted({
    skill: deep(2),
    turns: byTask({
      Work: [{ calls: [agent("first")] }, { text: "{results}" }],
      first: [{ calls: [agent("second")] }, { text: "1 > {results}" }],
      second: [{ calls: [agent("third")] }, { text: "2" }],
    }),
  });
  const { json } = await life.run();
  expect(json).toMatchObject({ outcome: "done", text: "1 > 2", turns: 6 });
  expect(requestsFor(life.model, "first")[0]?.tools).toEqual(["mcp__s__echo", "agent", "finish"]);
  expect(requestsFor(life.model, "second")[0]?.tools).toEqual(["mcp__s__echo", "finish"]);
  expect(
    life
      .events(json)
      .filter(({ type }) => type === "turn")
      .map(({ agent }) => agent ?? "run"),
  ).toEqual([...["run", "1", "1.1", "1.1", "1", "run"]]);
});

test("a sub-agent has only the tools that it was given, by either name", async () => {
  await using life = await scripted({
    servers: { s: fixtureServer("good.mjs"), t: fixtureServer("good.mjs") },
    skill: deep(),
    turns: byTask({
      Work: [
        { calls: [agent("one", { tools: ["s/echo"] }), agent("two", { tools: ["mcp__t__echo"] })] },
        { text: "Done." },
      ],
      one: [{ calls: [call("t/echo", { text: "x" })] }, { text: "1" }],
      two: [{ text: "2" }],
    }),
  });
  expect((await life.run()).json.outcome).toBe("done");
  expect(requestsFor(life.model, "one")[0]?.tools).toEqual(["mcp__s__echo", "finish"]);
  expect(requestsFor(life.model, "one")[1]?.results[0]?.text).toContain("there is no tool mcp__t__echo");
  expect(requestsFor(life.model, "two")[0]?.tools).toEqual(["mcp__t__echo", "finish"]);
});

test("what a sub-agent uses counts for the limits of the run: it reports, and then the run does", async () => {
  await using life = await scripted({
    wire: "anthropic",
    skill: deep(),
    turns: (index, { messages }) => {
      if (/last turn/.test(messages.at(-1)?.text ?? "")) return { text: `Report of ${messages[0]?.text}` };
      return messages[0]?.text === "Work." ? { calls: [agent("the agent")] } : { calls: [echo(`${index}`)] };
    },
  });
  const { code, json } = await life.run(["--limit", "turns=6"]);
  expect(code).toBe(5);
  expect(json).toMatchObject({ outcome: "limit", code: "turns", turns: 6, text: "Report of Work." });
  expect(life.model.asked(-1).results[0]).toMatchObject({
    text: expect.stringMatching(/sub-agent 1 ended as limit: .*\nReport of the agent$/),
    isError: true,
  });
});

test("an agent that fails or is blocked is an error result; the run goes on", async () => {
  await using life = await scripted({
    wire: "google",
    skill: deep(),
    turns: byTask({
      Work: [{ calls: [agent("one"), agent("two"), agent("three")] }, { text: "{results}" }],
      one: [finish("blocked", "No rights.")],
      two: [{}],
      three: [finish("nothing-to-do", "Nothing.")],
    }),
  });
  const { code, json } = await life.run();
  expect(code).toBe(0);
  const said = life.model.asked(-1).results;
  expect(said.map(({ isError }) => isError)).toEqual([true, true, false]);
  expect(json.text).toBe(
    "sub-agent 1 is blocked: No rights. | sub-agent 2 ended as failed: the model ended without an answer | nothing to do: Nothing.",
  );
});

test("refusals of sub-agents count for the run, and end it", async () => {
  await using life = await scripted({
    skill: { ...deep(), permissions: [{ tool: "s/echo", args: { text: "x" }, action: "deny" }] },
    turns: byTask({ Work: [{ calls: [agent("one")] }], one: Array(3).fill({ calls: [echo("x")] }) }),
  });
  const { code, json } = await life.run();
  expect(code).toBe(4);
  expect(json).toMatchObject({ outcome: "denied", code: "refused", denials: [{}, {}, {}], turns: 4 });
});

const inner = (more: object = {}) =>
  manifest(
    { own: fixtureServer("good.mjs") },
    {
      description: "Counts words.",
      inputs: {
        text: { description: "what to count" },
        top: { type: "integer", default: 3 },
        key: { secret: true, default: "" },
      },
      prompt: "Count {{ inputs.text }}, top {{ inputs.top }}.",
      ...more,
    },
  );
const count = (args: object = { text: "abc" }) => call("skill__count", args);
const withSub = (more: object = {}) => ({ "skill/count/skill.yaml": inner(more) });
const ownEcho = (text: string) => call("own/echo", { text });

test("a sub-skill is a tool with its inputs as the schema, and works on servers of its own", async () => {
  await using life = await scripted({
    wire: "anthropic",
    skill: { skills: ["count"] },
    files: withSub(),
    turns: byTask({
      Work: [{ calls: [count({ text: 7 })] }, { calls: [count()] }, { text: "{results}" }],
      Count: [{ calls: [ownEcho("c"), echo("not its own")] }, { text: "3 words" }],
    }),
  });
  const { code, json } = await life.run();
  expect(code).toBe(0);
  expect(json.text).toEndWith(" | 3 words");
  const tool = life.model.asked(0).raw.tools.find(({ name }: { name: string }) => name === "skill__count");
  expect(tool).toMatchObject({
    description: "Counts words.",
    input_schema: {
      properties: { text: { type: "string", description: "what to count" }, top: { type: "integer", default: 3 } },
      required: ["text"],
    },
  });
  expect(tool.input_schema.properties.key).toBeUndefined();
  expect(life.model.asked(1).results[0]?.text).toContain("/text: must be string");
  const [asked, after] = requestsFor(life.model, "Count");
  expect(asked?.messages).toEqual([{ role: "user", text: "Count abc, top 3." }]);
  expect(asked?.tools).toEqual(["mcp__own__echo", "finish"]);
  expect(after?.results).toMatchObject([
    { text: "echo: c" },
    { text: expect.stringContaining("there is no tool mcp__s__echo") },
  ]);
  expect(json.children).toMatchObject({ started: 2 });
  expect(json.servers.map(({ name }: { name: string }) => name)).toEqual(["s", "count/own"]);
  expect(life.events(json).filter(({ type, agent }) => type === "server" && agent === "1")).toMatchObject([
    { name: "own" },
  ]);
});

const endings: [string, object, ScriptedTurn[], RegExp, boolean][] = [
  [
    "whose check fails",
    { expect: [{ tool: "own/echo" }] },
    [{ text: "3" }],
    /^skill count ended as failed: a check.*\n3$/,
    true,
  ],
  ["whose check holds", { expect: [{ tool: "own/echo" }] }, [{ calls: [ownEcho("c")] }, { text: "3" }], /^3$/, false],
  ["that is blocked", {}, [finish("blocked", "No text.")], /^skill count ended as failed: .*No text\./, true],
  [
    "whose limit is reached",
    { limits: { turns: 2 } },
    [{ calls: [ownEcho("c")] }, { text: "2 so far" }],
    /^skill count ended as limit: .*2 turns.*\n2 so far$/,
    true,
  ],
  [
    "with structured output",
    { output: { schema: { type: "object" } } },
    [finish("done", "", { output: { n: 3 } })],
    /^\{\s*"n": 3\s*\}$/,
    false,
  ],
  [
    "whose server does not start",
    { servers: { own: { command: "no-such-program", tools: ["*"] } } },
    [],
    /^skill count ended as server-failed: server "own": no such command/,
    true,
  ],
  [
    "whose tools nobody has allowed",
    { servers: { own: fixtureServer("good.mjs") } },
    [],
    /^skill count ended as denied: /,
    true,
  ],
];
for (const [what, more, turns, said, isError] of endings) {
  test(`a sub-skill ${what} gives ${isError ? "an error" : "a"} result; the run goes on`, async () => {
    await using life = await scripted({
      wire: "google",
      skill: { skills: ["count"] },
      files: withSub(more),
      turns: byTask({ Work: [{ calls: [count()] }, { text: "Went on." }], Count: turns }),
    });
    const { code, json } = await life.run();
    expect(code).toBe(0);
    expect(json).toMatchObject({ outcome: "done", text: "Went on.", checks: [] });
    expect(life.model.asked(-1).results).toEqual([{ text: expect.stringMatching(said), isError }]);
  });
}

test("a sub-skill may have a model of its own, and the checks of the run see that it was called", async () => {
  await using life = await scripted({
    wire: "anthropic",
    skill: {
      skills: ["count"],
      ...deep(),
      expect: [{ tool: "skill__count" }, { tool: "agent", min: 1, max: 1 }, { tool: "s/echo" }],
    },
    files: withSub({ model: "openai/small" }),
    turns: byTask({
      Work: [{ calls: [count(), agent("echo it")] }, { text: "{results}" }],
      echo: [{ calls: [echo("a")] }, { text: "echoed" }],
      Count: [{ text: "3 words" }],
    }),
  });
  const { json } = await life.run([], { env: life.model.env("openai") });
  expect(json).toMatchObject({ outcome: "done", model: "anthropic/m", text: "3 words | echoed" });
  expect(json.checks.map(({ found }: { found: string }) => found)).toEqual(Array(3).fill("1 sent, 1 succeeded"));
  expect(requestsFor(life.model, "Count")).toMatchObject([{ wire: "openai", model: "small" }]);
});

test("a sub-skill has only what is left of the run's time: it begins no wait that would pass it, and reports before", async () => {
  const skill = { skills: ["count"] };
  const work = { Work: [{ calls: [count()] }, { text: "Went on." }] };
  const limited = { status: 429, body: "{}", retryAfter: 60 };
  await using waits = await scripted({ skill, files: withSub(), turns: byTask({ ...work, Count: [limited] }) });
  expect((await waits.run(["--limit", "time=20s"])).json).toMatchObject({ outcome: "done", text: "Went on." });
  expect(waits.model.asked(-1).results[0]?.text).toContain("skill count ended as unavailable");
  const slow = { ...work, Count: [{ text: "1, 2", hang: true }] };
  await using reports = await scripted({
    skill,
    files: withSub(),
    turns: (index, asked) => {
      const isLast = asked.messages.at(-1)?.text.includes("last turn");
      return isLast ? { text: "2 so far" } : byTask(slow)(index, asked);
    },
  });
  expect((await reports.run(["--limit", "time=3s"])).json).toMatchObject({ outcome: "done", text: "Went on." });
  expect(reports.model.asked(-1).results[0]?.text).toMatch(/skill count ended as limit: .*\n2 so far$/);
});

test("the key of a sub-skill's own model is a secret of the run", async () => {
  const key = "sk-canary-of-a-sub-skill";
  await using life = await scripted({
    skill: { skills: ["count"] },
    files: withSub({ model: "anthropic/m" }),
    turns: byTask({ Work: [{ calls: [count()] }, { text: `It said ${key}.` }], Count: [{ text: `With ${key}.` }] }),
  });
  const { stdout, stderr, json } = await life.run([], {
    env: { ANTHROPIC_API_KEY: key, ANTHROPIC_BASE_URL: new URL(life.model.url).origin },
  });
  expect(json).toMatchObject({ outcome: "done", text: "It said ‹ANTHROPIC_API_KEY›." });
  expect(life.model.asked(-1).results).toMatchObject([{ text: "With ‹ANTHROPIC_API_KEY›." }]);
  expect(stdout + stderr + life.read(`home/runs/${json.run}/events.jsonl`)).not.toContain(key);
});

test("the parent's rules hold within a sub-skill, and its own as well", async () => {
  await using life = await scripted({
    wire: "openai",
    skill: {
      skills: ["count"],
      permissions: [{ tool: "own/echo", args: { text: "parent*" }, action: "deny" }],
    },
    files: withSub({ permissions: [{ tool: "own/echo", args: { text: "child*" }, action: "deny" }] }),
    turns: byTask({
      Work: [{ calls: [count()] }, { text: "Done." }],
      Count: [{ calls: [ownEcho("parent"), ownEcho("child"), ownEcho("free")] }, { text: "3" }],
    }),
  });
  const { json } = await life.run();
  expect(json).toMatchObject({ outcome: "done", denials: [{ tool: "own/echo" }, { tool: "own/echo" }] });
  expect(requestsFor(life.model, "Count")[1]?.results).toMatchObject([
    { text: expect.stringContaining("refused by permissions[0]") },
    { text: expect.stringContaining("refused by count/permissions[0]") },
    { text: "echo: free" },
  ]);
});

test("a deny rule on a sub-skill or on agent takes the tool away", async () => {
  const permissions = [
    { tool: "skill__count", action: "deny" },
    { tool: "agent", action: "deny" },
  ];
  await using life = await scripted({
    skill: { skills: ["count"], ...deep(), permissions },
    files: withSub(),
    turns: [{ calls: [count(), agent("x")] }, { text: "Done." }],
  });
  const { json } = await life.run();
  expect(life.model.asked(0).tools).toEqual(["mcp__s__echo", "finish"]);
  expect(json.denials.map(({ tool }: { tool: string }) => tool).sort()).toEqual(["agent", "skill__count"]);
});

test("a signal while a sub-skill is in a call ends everything", async () => {
  const slow = manifest(
    { own: fixtureServer("slow-call.mjs", { env: { READY: "{{ inputs.ready }}" } }) },
    { prompt: "Count.", inputs: { ready: {} } },
  );
  await using life = await scripted({
    skill: { skills: ["count"] },
    files: { "skill/count/skill.yaml": slow },
    turns: (_, { messages }) =>
      messages[0]?.text === "Work."
        ? { calls: [call("skill__count", { ready: life.file("ready") })] }
        : { calls: [ownEcho("slow")] },
  });
  const { child, result } = life.start(["--json"]);
  expect(await life.isReady()).toBe(true);
  child.kill("SIGINT");
  const { code, json } = await result;
  expect(code).toBe(130);
  expect(json).toMatchObject({ outcome: "interrupted", children: { started: 2 } });
});
