// What a killed omega has left behind, ended by another: at the next start, by its guardian, or by hand. Two may do it at
// once: each kills what it sees, and the second finds nothing.

import { OmegaError } from "../errors.ts";
import { isAlive, type ProcessId } from "../processes/proc.ts";
import { sweep, type Traces } from "../processes/sweep.ts";
import { deadRuns, type Entry, isOurHost, readEntry, removeEntry } from "./journal.ts";

/** A killed process closes its pipes, which wakes its guardian, a moment before it is gone. */
const DYING_MS = 2_000;

export type Leftover = { run: string; killed: number; survivors: number[]; unseen: number };

export function sweepDeadRuns(): Promise<Leftover[]> {
  return Promise.all(deadRuns().map((entry) => sweepLeft(tracesOf(entry))));
}

/** `isOrphan`: the caller knows that the run's omega is dead or dying, even if the journal knows nothing of it. */
export async function sweepRun(run: string, isOrphan: boolean): Promise<Leftover> {
  const entry = /^[\w-]+$/.test(run) ? readEntry(run) : undefined;
  if (!entry && !isOrphan) {
    throw new OmegaError("USAGE", `the journal has no run ${run}: it ended clean, or was swept already`, {
      hint: "if you know that its omega is dead: --orphan",
    });
  }
  if (!entry) return await sweepLeft({ run, since: 0, noted: [] });
  if (!isOurHost(entry.owner)) throw new OmegaError("USAGE", `run ${run} is not of this machine: ${entry.owner.host}`);
  if (!(await isGoneWithin(entry.owner, isOrphan ? DYING_MS : 0))) {
    throw new OmegaError("USAGE", `run ${run} is alive`, { hint: `to end it: kill ${entry.owner.pid}` });
  }
  return await sweepLeft(tracesOf(entry));
}

const tracesOf = ({ run, owner, groups }: Entry): Traces => ({ run, since: owner.startTime, noted: groups });

async function sweepLeft(traces: Traces): Promise<Leftover> {
  const { killed, survivors, unseen } = await sweep(traces);
  if (survivors.length === 0) removeEntry(traces.run);
  return { run: traces.run, killed: killed.size, survivors, unseen };
}

async function isGoneWithin(owner: ProcessId, ms: number): Promise<boolean> {
  for (const end = Date.now() + ms; isAlive(owner); ) {
    if (Date.now() >= end) return false;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  return true;
}
