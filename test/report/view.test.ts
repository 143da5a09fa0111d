// Events, each at its time → what stands on a terminal, without its colours: above the line what is printed for good, below
// it what is drawn again and again. Kept under views/; `UPDATE_SCREENS=1` writes them again.

import { expect, test } from "bun:test";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import type { RunEvent } from "../../src/events.ts";
import { fit, paint, type Row } from "../../src/report/rows.ts";
import { summaryRows } from "../../src/report/summary.ts";
import { createView } from "../../src/report/view.ts";
import { plain } from "../../src/terminal.ts";

type Told = [atMs: number, event: RunEvent | "interrupt"];

const call = (turn: number, id: string, origin: string, args: object, agent?: string): RunEvent => ({
  ...{ type: "call", turn, id, tool: `mcp__${origin}`, origin, arguments: JSON.stringify(args) },
  ...(agent && { agent }),
});
const result = (turn: number, id: string, text: string, ms: number, more: object = {}): RunEvent => ({
  ...{ type: "result", turn, id, tool: "t", origin: "t", isError: false, text, ms },
  ...more,
});
const usage = (turn: number, input: number, cost: number | null, more: object = {}): RunEvent => ({
  ...{ type: "usage", turn, cost, modelMs: 2_345, ...more },
  usage: { input, output: 120, cacheRead: 1_000, cacheWrite: 0, reasoning: 0 },
});

const began: Told[] = [
  [
    5,
    {
      ...{ type: "start", run: "20261118-210407-1a2b3c4d", skill: "release-notes", file: "/s/skill.yaml" },
      ...{ model: "anthropic/claude-sonnet-4-5", startedAt: "2026-11-18T21:04:07Z" },
    },
  ],
  [10, { type: "starting", servers: ["git", "tracker", "notes"] }],
  [350, { type: "server", name: "git", protocol: "2025-11-25", tools: 12, readyMs: 340 }],
  [900, { type: "not-ready", name: "notes", reason: 'server "notes" exited with code 1' }],
  [901, { type: "warning", message: 'going on without a server: server "notes" exited with code 1: no such folder' }],
];

const work: Told[] = [
  ...began,
  [2_400, { type: "server", name: "tracker", protocol: "2026-07-28", tools: 1, readyMs: 2_390 }],
  [2_500, { type: "turn", turn: 1 }],
  [5_000, { type: "retry", turn: 1, reason: "anthropic answered 529: overloaded", waitMs: 2_500 }],
  [8_000, { type: "text", turn: 1, text: "I look at the commits since the last tag first.\n\n" }],
  [8_100, call(1, "a", "git/git_log", { since: "v1.2.0", limit: 50, path: "src/a file" })],
  [8_110, call(1, "b", "tracker/list_issues", { state: "closed" })],
  [8_120, call(1, "c", "tracker/delete_issue", { issue: 3 })],
  [8_130, usage(1, 11_200, 0.0123)],
  [8_220, result(1, "a", "x".repeat(4_100), 120)],
  [8_230, result(1, "c", "Error: denied", 2, { isError: true, denied: true })],
  [69_000, result(1, "b", "Error: no such project\nthere are: docs", 60_890, { isError: true })],
  [69_100, { type: "turn", turn: 2 }],
  [69_200, call(2, "a", "agent", { task: "read the left half" })],
  [69_300, { type: "turn", turn: 1, agent: "1" }],
  [69_400, call(1, "a", "git/git_show", { commit: "4b825dc" }, "1")],
  [69_500, result(1, "a", "日本", 12, { agent: "1" })],
  [69_600, call(2, "a", "agent", { task: "deeper" }, "1")],
  [69_700, call(1, "a", "git/git_show", { commit: "00ff00" }, "1.2")],
];

const ending: Told[] = [
  ...work,
  [72_000, result(1, "a", "deep", 2_300, { agent: "1.2" })],
  [72_100, result(2, "a", "deeper", 2_500, { agent: "1" })],
  [72_200, result(2, "a", "left", 3_000)],
  [72_300, { type: "limit", turn: 3, reason: "the limit of 3 turns was reached" }],
  [72_300, { type: "turn", turn: 3 }],
  [72_400, { type: "fallback", model: "ollama/llama3.3", reason: "anthropic answered 529: overloaded" }],
  [73_000, { type: "text", turn: 3, text: "One.\nTwo.\nThree.\nFour.\nFive.\nSix, which is the last of all lines." }],
];

