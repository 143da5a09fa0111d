// Cassettes: what a run was is recorded, and played again without servers, key or network, to the same end.

import { expect, test } from "bun:test";
import { mkdirSync } from "node:fs";
import { lasting, recorded } from "../support/cassettes.ts";
import type { ModelServer } from "../support/model-server.ts";
import { rich, richGiven, richWords } from "../support/rich-run.ts";
import { call, echo, everyWire, finish, type Scripted } from "../support/scripted.ts";
import { fixtureServer } from "../support/skills.ts";

for (const wire of everyWire) {
  test(`${wire}: a run on real servers replays to the same envelope, five times, with nothing there`, async () => {
    await using life = await recorded(rich(wire), richWords, richGiven);
    const { json, code } = life.ended;
    expect(json).toMatchObject({ outcome: "done", output: { sum: 5 }, turns: 10, checks: [{}, {}, {}] });
    for (let round = 0; round < 5; round++) {
      const again = await life.replay(["--quiet"]);
      expect(lasting(again.json)).toEqual(lasting(json));
      expect(again.code).toBe(code);
      expect(again.json.children.started).toBe(0);
    }
    expect(life.text()).not.toContain("canary");
    // Where other things are set than then.
    const other = await life.replay(["--input", "key=red"], { env: { COUNT_KEY: "the left half" } });
    expect(lasting(other.json)).toEqual(lasting(json));
    // Played in another folder than that of then.
    mkdirSync(`${life.elsewhere}/a longer name than before`);
    const there = await life.replay(["--workdir", "a longer name than before"]);
    expect(there.json).toMatchObject({ outcome: "done", output: { sum: 5 } });
  });
}

const goesOn: Scripted["turns"] = (index, { messages }) =>
  /last turn/.test(messages.at(-1)?.text ?? "") ? { text: "So far." } : { calls: [echo(`${index}`)] };
const one = (name: string, more: object = {}) => ({ s: fixtureServer(name, more) });
const noEcho = { permissions: [{ tool: "s/echo", args: { text: "no" }, action: "deny" }] };
const reversed = [echo("a"), echo("a"), echo("a")];
const twoAgents = [call("agent", { task: "one" }), call("agent", { task: "two" }), call("agent", { task: "three" })];

