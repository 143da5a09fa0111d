// history.db: a row for each run that has ended. What is in the run's folder is the truth; this is the list of it. A later
// schema only ever adds columns, so that two versions of omega can share a home.

import { existsSync } from "node:fs";
import { join } from "node:path";
import type { DatabaseSync, SQLOutputValue } from "node:sqlite";
import { openDatabase } from "./database.ts";
import { omegaHome } from "./home.ts";

const SCHEMA = 1;
const BUSY_MS = 2_000;
const KEPT_DAYS = 365;
const DAY_MS = 86_400_000;

export type RunRow = {
  id: string;
  skill: string | null;
  /** The real path of its manifest. */
  file: string | null;
  model: string | null;
  outcome: string;
  code: string | null;
  reason: string | null;
  exitCode: number | null;
  /** ISO, in UTC, so that they sort as text. */
  startedAt: string;
  endedAt: string;
  turns: number;
  toolCalls: number;
  input: number;
  output: number;
  cacheRead: number;
  cacheWrite: number;
  /** US dollars; null if unknown. */
  cost: number | null;
  record: string | null;
};

/** The first row of a run stays. Forgets what is too old. Throws what the file system or SQLite says. */
export async function addRun(row: RunRow): Promise<void> {
  using db = await open();
  const names = Object.keys(row);
  const values = names.map((name) => `$${name}`);
  db.prepare(`INSERT OR IGNORE INTO runs (${names.join(", ")}) VALUES (${values.join(", ")})`).run(row);
  const oldest = new Date(Date.now() - KEPT_DAYS * DAY_MS).toISOString();
  db.prepare("DELETE FROM runs WHERE startedAt < ?").run(oldest);
}

/** What the runs of this manifest that started since then have cost, as far as it is known. */
export async function spentSince(file: string, sinceIso: string): Promise<number> {
  if (!existsSync(historyFile())) return 0;
  using db = await open();
  const sum = "SELECT total(cost) AS spent FROM runs WHERE file = ? AND startedAt >= ?";
  return Number(db.prepare(sum).get(file, sinceIso)?.["spent"] ?? 0);
}

/** The latest first. */
export async function listRuns(wanted: { limit: number; skill?: string; outcome?: string }): Promise<RunRow[]> {
  if (!existsSync(historyFile())) return [];
  using db = await open();
  const { limit, skill = null, outcome = null } = wanted;
  const select = `SELECT * FROM runs
    WHERE ($skill IS NULL OR skill = $skill) AND ($outcome IS NULL OR outcome = $outcome)
    ORDER BY startedAt DESC, id DESC LIMIT $limit`;
  return db.prepare(select).all({ limit, skill, outcome }).map(toRow);
}

export const historyFile = () => join(omegaHome(), "history.db");

async function open(): Promise<DatabaseSync> {
  const db = await openDatabase(historyFile());
  try {
    db.exec(`PRAGMA busy_timeout = ${BUSY_MS}; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL`);
    if (Number(db.prepare("PRAGMA user_version").get()?.["user_version"]) < SCHEMA) createTable(db);
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

/** Another omega may do it at the same moment. */
function createTable(db: DatabaseSync): void {
  db.exec(`
    BEGIN IMMEDIATE;
    CREATE TABLE IF NOT EXISTS runs (
      id TEXT PRIMARY KEY, skill TEXT, file TEXT, model TEXT,
      outcome TEXT NOT NULL, code TEXT, reason TEXT, exitCode INTEGER,
      startedAt TEXT NOT NULL, endedAt TEXT NOT NULL, turns INTEGER NOT NULL, toolCalls INTEGER NOT NULL,
      input INTEGER NOT NULL, output INTEGER NOT NULL, cacheRead INTEGER NOT NULL, cacheWrite INTEGER NOT NULL,
      cost REAL, record TEXT
    );
    CREATE INDEX IF NOT EXISTS runsByStart ON runs (startedAt);
    CREATE INDEX IF NOT EXISTS runsByFile ON runs (file, startedAt);
    PRAGMA user_version = ${SCHEMA};
    COMMIT`);
}

function toRow(values: Record<string, SQLOutputValue>): RunRow {
  const text = (name: keyof RunRow) => (typeof values[name] === "string" ? values[name] : null);
  const number = (name: keyof RunRow) => (typeof values[name] === "number" ? values[name] : null);
  return {
    id: text("id") ?? "",
    skill: text("skill"),
    file: text("file"),
    model: text("model"),
    outcome: text("outcome") ?? "",
    code: text("code"),
    reason: text("reason"),
    exitCode: number("exitCode"),
    startedAt: text("startedAt") ?? "",
    endedAt: text("endedAt") ?? "",
    turns: number("turns") ?? 0,
    toolCalls: number("toolCalls") ?? 0,
    input: number("input") ?? 0,
    output: number("output") ?? 0,
    cacheRead: number("cacheRead") ?? 0,
    cacheWrite: number("cacheWrite") ?? 0,
    cost: number("cost"),
    record: text("record"),
  };
}
