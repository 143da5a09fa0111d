// The list of runs, and what becomes of it when its file is broken or busy.

import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { addRun, listRuns, spentSince } from "../../src/records/history.ts";
import { openRecord } from "../../src/records/record.ts";
import { rowOf } from "../../src/records/result.ts";
import { envelopeOf, runId, temporaryHome } from "../support/homes.ts";

const clean = (text: string) => text;
const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString();

async function add(more: {
  file?: string;
  startedAt?: string;
  cost?: number | null;
  outcome?: string;
  skill?: string;
}) {
  const { file = "/a/skill.yaml", ...rest } = more;
  const run = runId();
  const row = rowOf(envelopeOf(run, { startedAt: daysAgo(0), ...rest }), { file, record: "/r" });
  await addRun(row);
  return run;
}

test("what the runs of a manifest have cost since then is summed, unknown costs aside", async () => {
  using home = temporaryHome();
  await add({ startedAt: daysAgo(3), cost: 8 });
  await add({ startedAt: daysAgo(1), cost: 0.5 });
  await add({ startedAt: daysAgo(1), cost: null });
  await add({ startedAt: daysAgo(0), cost: 0.25 });
  await add({ startedAt: daysAgo(0), cost: 4, file: "/b/skill.yaml" });
  expect(await spentSince("/a/skill.yaml", daysAgo(2))).toBe(0.75);
  expect(await spentSince("/c/skill.yaml", daysAgo(2))).toBe(0);
  expect(home.modes().filter(({ isFolder, mode }) => !isFolder && mode !== 0o600)).toEqual([]);
});

test("runs are listed from the latest, by skill and outcome if wanted", async () => {
  using _ = temporaryHome();
  const old = await add({ startedAt: daysAgo(2), skill: "one" });
  const bad = await add({ startedAt: daysAgo(1), skill: "one", outcome: "failed" });
  const other = await add({ skill: "two" });
  const ids = async (wanted: Parameters<typeof listRuns>[0]) => (await listRuns(wanted)).map(({ id }) => id);
  expect(await ids({ limit: 10 })).toEqual([other, bad, old]);
  expect(await ids({ limit: 2 })).toEqual([other, bad]);
  expect(await ids({ limit: 10, skill: "one" })).toEqual([bad, old]);
  expect(await ids({ limit: 10, skill: "one", outcome: "failed" })).toEqual([bad]);
});

test("rows of more than a year are forgotten", async () => {
  using _ = temporaryHome();
  await add({ startedAt: daysAgo(366) });
  const kept = await add({ startedAt: daysAgo(364) });
  expect((await listRuns({ limit: 10 })).map(({ id }) => id)).toEqual([kept]);
});

test("the first row of a run stays", async () => {
  using _ = temporaryHome();
  const row = rowOf(envelopeOf(runId(), { startedAt: daysAgo(0) }), { file: null, record: "/r" });
  await addRun(row);
  await addRun({ ...row, outcome: "killed" });
  expect(await listRuns({ limit: 10 })).toMatchObject([{ outcome: "done" }]);
});

test("to look at a home that has no history does not make one", async () => {
  using home = temporaryHome();
  expect(await listRuns({ limit: 10 })).toEqual([]);
  expect(await spentSince("/a", daysAgo(1))).toBe(0);
  expect(existsSync(home.path)).toBe(false);
});

test("with a broken history the record is whole, and there is one warning", async () => {
  using home = temporaryHome({ "history.db": "this is no database ".repeat(1_000) });
  const run = runId();
  const record = openRecord(run, { clean, redact: clean, store: home.store });
  await record.end(envelopeOf(run), null);
  expect(record.folder()).toBe(home.file(`runs/${run}`));
  expect(home.json(`runs/${run}/result.json`).outcome).toBe("done");
  expect(home.warnings).toEqual([expect.stringMatching(/history\.db \(file is not a database\): .* not listed/)]);
});

test("with a history that another holds for ever the run ends, with one warning", async () => {
  using home = temporaryHome();
  await add({});
  using other = new DatabaseSync(home.file("history.db"));
  other.exec("BEGIN IMMEDIATE");
  const run = runId();
  const record = openRecord(run, { clean, redact: clean, store: home.store });
  await record.end(envelopeOf(run), null);
  expect(home.json(`runs/${run}/result.json`).outcome).toBe("done");
  expect(home.warnings).toEqual([expect.stringContaining("database is locked")]);
});

test("the history of a later omega, which has more columns, is read and written", async () => {
  using home = temporaryHome();
  await add({});
  using later = new DatabaseSync(home.file("history.db"));
  later.exec("ALTER TABLE runs ADD COLUMN mood TEXT; PRAGMA user_version = 7");
  await add({});
  expect(await listRuns({ limit: 10 })).toHaveLength(2);
  expect(later.prepare("PRAGMA user_version").get()).toEqual({ user_version: 7 });
});
