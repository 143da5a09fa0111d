// Old records go as new ones come. What is not ours by its name, what is not yet swept and the run itself stay.

import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { systemCode } from "../errors.ts";
import { auditFolder, isRunId, runsFolder } from "./home.ts";
import { hasEntry } from "./journal.ts";

const KEPT_RUNS = 1_000;
const KEPT_RUN_DAYS = 30;
const KEPT_AUDIT_DAYS = 90;
/** The rest waits for the next run: this one wants to end. */
const AT_ONCE = 100;
const DAY_MS = 86_400_000;

export function prune(run: string): void {
  for (const name of tooOldRuns()
    .filter((name) => name !== run && !hasEntry(name))
    .slice(0, AT_ONCE)) {
    remove(join(runsFolder(), name));
  }
  for (const name of tooOldAudits()) remove(join(auditFolder(), name));
}

/** The name begins with its date. */
function tooOldRuns(): string[] {
  const names = namesIn(runsFolder()).filter(isRunId).sort();
  const oldest = daysAgo(KEPT_RUN_DAYS).replaceAll("-", "");
  return names.filter((name, index) => name < oldest || index < names.length - KEPT_RUNS);
}

function tooOldAudits(): string[] {
  const oldest = daysAgo(KEPT_AUDIT_DAYS);
  return namesIn(auditFolder()).filter((name) => /^\d{4}-\d{2}-\d{2}\.jsonl$/.test(name) && name < oldest);
}

const daysAgo = (days: number) => new Date(Date.now() - days * DAY_MS).toISOString().slice(0, 10);

function namesIn(folder: string): string[] {
  return ifPossible(() => readdirSync(folder)) ?? [];
}

function remove(path: string): void {
  ifPossible(() => rmSync(path, { recursive: true, force: true }));
}

/** What cannot be removed costs room and nothing else; the next run tries again. */
function ifPossible<T>(action: () => T): T | undefined {
  try {
    return action();
  } catch (error) {
    if (systemCode(error) === undefined) throw error;
    return undefined;
  }
}
