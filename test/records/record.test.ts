// What a run leaves on disk, and what it leaves where nothing can be written.

import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { listRuns } from "../../src/records/history.ts";
import { openRecord, type RunRecord } from "../../src/records/record.ts";
import { envelopeOf, runId, temporaryHome } from "../support/homes.ts";

const clean = (text: string) => text.replaceAll("hunter2hunter2", "‹TOKEN›");
type Home = ReturnType<typeof temporaryHome>;
const open = (home: Home, run = runId()): RunRecord => openRecord(run, { clean, redact: clean, store: home.store });
const say = (record: RunRecord, text: string, more: object = {}) =>
  record.event({ type: "text", turn: 1, text, ...more });

async function wholeRecord(home: Home, run: string): Promise<void> {
  const record = open(home, run);
  record.event({ type: "turn", turn: 1 });
  record.keepOutput("long");
  record.stderr("git", "words");
  await record.end(envelopeOf(run), null);
}

for (const umask of [0o000, 0o077, 0o777]) {
  test(`under umask ${umask.toString(8)} folders are 0700 and files 0600`, async () => {
    using home = temporaryHome();
    const before = process.umask(umask);
    try {
      await wholeRecord(home, runId());
    } finally {
      process.umask(before);
    }
    expect(home.warnings).toEqual([]);
    for (const { name, isFolder, mode } of home.modes()) expect([name, mode]).toEqual([name, isFolder ? 0o700 : 0o600]);
    expect(home.modes()).toHaveLength(11);
  });
}

const nextTick = () => new Promise((resolve) => setImmediate(resolve));

test("every string of an event is clean, and its time is a number before all else", async () => {
  using home = temporaryHome();
  const run = runId();
  const record = open(home, run);
  const deep = { "a hunter2hunter2": ["x hunter2hunter2"] };
  record.event({ type: "call", at: "2026-09-01T06:00:00.000Z", arguments: '{"a":"hunter2hunter2"}', deep });
  await nextTick();
  const [line] = home.lines(`runs/${run}/events.jsonl`);
  expect(Object.keys(line)[0]).toBe("at");
  expect(line).toEqual({
    at: expect.any(Number),
    type: "call",
    arguments: '{"a":"‹TOKEN›"}',
    deep: { "a ‹TOKEN›": ["x ‹TOKEN›"] },
  });
});

test("pieces of one text are one line, another turn or agent begins another", async () => {
  using home = temporaryHome();
  const run = runId();
  const record = open(home, run);
  for (const piece of ["Good ", "mor", "ning"]) say(record, piece);
  say(record, "Next", { turn: 2 });
  say(record, "Sub", { turn: 2, agent: "1" });
  say(record, "Back", { turn: 2 });
  record.event({ type: "turn", turn: 3 });
  say(record, "End", { turn: 3 });
  await record.end(envelopeOf(run), null);
  const told = home.lines(`runs/${run}/events.jsonl`).map(({ type, text }) => text ?? type);
  expect(told).toEqual(["Good morning", "Next", "Sub", "Back", "turn", "End"]);
});

test("a text is on disk after a second, but no half of a word that may be a secret", async () => {
  using home = temporaryHome();
  const run = runId();
  const record = open(home, run);
  say(record, "the key is hunter2");
  const texts = () => home.read(`runs/${run}/events.jsonl`).match(/(?<="text":")[^"]*/g) ?? [];
  expect(texts()).toEqual([]);
  await Bun.sleep(1_200);
  expect(texts()).toEqual(["the key is "]);
  say(record, "hunter2, he said");
  record.event({ type: "turn", turn: 2 });
  await nextTick();
  expect(texts()).toEqual(["the key is ", "‹TOKEN›, he said"]);
});

