import { expect, test } from "bun:test";
import { parseTape } from "../../src/cassette/tape.ts";
import { OmegaError } from "../../src/errors.ts";

const head = {
  ...{ omega: 1, skill: "s", model: "m/m", run: "20260901-060000-0a1b2c3d", startedAt: "2026-09-01T06:00:00.000Z" },
  ...{ folders: { workdir: "/then", "skill.dir": "/then/skill" }, inputs: { at: "{{ workdir }}/x" }, words: [] },
};
const usage = { input: 1, output: 1, cacheRead: 0, cacheWrite: 0, reasoning: 0 };
const ask = {
  ask: { turn: 0, tools: ["finish"], messages: [{ user: "in {{ skill.dir }}" }] },
  answer: [
    { type: "text", text: "Done." },
    { type: "end", reason: "stop", usage },
  ],
};
const end = { end: { outcome: "done", code: null, text: "Done.", output: null, turns: 1, toolCalls: 0, usage } };
const textOf = (...lines: (object | string)[]) =>
  lines.map((line) => `${typeof line === "string" ? line : JSON.stringify(line)}\n`).join("");
const fault = (text: string) => {
  try {
    parseTape(text, "t.jsonl");
  } catch (error) {
    if (error instanceof OmegaError && error.code === "CASSETTE_INVALID") return error.message;
    throw error;
  }
  return "none";
};

test("names of folders stand for the folders of then, or for those that are given", () => {
  const text = textOf(head, "", ask, { server: "a", notify: "n", params: { p: "{{ workdir }}" } }, end);
  const tape = parseTape(text, "t.jsonl");
  expect(tape.head).toMatchObject({ inputs: { at: "/then/x" }, folders: head.folders });
  expect(tape.lines.ask).toMatchObject([{ line: 3, value: { ask: { messages: [{ user: "in /then/skill" }] } } }]);
  expect(tape.lines.notify).toEqual([{ line: 4, value: { server: "a", notify: "n", params: { p: "/then" } } }]);
  expect(tape.end).toMatchObject({ line: 5 });
  expect(tape.source[2]).toBe(JSON.stringify(ask));
  const now = parseTape(text, "t.jsonl", { workdir: "/now" });
  expect(now.head.inputs).toEqual({ at: "/now/x" });
  expect(now.lines.ask[0]?.value.ask.messages).toEqual([{ user: "in /then/skill" }]);
});

test("half a last line is what a killed run leaves, and no mistake of anybody", () => {
  expect(parseTape(`${textOf(head, ask)}{"server":"a","met`, "t.jsonl")).toMatchObject({ end: undefined });
  expect(fault(`${textOf(head)}{"server":"a","met\n${textOf(ask)}`)).toBe("t.jsonl:2: not a line of JSON");
});

const faults: [string, string, string | RegExp][] = [
  ["nothing", "", "t.jsonl is empty: the run ended before anything was asked"],
  ["blank lines", "\n \n", "t.jsonl is empty: the run ended before anything was asked"],
  ["no JSON", "turns: []\n", "t.jsonl:1: not a cassette: its first line does not say what it is"],
  ["another JSON", textOf({ hello: 1 }), "t.jsonl:1: not a cassette: its first line does not say what it is"],
  ["a list", textOf("[]"), "t.jsonl:1: not a cassette: its first line does not say what it is"],
  ["a later version", textOf("", { omega: 2 }), "t.jsonl:2: a cassette of version 2; this omega plays version 1"],
  ["half a head", textOf({ omega: 1, skill: "s" }), /^t\.jsonl:1: .*model/],
  ["folders that are none", textOf({ ...head, folders: {} }), /^t\.jsonl:1: folders\.workdir: /],
  ["a field too many in the head", textOf({ ...head, hello: 1 }), /^t\.jsonl:1: hello: /],
  ["an unknown kind", textOf(head, { hello: 1 }), /^t\.jsonl:2: a line of no known kind: it has none of ask, method, /],
  ["a number for a line", textOf(head, "7"), /^t\.jsonl:2: a line of no known kind/],
  ["a misspelt field", textOf(head, { ...ask, anser: [] }), /^t\.jsonl:2: anser: /],
  ["a text without its text", textOf(head, { ...ask, answer: [{ type: "text" }] }), /^t\.jsonl:2: answer\.0\.text: /],
  ["an answer of no kind", textOf(head, { ...ask, answer: [{ type: "song" }] }), /^t\.jsonl:2: answer\.0\.type: /],
  ["a server's line without a server", textOf(head, { method: "tools/list" }), /^t\.jsonl:2: server: /],
  ["an end within", textOf(head, end, ask), "t.jsonl:3: something follows the end"],
];
for (const [what, text, told] of faults) {
  test(`told with file and line: ${what}`, () => {
    if (typeof told === "string") expect(fault(text)).toBe(told);
    else expect(fault(text)).toMatch(told);
  });
}
