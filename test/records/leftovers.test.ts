// The end of a run that was killed, told by whoever sweeps it; and of one that was not, told by nobody else.

import { expect, test } from "bun:test";
import { listRuns } from "../../src/records/history.ts";
import { sweepDeadRuns, sweepRun } from "../../src/records/leftovers.ts";
import { openRecord } from "../../src/records/record.ts";
import { openChildren } from "../../src/run/children.ts";
import { deadOwner, envelopeOf, runId, temporaryHome } from "../support/homes.ts";

const at = Date.parse("2026-09-01T06:00:00.000Z");
const usage = { input: 10, output: 2, cacheRead: 3, cacheWrite: 4, reasoning: 1 };
const events = [
  { at, type: "start", run: "x", skill: "notes", file: "/notes/skill.yaml", model: "a/one" },
  { at, type: "turn", turn: 1 },
  { at, type: "usage", turn: 1, usage, cost: 0.5 },
  { at, type: "call", turn: 1, tool: "git__log" },
  { at, type: "start", agent: "1", skill: "other", file: "/other", model: "b/two" },
  { at, type: "turn", turn: 1, agent: "1" },
  { at, type: "call", turn: 1, agent: "1", tool: "git__show" },
  { at, type: "call", turn: 1, agent: "1", tool: "finish" },
  { at, type: "usage", turn: 1, agent: "1", usage, cost: 0.25 },
  { at, type: "warning", message: "careful" },
  { at, type: "fallback", model: "a/three", reason: "busy" },
  { at, type: "turn", turn: 2 },
];
const torn = '{"at":1,"type":"turn","tu';
const log = (list: readonly object[]) => `${list.map((event) => JSON.stringify(event)).join("\n")}\n`;

/** A home with a run whose omega was killed. */
function deadHome({ run = runId(), text = log(events) + torn, owner = deadOwner() } = {}) {
  const home = temporaryHome({ [`journal/${run}`]: `${owner}group 4000000 1\n`, [`runs/${run}/events.jsonl`]: text });
  return { home, run, result: `runs/${run}/result.json` };
}

test("a killed run gets a result from its events, a torn line aside, and a row", async () => {
  const { home, run, result } = deadHome();
  using _ = home;
  const before = new Date().toISOString();
  const record = home.file(`runs/${run}`);
  expect(await sweepDeadRuns()).toEqual([
    { run, killed: 0, survivors: [], unseen: expect.any(Number), record, trouble: null },
  ]);
  const told = home.json(result);
  expect(told).toMatchObject({
    ...{ version: 1, run, skill: "notes", model: "a/three", outcome: "killed", exitCode: null, code: null },
    ...{ reason: expect.stringContaining("omega itself was killed"), retryable: true, text: null, output: null },
    usage: { input: 20, output: 4, cacheRead: 6, cacheWrite: 8, reasoning: 2 },
    ...{ cost: 0.75, turns: 3, toolCalls: 2, warnings: ["careful"], servers: [] },
    children: { started: 1, exited: 0, killed: 0, survivors: [] },
    startedAt: "2026-09-01T06:00:00.000Z",
    record,
  });
  expect(told.endedAt >= before).toBe(true);
  expect(await listRuns({ limit: 5 })).toMatchObject([
    { id: run, outcome: "killed", file: "/notes/skill.yaml", cost: 0.75, exitCode: null, input: 20, record },
  ]);
  expect(home.names("journal")).toEqual([]);
  expect(home.modes().find(({ name }) => name === result)?.mode).toBe(0o600);
});

test("a cost that is not known makes the sum unknown; rubbish in the events is passed over", async () => {
  const text = `{"type":"usage","usage":7,"cost":null}\nnull\n[]\n{"type":{}}\n\0\0\nnot json\n{"type":"turn"}\n`;
  const { home, run, result } = deadHome({ text, run: "20260901-060001-0a1b2c3d" });
  using _ = home;
  await sweepDeadRuns();
  expect(home.json(result)).toMatchObject({
    run,
    cost: null,
    turns: 1,
    skill: null,
    startedAt: "2026-09-01T06:00:01.000Z",
  });
});

test("a run that was killed before its first event has an end too", async () => {
  const { home, result } = deadHome({ text: "" });
  using _ = home;
  await sweepDeadRuns();
  expect(home.json(result)).toMatchObject({ outcome: "killed", turns: 0, cost: 0, model: null });
});

test("a run of an earlier boot gets its end as well, and is forgotten", async () => {
  const { home, result } = deadHome({ owner: deadOwner({ boot: "another-boot" }) });
  using _ = home;
  expect(await sweepDeadRuns()).toEqual([]);
  expect(home.json(result)).toMatchObject({ outcome: "killed", reason: expect.stringContaining("machine went down") });
  expect(home.names("journal")).toEqual([]);
});

