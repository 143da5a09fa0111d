// All the children of one run. Whoever opens this owes a dispose: after it, nothing that the run started is alive, or the
// summary says what is.

import { type Child, type Command, startChild } from "./child.ts";
import { childEnvironment, type DeclaredEnvironment } from "./environment.ts";
import { type Guardian, startGuardian } from "./guardian.ts";
import { exists, type Process, type ProcessId, startTimeOf } from "./proc.ts";
import { endGroup, type Sweep, sweep } from "./sweep.ts";

export type ChildrenSummary = {
  started: number;
  /** Ended by themselves, most of them because their stdin was closed. */
  exited: number;
  /** Had to be signalled; what servers had started included. */
  killed: number;
  survivors: number[];
  unseen: number;
};

/** Where a run notes what it starts, for whoever has to clean up after an omega that was killed. */
export type Journal = { note(group: ProcessId): void; close(): void };

/** Told what could not be done as promised. */
export type Warn = (message: string) => void;

export type Children = {
  /** `env` is what the manifest declares; the safe list and the cookie are added here. */
  start(command: Omit<Command, "env"> & { env: DeclaredEnvironment }): Promise<Child>;
  summary(): ChildrenSummary;
  [Symbol.asyncDispose](): Promise<void>;
};

export function openChildren(run: string, journal: Journal, warn: Warn): Children {
  const starts: Promise<Child>[] = [];
  const children: Child[] = [];
  const noted: ProcessId[] = [];
  const orphans: Process[] = [];
  let guardian: Guardian | undefined;
  let swept: Sweep = { killed: new Set(), survivors: [], unseen: 0 };
  let isOver = false;

  function attempt(what: string, action: () => void): void {
    try {
      action();
    } catch (error) {
      warn(`could not ${what}: ${error}`);
    }
  }

  function note(child: Child): void {
    const group = { pid: child.pid, startTime: startTimeOf(child.pid) };
    children.push(child);
    noted.push(group);
    attempt("note a child in the journal", () => journal.note(group));
    void child.exited.then(() => attempt("end the group of a child", () => orphans.push(...endGroup(child.pid))));
  }

  /** Proves that nothing is left; without the proof the journal stays, and the guardian looks again when we are gone. */
  async function prove(): Promise<void> {
    if (children.length > 0) {
      swept = await sweep({ run, since: startTimeOf(process.pid), noted: [...noted, ...orphans] });
    }
    if (swept.survivors.length === 0) attempt("remove the journal of this run", journal.close);
    await guardian?.goodbye();
  }

  return {
    async start(command) {
      if (isOver) throw new Error("a child was to be started after the end of its run");
      const starting = startChild({ ...command, env: childEnvironment(process.env, command.env, run) });
      starts.push(starting);
      // Beside the first child, which takes longer to start than a shell.
      if (starts.length === 1) attempt("start the guardian", () => (guardian = startGuardian(run)));
      const child = await starting;
      note(child);
      return child;
    },
    summary() {
      const signalled = children.flatMap((child) => [...child.signalled]);
      const killed = new Set([...signalled, ...orphans.map(({ pid }) => pid), ...swept.killed]);
      for (const pid of swept.survivors) killed.delete(pid);
      const exited = children.filter(({ pid, exit }) => exit() !== undefined && !killed.has(pid));
      return {
        started: children.length,
        exited: exited.length,
        killed: killed.size,
        survivors: swept.survivors,
        unseen: swept.unseen,
      };
    },
    async [Symbol.asyncDispose]() {
      isOver = true;
      await Promise.allSettled(starts);
      await prove().catch((error: unknown) => {
        warn(`could not prove that nothing is left: ${error}`);
        swept = { ...swept, survivors: noted.map(({ pid }) => pid).filter(exists), unseen: 1 };
        guardian?.abandon();
      });
    },
  };
}
