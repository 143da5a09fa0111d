// What stands around a run while it works: its children, its record, the audit, the tape. Released when the end has been
// told, but for the children: nothing of theirs may be left by then.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Audit, openAudit } from "../records/audit.ts";
import { openRecord, type RunRecord } from "../records/record.ts";
import { noStore, openStore } from "../records/store.ts";
import { plain } from "../terminal.ts";
import { openChildren, type RunChildren } from "./children.ts";
import { openDeck, type RunDeck } from "./deck.ts";
import type { Tally } from "./envelope.ts";
import type { Prepared } from "./prepare.ts";
import type { RunOptions } from "./run.ts";
import type { Watch } from "./watch.ts";

/** Whoever sets it owes the children a dispose. */
export type Stage = { children: RunChildren; record: RunRecord; audit: Audit | undefined; deck: RunDeck };

type Around = { tally: Tally; watch: Watch; over: AsyncDisposableStack; warn(message: string): void };

export async function setStage(
  skill: Prepared,
  { played, leavesRecord = true, onTape }: RunOptions,
  { tally, watch, over, warn }: Around,
): Promise<Stage> {
  const { run } = tally;
  const { redact } = skill.secrets;
  const clean = (text: string) => plain(redact(text));
  const store = leavesRecord ? openStore(warn) : noStore;
  // Nothing that is played acts or reads.
  const audit = played ? undefined : openAudit(run, { clean, store, required: skill.auditRequired, skill: skill.name });
  if (audit) over.defer(audit.close);
  const children = await openChildren(run, warn, { store, keepJournal: true });
  // After the record is written.
  over.defer(children.forget);
  tally.children = children.summary;
  const place = leavesRecord ? { store } : { store: openStore(warn), unlisted: temporaryFolder(over) };
  const record = openRecord(run, { clean, redact, ...place, isPlayed: played !== undefined });
  tally.record = record.folder;
  watch.keepIn(record);
  const write = (line: string) => {
    record.tape(line);
    onTape?.(line);
  };
  return { children, record, audit, deck: openDeck({ skill, played, redact, write }) };
}

function temporaryFolder(over: AsyncDisposableStack): string {
  const folder = mkdtempSync(join(tmpdir(), "omega-"));
  over.defer(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
