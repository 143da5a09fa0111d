// The children of a run, and what stands behind them: what a killed omega left is ended first, and this run is noted in the
// journal before it starts anything. Where there can be no journal the run goes on, with a warning.

import { type Children, type Journal, openChildren as open, type Warn } from "../processes/children.ts";
import { openJournal } from "../records/journal.ts";
import { type Leftover, sweepDeadRuns } from "../records/leftovers.ts";

const noJournal: Journal = { note: () => undefined, close: () => undefined };

export async function openChildren(run: string, warn: Warn): Promise<Children> {
  try {
    for (const leftover of await sweepDeadRuns()) tellSwept(leftover, warn);
    return open(run, openJournal(run), warn);
  } catch (error) {
    warn(`no journal (${error}): only its guardian could clean up after this omega; give OMEGA_HOME a writable folder`);
    return open(run, noJournal, warn);
  }
}

function tellSwept({ run, killed, survivors }: Leftover, warn: Warn): void {
  if (killed + survivors.length === 0) return;
  const left = survivors.length > 0 ? `; could not end ${survivors.join(", ")}` : "";
  warn(`swept what run ${run} had left: ${killed} ${killed === 1 ? "process" : "processes"}${left}`);
}