type Scenario = Scripted & { ends: object; words?: string[]; env?: (model: ModelServer) => Record<string, string> };
const scenarios: Record<string, Scenario> = {
  "a check that does not hold": {
    turns: [{ text: "Done." }],
    skill: { expect: [{ file: "none.txt" }, { command: ["sh", "-c", "echo no; exit 3"] }, { tool: "s/echo" }] },
    ends: { outcome: "failed", code: "check" },
  },
  "a server that dies in a call": {
    turns: [{ calls: [echo("die"), echo("b")] }, { calls: [echo("c")] }, { text: "It died." }],
    servers: one("dies-in-call.mjs"),
    ends: { outcome: "server-failed", code: "died" },
  },
  "a server that dies while nobody asks it": {
    turns: [{ calls: [echo("a")] }, { delayMs: 400, text: "Done." }],
    servers: one("dies-alone.mjs"),
    ends: { outcome: "done", servers: [{ status: "died", exit: { code: 4 } }] },
  },
  "a server that is started again": {
    turns: [{ calls: [echo("a")] }, { calls: [echo("b")] }, { text: "Done." }],
    servers: one("dies-once.mjs", {
      restart: "on-failure",
      env: { DIED: "{{ workdir }}/died", STARTS: "{{ workdir }}/starts" },
    }),
    ends: { outcome: "done" },
  },
  "a server that hangs": {
    turns: [{ calls: [echo("a")] }, { delayMs: 5_500, text: "Done." }],
    servers: one("hangs-in-call.mjs", { timeout: "200ms" }),
    ends: { outcome: "server-failed", code: "hung" },
  },
  "a server that does not start": {
    turns: [],
    servers: { ...one("complains-and-exits.mjs"), t: fixtureServer("good.mjs") },
    ends: { outcome: "server-failed", code: "start", hint: expect.stringContaining("API_KEY is missing") },
  },
  "a program that is not there": {
    turns: [],
    servers: { s: { command: "no-such-program" } },
    ends: { outcome: "server-failed", code: "start" },
  },
  "a server that is not required and does not start": {
    turns: [{ text: "Without it." }],
    servers: { ...one("complains-and-exits.mjs", { required: false }), t: fixtureServer("good.mjs") },
    ends: { outcome: "done" },
  },
  "a server that lacks a tool": {
    turns: [],
    servers: one("good.mjs", { tools: ["other"] }),
    ends: { outcome: "server-failed", code: "tool" },
  },
  "a modern server": {
    turns: [{ calls: [echo("a")] }, { text: "Done." }],
    servers: one("modern.mjs"),
    ends: { outcome: "done" },
  },
  "a bare server": {
    turns: [{ calls: [echo("a")] }, { text: "Done." }],
    servers: one("bare.mjs"),
    ends: { outcome: "done", servers: [{ protocol: "bare" }] },
  },
  "a list of tools that changes while the run waits": {
    turns: [{ calls: [echo("a")] }, { delayMs: 200, calls: [echo("b")] }, { calls: [call("s/extra")] }, { text: "D." }],
    servers: one("changes-its-tools.mjs"),
    ends: { outcome: "done" },
  },
  "secrets that a server tells in every way, a picture too": {
    turns: [
      { calls: [call("s/tell"), call("s/fail"), call("s/refuse")] },
      { calls: [call("s/leave")] },
      { text: "D." },
    ],
    servers: one("tells-secret.mjs", { env: { CANARY_TOKEN: "${CANARY_TOKEN}" } }),
    env: () => ({ CANARY_TOKEN: "canary-token-0123456789" }),
    ends: { outcome: "server-failed", code: "died" },
  },
  "the limit of turns, and its last turn": {
    turns: goesOn,
    words: ["--limit", "turns=4"],
    ends: { outcome: "limit", code: "turns", text: "So far.", turns: 4 },
  },
  "the limit of time, in a request to the model": {
    turns: (index, { messages }) =>
      /last turn/.test(messages.at(-1)?.text ?? "")
        ? { text: "So far." }
        : index === 0
          ? { calls: [echo("a")] }
          : { hang: true },
    words: ["--limit", "time=2s"],
    ends: { outcome: "limit", code: "time", text: "So far." },
  },
  "the limit of time, in a call": {
    turns: [{ calls: [echo("a"), call("s/echo", { text: "b" })] }, { text: "So far." }],
    servers: one("slow-call.mjs", { stopGrace: "100ms" }),
    words: ["--limit", "time=2s"],
    ends: { outcome: "limit", code: "time", text: "So far." },
  },
  "the limit of time, while a sub-agent works": {
    turns: (_, { messages }) =>
      /last turn/.test(messages.at(-1)?.text ?? "")
        ? { text: "So far." }
        : messages[0]?.text === "Work."
          ? { calls: [call("agent", { task: "wait" })] }
          : { hang: true },
    skill: { limits: { depth: 1 } },
    words: ["--limit", "time=2s"],
    ends: { outcome: "limit", code: "time", text: "So far." },
  },
  "the limit of the day": {
    turns: goesOn,
    model: { price: { input: 12_500, output: 0, cacheRead: 0 } },
    skill: { limits: { costPerDay: 4 } },
    ends: { outcome: "limit", code: "day" },
  },
  "the limit of calls": {
    turns: [{ calls: [echo("a"), echo("b"), echo("c")] }, { text: "Two." }],
    words: ["--limit", "toolCalls=2"],
    ends: { outcome: "limit", code: "calls" },
  },
  "a tool that is refused three times": {
    turns: Array(3).fill({ calls: [echo("no")] }),
    skill: noEcho,
    ends: { outcome: "denied", code: "refused", denials: [{}, {}, {}] },
  },
  "a tool that nobody has decided on": {
    turns: [finish("blocked", "No echo.", { missing: ["s/echo"] })],
    servers: { ...one("good.mjs", { tools: [] }), t: fixtureServer("good.mjs") },
    ends: { outcome: "denied", code: "undecided" },
  },
  "what flags allowed and denied": {
    turns: [{ calls: [echo("a"), call("t/echo", { text: "b" }), call("u/echo", { text: "c" })] }, { text: "Done." }],
    servers: {
      ...one("good.mjs", { tools: [] }),
      t: fixtureServer("good.mjs", { tools: [] }),
      u: fixtureServer("good.mjs"),
    },
    words: ["--allow", "s/echo", "--yes", "--deny", "u/*"],
    ends: { outcome: "done", denials: [{}] },
  },
  "a model that refuses the key": {
    turns: [{ status: 401, body: '{"error":{"message":"no such key"}}' }],
    ends: { outcome: "model-failed", code: "rejected" },
  },
  "a model that is not there for hours": {
    turns: [{ status: 429, retryAfter: 7_200 }],
    ends: { outcome: "unavailable", retryable: true, retryAfterMs: 7_200_000 },
  },
  "an answer that breaks off in a call, after another": {
    turns: [{ calls: [echo("a"), echo("b")], cutMidCall: true }, { text: "Went on." }],
    ends: { outcome: "done", text: "Went on." },
  },
  "an answer that breaks off, and comes again": {
    turns: [{ text: "Half of the ans", cut: true }, { text: "All of it." }],
    ends: { outcome: "done", text: "All of it." },
  },
  "a fallback": {
    wire: "anthropic",
    model: { fallbacks: ["openai/other"] },
    turns: (_, { wire, results }) =>
      wire === "anthropic" && results.length > 0
        ? { status: 529, retryAfter: 0 }
        : results.length > 0
          ? { text: "Went on." }
          : { calls: [echo("a")] },
    env: (model) => model.env("openai"),
    ends: { outcome: "done", model: "openai/other", text: "Went on." },
  },
  "a blocked model": { turns: [finish("blocked", "No.")], ends: { outcome: "failed", code: "blocked" } },
  "nothing to do": { turns: [finish("nothing-to-do", "All is well.")], ends: { outcome: "nothing-to-do" } },
  "an answer that fits no schema": {
    turns: Array(3).fill(finish("done", "D.", { output: { n: "x" } })),
    skill: { output: { schema: { type: "object", properties: { n: { type: "number" } } } } },
    ends: { outcome: "failed", code: "schema" },
  },
  "an answer that is cut by its length, twice": {
    turns: [
      { text: "a", finish: "length" },
      { text: "b", finish: "length" },
    ],
    ends: { outcome: "failed", code: "truncated" },
  },
  "an empty answer": { turns: [{}], ends: { outcome: "failed", code: "empty" } },
  "calls that are alike, answered the other way round, and cut": {
    turns: [{ calls: reversed }, { calls: [call("ReadToolOutput", { id: "1", offset: 90 })] }, { text: "Done." }],
    servers: one("answers-in-reverse.mjs"),
    skill: { limits: { toolOutput: "100B" } },
    ends: { outcome: "done" },
  },
  "agents that are alike, whose calls are answered the other way round": {
    turns: (_, { messages, results }) => {
      if (messages[0]?.text === "Work." && messages.length > 1)
        return { text: results.map(({ text }) => text).join(" | ") };
      if (messages[0]?.text === "Work.") return { calls: twoAgents };
      if (messages.length === 1) return { calls: [echo("a")] };
      return { text: `${messages[0]?.text} got ${results[0]?.text?.slice(0, 9)}` };
    },
    servers: one("answers-in-reverse.mjs"),
    skill: { limits: { depth: 1 } },
    ends: { outcome: "done" },
  },
};

