// All the children of one run. Whoever opens this owes a dispose: after it, nothing that the run started is alive, or the
// summary says what is.

import { type Child, type Command, startChild } from "./child.ts";
import { childEnvironment, type DeclaredEnvironment } from "./environment.ts";
import { type Sweep, sweep } from "./sweep.ts";

export type ChildrenSummary = {
  started: number;
  /** Left by themselves when their stdin was closed. */
  exited: number;
  /** Had to be signalled, escaped grandchildren included. */
  killed: number;
  survivors: number[];
  unseen: number;
};

export type Children = {
  /** `env` is what the manifest declares; the safe list and the cookie are added here. */
  start(command: Omit<Command, "env"> & { env: DeclaredEnvironment }): Promise<Child>;
  summary(): ChildrenSummary;
  [Symbol.asyncDispose](): Promise<void>;
};

export function openChildren(run: string): Children {
  const children: Child[] = [];
  const leftByThemselves = new Set<Child>();
  let swept: Sweep = { survivors: [], unseen: 0, killed: 0 };

  return {
    async start(command) {
      const env = childEnvironment(process.env, command.env, run);
      const child = await startChild({ ...command, env });
      const { end } = child;
      const tracked: Child = {
        ...child,
        async end(options) {
          const left = await end(options);
          if (left) leftByThemselves.add(tracked);
          return left;
        },
      };
      children.push(tracked);
      return tracked;
    },
    summary: () => ({
      started: children.length,
      exited: leftByThemselves.size,
      killed: children.length - leftByThemselves.size + swept.killed,
      survivors: swept.survivors,
      unseen: swept.unseen,
    }),
    async [Symbol.asyncDispose]() {
      if (children.length > 0) {
        swept = await sweep(
          run,
          children.map((child) => child.pid),
        );
      }
    },
  };
}