test("result.json is the envelope, clean; the history has its row", async () => {
  using home = temporaryHome();
  const run = runId();
  const startedAt = new Date().toISOString();
  const record = open(home, run);
  const more = {
    text: "hunter2hunter2",
    reason: "no hunter2hunter2",
    startedAt,
    endedAt: startedAt,
    odd: { a: [1, null] },
  };
  await record.end(envelopeOf(run, more), "/skills/notes/skill.yaml");
  expect(home.json(`runs/${run}/result.json`)).toEqual({
    ...envelopeOf(run),
    ...more,
    text: "‹TOKEN›",
    reason: "no ‹TOKEN›",
  });
  expect(home.names(`runs/${run}`)).toEqual(["cassette.jsonl", "events.jsonl", "result.json"]);
  expect(await listRuns({ limit: 10 })).toEqual([
    {
      id: run,
      skill: "notes",
      file: "/skills/notes/skill.yaml",
      model: "replay/turns.yaml",
      ...{ outcome: "done", exitCode: 0, code: null, reason: "no ‹TOKEN›" },
      ...{ startedAt, endedAt: startedAt, turns: 1, toolCalls: 2 },
      ...{ input: 10, output: 2, cacheRead: 3, cacheWrite: 4, cost: 0.25 },
      record: home.file(`runs/${run}`),
    },
  ]);
});

test("after its end a record takes nothing more", async () => {
  using home = temporaryHome();
  const run = runId();
  const record = open(home, run);
  await record.end(envelopeOf(run), null);
  record.event({ type: "warning", message: "late" });
  say(record, "later");
  await Bun.sleep(1_100);
  expect(home.read(`runs/${run}/events.jsonl`)).toBe("");
  expect(home.warnings).toEqual([]);
});

test("whatever a server is called, its words are in one file of this run", async () => {
  using home = temporaryHome();
  const run = runId();
  const record = open(home, run);
  for (const name of ["../../x", "..", "a/b", "ü", "n".repeat(1_000), "\ud800"]) record.stderr(name, "hunter2hunter2");
  record.stderr("git", "once");
  record.stderr("git", "again\n");
  expect(home.names(`runs/${run}/stderr`).length).toBe(7);
  expect(home.read(`runs/${run}/stderr/git.log`)).toBe("once\nagain\n");
  expect(home.read(`runs/${run}/stderr/...log`)).toBe("‹TOKEN›\n");
  expect(home.warnings).toEqual([]);
});

test("where runs cannot be written there is one warning, no record, and nothing fails", async () => {
  using home = temporaryHome({ runs: "a file" });
  const run = runId();
  const record = open(home, run);
  record.event({ type: "turn", turn: 1 });
  say(record, "Hello");
  expect(record.keepOutput("x")).toBeUndefined();
  expect(record.readOutput("1", 0, 10)).toBeUndefined();
  record.stderr("git", "words");
  await record.end(envelopeOf(run), null);
  expect(record.folder()).toBeNull();
  expect(home.warnings).toEqual([
    `cannot write to ${home.path} (ENOTDIR): this run leaves no record; give OMEGA_HOME a writable folder`,
  ]);
  expect(existsSync(home.file("history.db"))).toBe(false);
});

test("a record that breaks on the way is none, and says so once", async () => {
  using home = temporaryHome();
  const run = runId();
  const record = open(home, run);
  expect(record.folder()).toBe(home.file(`runs/${run}`));
  home.write(`runs/${run}/outputs`, "a file");
  expect(record.keepOutput("x")).toBeUndefined();
  record.event({ type: "turn", turn: 1 });
  await record.end(envelopeOf(run), null);
  expect(record.folder()).toBeNull();
  expect(home.warnings).toHaveLength(1);
  expect(home.names(`runs/${run}`)).toEqual(["cassette.jsonl", "events.jsonl", "outputs"]);
});

test("a full disk is told with what to do about it", () => {
  using home = temporaryHome();
  home.store.attempt(() => {
    throw Object.assign(new Error("full"), { code: "ENOSPC" });
  });
  expect(home.warnings[0]).toContain("(ENOSPC): this run leaves no record; free space there");
});

test("a bug is no trouble of the disk: it is thrown on", () => {
  using home = temporaryHome();
  expect(() => home.store.attempt(() => JSON.parse("{"))).toThrow(SyntaxError);
  expect(home.store.isBroken()).toBe(false);
});

test("a result that cannot be put in its place leaves no draft", async () => {
  const run = runId();
  using home = temporaryHome({ [`runs/${run}/result.json/in-the-way`]: "" });
  const record = open(home, run);
  await record.end(envelopeOf(run), null);
  expect(home.names(`runs/${run}`)).toEqual(["cassette.jsonl", "events.jsonl", "result.json"]);
  expect(home.warnings).toHaveLength(1);
  expect(record.folder()).toBeNull();
});