for (const [what, { ends, words, env, ...given }] of Object.entries(scenarios)) {
  test(`${what}: replays to the same envelope`, async () => {
    await using life = await recorded(given, words, (model) => ({ env: env?.(model) ?? {}, timeoutMs: 50_000 }));
    const { json, code } = life.ended;
    expect(json).toMatchObject(ends);
    expect(life.text()).not.toContain("canary");
    const again = await life.replay();
    expect(lasting(again.json)).toEqual(lasting(json));
    expect(again.code).toBe(code);
    expect(again.json.children.started).toBe(0);
  });
}

/** Lines: 1 head, 2 initialize, 3 tools/list, 4 the first turn, 5 and 6 its calls, 7 the second, 8 and 9 checks, 10 exit, 11 end. */
const plain: Scripted = {
  turns: [{ text: "I look.", calls: [echo("a"), echo("b")] }, { text: "It is done." }],
  skill: { expect: [{ tool: "s/echo", min: 2 }, { file: "../skill/skill.yaml" }] },
};

const edits: [string, (lines: any[]) => any[] | string, number, RegExp][] = [
  [
    "the text of an answer",
    (lines) => [...lines.slice(0, 6), replaced(lines[6], "It is done.", "It is not done."), ...lines.slice(7)],
    11,
    /the end: at text the tape has "It is done\.", the run "It is not done\."/,
  ],
  [
    "the arguments of a call",
    (lines) => lines.with(3, replaced(lines[3], '\\"a\\"', '\\"z\\"')),
    5,
    /tools\/call echo of server "s": at arguments\.text the tape has "a", the run "z"/,
  ],
  [
    "the name of a call",
    (lines) =>
      lines.with(
        3,
        replaced(lines[3], '"mcp__s__echo","arguments":"{\\"text\\":\\"b', '"other","arguments":"{\\"text\\":\\"b'),
      ),
    7,
    /turn 2 of the model: at messages\.1\..* the tape has .*, the run .*/,
  ],
  [
    "what a tool answered",
    (lines) => lines.with(4, replaced(lines[4], "echo: a", "echo: changed")),
    7,
    /turn 2 of the model: at messages\.0\.text the tape has "echo: a", the run "echo: changed"/,
  ],
  [
    "what the model was asked",
    (lines) => lines.with(3, replaced(lines[3], "Work.", "Play.")),
    4,
    /turn 1 of the model: at messages\.0\.user the tape has "Play\.", the run "Work\."/,
  ],
  [
    "the tools that were offered",
    (lines) => lines.with(3, replaced(lines[3], '"finish"]', '"finish","other"]')),
    4,
    /turn 1 of the model: at tools\.2 the tape has "other", the run nothing/,
  ],
  [
    "the tools of a server",
    (lines) => lines.with(2, replaced(lines[2], '"name":"echo"', '"name":"ecco"')),
    4,
    /turn 1 of the model: at tools\.0 the tape has "mcp__s__echo", the run "mcp__s__ecco"/,
  ],
  [
    "a line taken out",
    (lines) => lines.toSpliced(5, 1),
    10,
    /tools\/call echo of server "s" is asked for, which the tape does not have/,
  ],
  [
    "a turn taken out",
    (lines) => lines.toSpliced(6, 1),
    10,
    /turn 2 of the model is asked for, which the tape does not have/,
  ],
  [
    "a line put in",
    (lines) => lines.toSpliced(5, 0, replaced(lines[5], '"b"', '"c"')),
    6,
    /tools\/call echo of server "s" is on the tape and is not asked for/,
  ],
  [
    "a turn put in at the end",
    (lines) => lines.toSpliced(10, 0, replaced(lines[6], '"turn":1', '"turn":2')),
    11,
    /turn 3 of the model is on the tape and was not asked for/,
  ],
  [
    "the text of the end",
    (lines) => lines.with(10, replaced(lines[10], "It is done.", "It was done.")),
    11,
    /the end: at text the tape has "It was done\.", the run "It is done\."/,
  ],
  [
    "how a check went",
    (lines) => lines.with(8, replaced(lines[8], "true", "false")),
    11,
    /the end: at outcome the tape has "done", the run "failed"/,
  ],
  [
    "what a check found",
    (lines) => lines.with(7, replaced(lines[7], "2 sent", "3 sent")),
    8,
    /the check "tool s\/echo: at least 2 calls": at found/,
  ],
  ["a check taken out", (lines) => lines.toSpliced(8, 1), 10, /the check "file .*" was not made then/],
  [
    "a check put in",
    (lines) => lines.toSpliced(8, 0, { check: "file x", ok: true, found: "" }),
    9,
    /the check "file x" is on the tape and was not made/,
  ],
  [
    "the end taken out",
    (lines) => lines.slice(0, 10),
    10,
    /the tape has no end: its run was killed, is still on, or was too long to be kept/,
  ],
  [
    "cut off within a turn",
    (lines) => lines.slice(0, 6),
    6,
    /turn 2 of the model is asked for, and the tape ends here: its run was killed, is still on, or was too long to be kept/,
  ],
  [
    "cut off within a line",
    (lines) => textOf(lines.slice(0, 6)) + JSON.stringify(lines[6]).slice(0, 50),
    7,
    /the tape ends here: its run was killed/,
  ],
];

