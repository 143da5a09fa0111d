// The children of a run, and what stands behind them: what a killed omega left is ended first, and this run is noted in the
// journal before it starts anything. Where there can be no journal the run goes on, with a warning.

import { type Children, type Journal, openChildren as open } from "../processes/children.ts";
import { openJournal } from "../records/journal.ts";
import { type Leftover, sweepDeadRuns } from "../records/leftovers.ts";

const noJournal: Journal = { note: () => undefined, close: () => undefined };

export async function openChildren(run: string): Promise<Children> {
  try {
    const warnings = (await sweepDeadRuns()).flatMap(tellSwept);
    return open(run, openJournal(run), warnings);
  } catch (error) {
    const warning = `no journal (${error}): only its guardian could clean up after this omega; give OMEGA_HOME a writable folder`;
    return open(run, noJournal, [warning]);
  }
}

function tellSwept({ run, killed, survivors }: Leftover): string[] {
  if (killed + survivors.length === 0) return [];
  const left = survivors.length > 0 ? `; could not end ${survivors.join(", ")}` : "";
  return [`swept what run ${run} had left: ${killed} ${killed === 1 ? "process" : "processes"}${left}`];
}
