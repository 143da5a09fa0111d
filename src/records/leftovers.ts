// What a killed omega has left behind, ended by another, and its end told: at the next start, by its guardian, or by hand.
// Two may do it at once: each kills what it sees, and the second finds nothing.

import { OmegaError, systemCode } from "../errors.ts";
import { isAlive, type ProcessId } from "../processes/proc.ts";
import { type Sweep, sweep } from "../processes/sweep.ts";
import { deadRuns, type Entry, isOfEarlierBoot, isOurHost, readEntry, removeEntry } from "./journal.ts";
import { type Death, writeEnd } from "./killed.ts";

/** A killed process closes its pipes, which wakes its guardian, a moment before it is gone. */
const DYING_MS = 2_000;

const KILLED = "omega itself was killed (SIGKILL, out of memory, or its container was ended): nobody could tell more";
const WENT_DOWN = "the machine went down, or was started anew, while omega ran: nobody could tell more";
const nothing: Sweep = { killed: new Set(), survivors: [], unseen: 0 };

export type Leftover = {
  run: string;
  killed: number;
  survivors: number[];
  unseen: number;
  /** The folder in which its end is told; null if it has none. */
  record: string | null;
  /** Why its end could not be told. */
  trouble: string | null;
};

/** Of a run before this boot nothing is left but its end to tell; it is not among those given back. */
export async function sweepDeadRuns(): Promise<Leftover[]> {
  const leftovers = await Promise.all(
    deadRuns().map(async (entry) => {
      const leftover = await bury(entry);
      return isOfEarlierBoot(entry) ? [] : [leftover];
    }),
  );
  return leftovers.flat();
}

/** `isOrphan`: the caller knows that the run's omega is dead or dying, even if the journal knows nothing of it. */
export async function sweepRun(run: string, isOrphan: boolean): Promise<Leftover> {
  const entry = /^[\w-]+$/.test(run) ? readEntry(run) : undefined;
  if (!entry && !isOrphan) {
    throw new OmegaError("USAGE", `the journal has no run ${run}: it ended clean, or was swept already`, {
      hint: "if you know that its omega is dead: --orphan",
    });
  }
  if (!entry) return await bury({ run, owner: undefined, groups: [] });
  if (!isOurHost(entry.owner)) throw new OmegaError("USAGE", `run ${run} is not of this machine: ${entry.owner.host}`);
  if (!(await isGoneWithin(entry.owner, isOrphan ? DYING_MS : 0))) {
    throw new OmegaError("USAGE", `run ${run} is alive`, { hint: `to end it: kill ${entry.owner.pid}` });
  }
  return await bury(entry);
}

/** The journal forgets it once nothing is left alive and its end is told. */
async function bury(entry: Entry | { run: string; owner: undefined; groups: [] }): Promise<Leftover> {
  const { run, owner, groups } = entry;
  const wentDown = owner !== undefined && isOfEarlierBoot(entry);
  const swept = wentDown ? nothing : await sweep({ run, since: owner?.startTime ?? 0, noted: groups });
  const { survivors, unseen } = swept;
  const killed = swept.killed.size;
  const children = { started: groups.length, exited: 0, killed, survivors, unseen };
  const ending = await tellEnd({ run, children, reason: wentDown ? WENT_DOWN : KILLED });
  if (survivors.length === 0 && ending.isTold) removeEntry(run);
  return { run, killed, survivors, unseen, record: ending.record, trouble: ending.trouble };
}

type Ending = { record: string | null; trouble: string | null; isTold: boolean };

async function tellEnd(death: Death): Promise<Ending> {
  try {
    return { record: await writeEnd(death), trouble: null, isTold: true };
  } catch (error) {
    const code = systemCode(error);
    if (code === undefined) throw error;
    // Not of the file system but of the database: without its row the end is told all the same, beside its events.
    return { record: null, trouble: String(error), isTold: code.startsWith("ERR_") };
  }
}

async function isGoneWithin(owner: ProcessId, ms: number): Promise<boolean> {
  for (const end = Date.now() + ms; isAlive(owner); ) {
    if (Date.now() >= end) return false;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  return true;
}