test("a run that had written its result keeps it, and gets the row that it had no time for", async () => {
  const { home, run, result } = deadHome();
  using _ = home;
  home.write(result, JSON.stringify(envelopeOf(run, { startedAt: new Date().toISOString() })));
  const before = home.read(result);
  await sweepDeadRuns();
  expect(home.read(result)).toBe(before);
  expect(await listRuns({ limit: 5 })).toMatchObject([{ id: run, outcome: "done" }]);
});

test("a result that a power cut has left empty is none", async () => {
  const { home, result } = deadHome();
  using _ = home;
  home.write(result, "");
  await sweepDeadRuns();
  expect(home.json(result).outcome).toBe("killed");
});

test("a result in a form that is not ours is left alone, and forgotten", async () => {
  for (const text of ["{}", "[]", "7", '{"usage":{},"outcome":7}']) {
    const { home, result } = deadHome();
    using _ = home;
    home.write(result, text);
    await sweepDeadRuns();
    expect([home.read(result), home.names("journal")]).toEqual([text, []]);
  }
});

test("two sweeps at once write one end", async () => {
  const { home, run, result } = deadHome();
  using _ = home;
  await Promise.all([sweepDeadRuns(), sweepRun(run, true), sweepDeadRuns()]);
  expect(home.json(result).outcome).toBe("killed");
  expect(await listRuns({ limit: 5 })).toHaveLength(1);
  expect(home.names(`runs/${run}`)).toEqual(["events.jsonl", "result.json"]);
});

test("a command that leaves no record leaves no end, nor a folder for it", async () => {
  const run = runId();
  using home = temporaryHome({ [`journal/${run}`]: deadOwner() });
  expect(await sweepDeadRuns()).toMatchObject([{ run, record: null, trouble: null }]);
  expect(home.names(".")).toEqual(["journal"]);
});

test("an end that cannot be written now is written by a later sweep", async () => {
  const { home, run, result } = deadHome();
  using _ = home;
  // A folder where the result is to be.
  home.write(`${result}/x`, "");
  expect(await sweepDeadRuns()).toMatchObject([{ run, record: null, trouble: expect.stringContaining("EISDIR") }]);
  expect(home.names("journal")).toEqual([run]);
});

test("a broken history does not keep an end from being told, nor the journal from forgetting", async () => {
  const { home, result } = deadHome();
  using _ = home;
  home.write("history.db", "this is no database ".repeat(1_000));
  expect(await sweepDeadRuns()).toMatchObject([{ trouble: expect.stringContaining("not a database") }]);
  expect(home.json(result).outcome).toBe("killed");
  expect(home.names("journal")).toEqual([]);
});

test("the journal keeps a run until its record is written, if it is asked to", async () => {
  using home = temporaryHome();
  const { store, warnings } = home;
  const run = runId();
  const children = await openChildren(run, (message) => warnings.push(message), { store, keepJournal: true });
  const record = openRecord(run, { clean: String, redact: String, store });
  await children[Symbol.asyncDispose]();
  expect(home.names("journal")).toEqual([run]);
  await record.end(envelopeOf(run), null);
  children.forget();
  expect(home.names("journal")).toEqual([]);

  const plain = await openChildren(run, (message) => warnings.push(message));
  expect(home.names("journal")).toEqual([run]);
  await plain[Symbol.asyncDispose]();
  expect(home.names("journal")).toEqual([]);
  plain.forget();
  expect(warnings).toEqual([]);
});

test("a run is not forgotten before it is proved that nothing is left", async () => {
  using home = temporaryHome();
  const run = runId();
  await using children = await openChildren(run, () => undefined, { store: home.store, keepJournal: true });
  children.forget();
  expect(home.names("journal")).toEqual([run]);
});

test("a home that cannot be written is one warning for journal, record and audit together", async () => {
  using home = temporaryHome({ journal: "a file", runs: "a file", audit: "a file", "history.db": "rubbish" });
  const { store, warnings } = home;
  const run = runId();
  const children = await openChildren(run, (message) => warnings.push(message), { store, keepJournal: true });
  const record = openRecord(run, { clean: String, redact: String, store });
  record.event({ type: "turn", turn: 1 });
  await children[Symbol.asyncDispose]();
  await record.end(envelopeOf(run), null);
  children.forget();
  expect(warnings).toEqual([
    expect.stringMatching(/\(ENOTDIR\): this run leaves no record, and only the guardian could/),
  ]);
});