const over: Told[] = [
  ...ending,
  [74_000, usage(3, 900, null)],
  [74_100, { type: "check", check: "tool git/git_log: at least 1 calls", ok: true, found: "1 sent, 1 succeeded" }],
  [74_200, { type: "check", check: "file notes.md", ok: false, found: "it does not exist" }],
  [74_300, { type: "answer", text: "I got as far\nas this.", isGood: false }],
];

const ended = {
  ...{ outcome: "limit", exitCode: 5, reason: "the limit of 3 turns was reached", turns: 6, toolCalls: 7 },
  ...{ hint: "raise limits.turns if the work needs more", cost: 0.0123, record: "/home/me/.local/state/omega/runs/1" },
  usage: { input: 12_100, output: 240, cacheRead: 2_000, cacheWrite: 0, reasoning: 0 },
  ...{ startedAt: "2026-11-18T21:04:07.000Z", endedAt: "2026-11-18T21:05:21.500Z" },
  checks: [{ ok: true }, { ok: false }],
  denials: [{ tool: "tracker/delete_issue", by: "permissions[0]" }],
  children: { started: 3, survivors: [4711] },
};

function play(told: readonly Told[], columns: number, verbose = false): string {
  const view = createView({ verbose, startedAt: 0 });
  const rows = told.flatMap(([at, event]) => {
    if (event !== "interrupt") return view.event(event, at);
    view.interrupt(at);
    return [];
  });
  const now = told.at(-1)?.[0] ?? 0;
  return `${lines(rows, columns)}\n────\n${lines(view.live(now + 400), columns)}\n`;
}

const painted = (rows: readonly Row[], columns: number) => rows.flatMap((row) => fit(row, columns)).map(paint);
const lines = (rows: readonly Row[], columns: number) => painted(rows, columns).map(plain).join("\n");

for (const columns of [40, 80, 120]) {
  test(`the views of a run at ${columns} columns are as they are kept`, () => {
    const views = {
      "servers start": play(began, columns),
      "at work": play(work, columns),
      "the last turn": play(ending, columns),
      "over, with -v": play(over, columns, true),
      interrupted: play([...work, [70_000, "interrupt"]], columns),
      "the end": `${lines(summaryRows(ended), columns)}\n`,
    };
    const text = Object.entries(views)
      .map(([name, view]) => `━━━ ${name}\n${view}`)
      .join("\n");
    const file = resolve(import.meta.dir, `views/${columns}.txt`);
    if (process.env["UPDATE_SCREENS"] || !existsSync(file)) writeFileSync(file, text);
    expect(text).toBe(readFileSync(file, "utf8"));
  });
}

test("no line is wider than the terminal, however narrow, but the record's", () => {
  for (let columns = 1; columns <= 130; columns++) {
    for (const line of `${play(over, columns, true)}${play(ending, columns)}`.replaceAll("────\n", "").split("\n"))
      expect(Bun.stringWidth(line), `${columns}: ${line}`).toBeLessThanOrEqual(Math.max(columns - 1, 2));
  }
});

test("what servers and models say does not act on the terminal", () => {
  const odd = "a\x1b[2Jb\x07\u202ec\x9b31m\r\nd";
  const told: RunEvent[] = [
    { type: "start", run: odd, skill: odd, file: odd, model: odd, startedAt: odd },
    { type: "starting", servers: [odd] },
    { type: "server", name: odd, protocol: odd, tools: 1, readyMs: 1 },
    { type: "starting", servers: [odd] },
    { type: "turn", turn: 1 },
    { type: "text", turn: 1, text: odd },
    { ...call(1, "a", odd, { [odd]: odd }), arguments: odd } as RunEvent,
    result(1, "a", odd, 1, { isError: true }),
    call(1, "b", odd, { [odd]: odd }),
    { type: "retry", turn: 1, reason: odd, waitMs: 1 },
    { type: "fallback", model: odd, reason: odd },
    { type: "limit", turn: 1, reason: odd },
    { type: "check", check: odd, ok: false, found: odd },
    { type: "warning", message: odd },
    { type: "debug", message: odd },
    { type: "text", turn: 1, text: odd },
  ];
  const view = createView({ verbose: true, startedAt: 0 });
  const rows = told.flatMap((event) => view.event(event, 0));
  rows.push(...view.live(0), ...view.event({ type: "answer", text: odd, isGood: false }, 0));
  rows.push(...summaryRows({ ...ended, reason: odd, hint: odd, record: odd, denials: [{ tool: odd, by: odd }] }));
  // Colours are ours; nothing else may be left that a terminal acts on.
  const text = painted(rows, 80)
    .join("\n")
    .replace(/\x1b\[\d\d?m/g, "");
  expect(text).toContain("ac");
  expect(text).not.toMatch(/[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e]/);
});