const faults: [string, (lines: any[]) => any[] | string, number, RegExp][] = [
  [
    "the version",
    (lines) => lines.with(0, { ...lines[0], omega: 2, more: {} }),
    1,
    /a cassette of version 2; this omega plays version 1/,
  ],
  [
    "JSON that is broken",
    (lines) => textOf(lines).replace('{"server":"s","method":"tools/list"', '{"server":"s",method'),
    3,
    /not a line of JSON/,
  ],
  ["a line of no kind", (lines) => lines.toSpliced(2, 0, { hello: 1 }), 3, /a line of no known kind/],
  ["a field that is misspelt", (lines) => lines.with(4, { ...lines[4], parms: {} }), 5, /parms/],
  [
    "an answer that is none",
    (lines) => lines.with(3, { ...lines[3], answer: [{ type: "text" }] }),
    4,
    /answer\.0\.text/,
  ],
  ["a line after the end", (lines) => [...lines, lines[9]], 12, /something follows the end/],
  ["no head", (lines) => lines.slice(1), 1, /not a cassette/],
];

test("a tape that was changed by hand: what departs from it is told with the line", async () => {
  await using life = await recorded(plain);
  expect(life.ended.json.outcome).toBe("done");
  expect(life.lines().map((line) => Object.keys(line).at(line.server ? 1 : 0))).toEqual([
    ...["omega", "method", "method", "ask", "method", "method", "ask", "check", "check", "exit", "end"],
  ]);
  for (const [what, edit, line, message] of edits) {
    const { code, json } = await life.edited(edit);
    expect({ what, code, outcome: json.outcome, word: json.code }).toEqual({
      what,
      code: 1,
      outcome: "failed",
      word: "diverged",
    });
    expect(json.reason).toStartWith(`the run departs from the tape (${life.file("edited.jsonl")}:${line}): `);
    expect(json.reason).toMatch(message);
    expect(json.hint).toContain("omega test --update");
  }
  for (const [what, edit, line, message] of faults) {
    const { code, json } = await life.edited(edit);
    expect({ what, code, outcome: json.outcome, word: json.code }).toEqual({
      what,
      code: 2,
      outcome: "invalid",
      word: "cassette",
    });
    expect(json.reason).toStartWith(`${life.file("edited.jsonl")}:${line}: `);
    expect(json.reason).toMatch(message);
  }
});

function replaced(line: any, from: string, to: string): any {
  const text = JSON.stringify(line);
  expect(text).toContain(from);
  return JSON.parse(text.replace(from, to));
}

const textOf = (lines: any[]) => lines.map((line) => `${JSON.stringify(line)}\n`).join("");
