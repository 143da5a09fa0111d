// Ends what is left of a run: its process groups, and on Linux every process that carries its cookie, in whatever session or
// group it hides. "Gone" means no such process, or a zombie. It never touches omega itself.

import { systemCode } from "../errors.ts";
import { COOKIE } from "./environment.ts";
import { carries, listProcesses } from "./proc.ts";

/** How often, and how long apart, the sweep looks again for what forked while it was looking. */
const ROUNDS = 20;
const PAUSE_MS = 50;

export type Sweep = {
  /** Pids that were still alive when the sweep gave up. */
  survivors: number[];
  /** Processes whose environment we may not read. */
  unseen: number;
  killed: number;
};

export async function sweep(run: string, groups: readonly number[]): Promise<Sweep> {
  const killed = new Set<number>();
  for (const group of groups) signalGroup(group, "SIGKILL");
  for (let round = 0; ; round++) {
    const { alive, unseen } = findAlive(run, groups);
    if (alive.length === 0 || round === ROUNDS) return { survivors: alive, unseen, killed: killed.size };
    for (const pid of alive) {
      killed.add(pid);
      signal(pid, "SIGKILL");
    }
    await new Promise((resolve) => setTimeout(resolve, round === 0 ? 1 : PAUSE_MS));
  }
}

function findAlive(run: string, groups: readonly number[]): { alive: number[]; unseen: number } {
  const alive: number[] = [];
  let unseen = 0;
  for (const { pid, isZombie, group } of listProcesses()) {
    if (isZombie || pid === process.pid) continue;
    const ours = groups.includes(group) || carries(pid, `${COOKIE}=${run}`);
    if (ours === "unseen") unseen++;
    else if (ours) alive.push(pid);
  }
  return { alive, unseen };
}

/** Only for the group of a child that was started detached: its pid is its group. */
export function signalGroup(leader: number, name: NodeJS.Signals): void {
  signal(-leader, name);
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
