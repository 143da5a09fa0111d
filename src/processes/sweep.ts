// Ends what is left of a run. Ours is: what carries the run's cookie, in whatever session or group it hides; a process that
// the run has noted; and whoever shares a group with one of these, or a session that a noted process opened. A bare number
// of a group or session proves nothing: it may be somebody else's by now. "Gone" means no such process, or a zombie.

import { systemCode } from "../errors.ts";
import { COOKIE } from "./environment.ts";
import { carries, exists, hasProc, listPids, type Process, type ProcessId, readProcess } from "./proc.ts";

/** How often the sweep looks again for what stays, and how long it waits in between at most: about a second in all. */
const ROUNDS = 25;
const PAUSE_MS = 50;
/** So many looks without a find are enough on a machine where other processes start all the time. */
const QUIET_LOOKS = 3;
const KERNEL_GROUP = 0;

/** What a sweep goes by. Nothing that started before `since` can belong to the run. */
export type Traces = { run: string; since: number; noted: readonly ProcessId[] };

export type Sweep = {
  /** Pids; and, where only groups can be seen, groups as negative numbers. */
  killed: ReadonlySet<number>;
  /** Pids that were still alive when the sweep gave up. */
  survivors: number[];
  /** Processes whose environment we may not read. */
  unseen: number;
};

export async function sweep(traces: Traces): Promise<Sweep> {
  if (!hasProc()) return sweepGroups(traces.noted);
  const killed = new Set<number>();
  const look = lookout(traces);
  const ourGroup = readProcess(process.pid)?.group;
  for (let round = 0, quiet = 0; ; round++) {
    const { ours, unseen, isNew, isUnclear } = look();
    quiet = ours.length === 0 ? quiet + 1 : 0;
    const isStable = quiet > 0 && (!isNew || quiet >= QUIET_LOOKS);
    if (isStable || round === ROUNDS) {
      for (const { pid } of ours) killed.delete(pid);
      return { killed, survivors: ours.map(({ pid }) => pid), unseen };
    }
    for (const { pid, group } of ours) {
      killed.add(pid);
      // The whole group in one stroke, so that none of it can fork away; but never the group we are in.
      signal(group === ourGroup ? pid : -group, "SIGKILL");
    }
    if (ours.length > 0 || isUnclear) await pause(Math.min(2 ** round, PAUSE_MS));
  }
}

/** `isNew`: there was somebody to examine. `isUnclear`: somebody may be ours, but cannot be told yet. */
type Look = { ours: Process[]; unseen: number; isNew: boolean; isUnclear: boolean };

/** Each look examines only whom the looks before it have not cleared. */
function lookout({ run, since, noted }: Traces): () => Look {
  const opened = new Set(noted.map(({ pid }) => pid));
  const cleared = new Set<number>([process.pid]);
  const unseen = new Set<number>();
  const isOurs = ({ pid, startTime }: Process) =>
    noted.some((id) => id.pid === pid && id.startTime === startTime) ||
    (startTime >= since && carries(pid, `${COOKIE}=${run}`));

  return () => {
    const unknown = listPids().filter((pid) => !cleared.has(pid));
    const found = unknown.flatMap((pid) => readProcess(pid) ?? []);
    const living = found.filter(({ isZombie, group }) => !isZombie && group !== KERNEL_GROUP);
    const answers = new Map(living.map((process) => [process.pid, isOurs(process)]));
    const proven = living.filter(({ pid }) => answers.get(pid) === true);
    const groups = new Set(proven.map(({ group }) => group));
    const sessions = new Set(proven.map(({ session }) => session).filter((session) => opened.has(session)));
    const ours = living.filter(({ group, session }) => groups.has(group) || sessions.has(session));
    for (const process of found) {
      const answer = answers.get(process.pid);
      if (ours.includes(process) || answer === "empty") continue;
      if (answer === "unseen") unseen.add(process.pid);
      cleared.add(process.pid);
    }
    const isUnclear = [...answers.values()].includes("empty");
    return { ours, unseen: unseen.size, isNew: unknown.length > 0, isUnclear };
  };
}

/** Without /proc only groups can be found, by a number that is ours as long as the machine has not used it again. */
async function sweepGroups(noted: readonly ProcessId[]): Promise<Sweep> {
  const isLeft = ({ pid }: ProcessId) => exists(-pid);
  const left = noted.filter(isLeft);
  for (const { pid } of left) signal(-pid, "SIGKILL");
  for (let round = 0; left.some(isLeft) && round < ROUNDS; round++) await pause(PAUSE_MS);
  const survivors = left.filter(isLeft).map(({ pid }) => pid);
  const killed = left.filter(({ pid }) => !survivors.includes(pid)).map(({ pid }) => -pid);
  return { killed: new Set(killed), survivors, unseen: 0 };
}

/**
 * Ends what a leader left in its group and session, and says whom. Only right after its exit has been seen: then the number
 * cannot be somebody else's yet.
 */
export function endGroup(leader: number): Process[] {
  return signalGroup(leader, "SIGKILL");
}

/**
 * Signals the group and session of a child that was started detached (its pid is the number of both) and says whom that
 * met. Windows has neither.
 */
export function signalGroup(leader: number, name: NodeJS.Signals): Process[] {
  const members = membersOf(leader);
  signal(process.platform === "win32" ? leader : -leader, name);
  for (const { pid, group } of members) if (group !== leader) signal(pid, name);
  return members;
}

function membersOf(leader: number): Process[] {
  try {
    const found = listPids().flatMap((pid) => readProcess(pid) ?? []);
    return found.filter(({ group, session, isZombie }) => !isZombie && (group === leader || session === leader));
  } catch (error) {
    // Counting must not stand in the way of ending; the sweep that follows tells of what it cannot see.
    if (systemCode(error) === undefined) throw error;
    return [];
  }
}

function signal(target: number, name: NodeJS.Signals): void {
  try {
    process.kill(target, name);
  } catch (error) {
    const code = systemCode(error);
    // ESRCH: already gone. EPERM: not ours to end; the sweep counts what stays.
    if (code !== "ESRCH" && code !== "EPERM") throw error;
  }
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
