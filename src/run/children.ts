// The children of a run, and what stands behind them: what a killed omega left is ended first, and this run is noted in the
// journal before it starts anything. Where there can be no journal the run goes on, with a warning.

import { type Children, type Journal, openChildren as open, type Warn } from "../processes/children.ts";
import { openJournal } from "../records/journal.ts";
import { type Leftover, sweepDeadRuns } from "../records/leftovers.ts";
import { openStore, type Store } from "../records/store.ts";

const NO_JOURNAL = "only the guardian could clean up if this omega is killed";

/**
 * A run that leaves a record keeps its entry in the journal until `forget`: if omega dies before the record is whole, the
 * next one tells its end. Without a record the entry goes with the children.
 */
export type RunChildren = Children & {
  /** Once the record is written. The entry stays where something is left alive. */
  forget(): void;
};

export type ChildrenOptions = { store?: Store; keepJournal?: boolean };

export async function openChildren(
  run: string,
  warn: Warn,
  { store = openStore(warn), keepJournal = false }: ChildrenOptions = {},
): Promise<RunChildren> {
  const loss = keepJournal ? `this run leaves no record, and ${NO_JOURNAL}` : NO_JOURNAL;
  await sweepBefore(warn).catch((error: unknown) => store.fail(error, loss));
  const entry = store.attempt(() => openJournal(run), loss);
  let isProven = false;
  const journal: Journal = {
    note(group) {
      // Even where nothing else is written any more: what is noted can be found.
      try {
        entry?.note(group);
      } catch (error) {
        store.fail(error, loss);
      }
    },
    close() {
      isProven = true;
      if (!keepJournal) entry?.close();
    },
  };
  return {
    ...open(run, journal, warn),
    forget() {
      if (!isProven) return;
      try {
        entry?.close();
      } catch (error) {
        warn(`could not remove the journal of this run: ${error}`);
      }
    },
  };
}

async function sweepBefore(warn: Warn): Promise<void> {
  for (const leftover of await sweepDeadRuns()) tellSwept(leftover, warn);
}

function tellSwept({ run, killed, survivors }: Leftover, warn: Warn): void {
  if (killed + survivors.length === 0) return;
  const left = survivors.length > 0 ? `; could not end ${survivors.join(", ")}` : "";
  warn(`swept what run ${run} had left: ${killed} ${killed === 1 ? "process" : "processes"}${left}`);
}
