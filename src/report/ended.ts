// A finished run, as far as it is told to people.

import type { Usage } from "../conversation.ts";
import { groundOf } from "../permissions/rules.ts";
import { oneLine } from "../terminal.ts";
import { count } from "./units.ts";

export type Ended = {
  outcome: string;
  exitCode: number;
  reason: string | null;
  hint: string | null;
  turns: number;
  toolCalls: number;
  usage: Usage;
  startedAt: string;
  endedAt: string;
  cost: number | null;
  checks: readonly { ok: boolean }[];
  denials: readonly { tool: string; by: string }[];
  children: { started: number; survivors: number[] };
  record: string | null;
};

/** `2 calls of git/push (by permissions[0])`. */
export function refusals({ denials }: Pick<Ended, "denials">): string[] {
  const counts = new Map<string, number>();
  for (const { tool, by } of denials) {
    const what = `${oneLine(tool, 100)} (${oneLine(groundOf(by), 100)})`;
    counts.set(what, (counts.get(what) ?? 0) + 1);
  }
  return [...counts].map(([what, times]) => `${count(times, "call")} of ${what}`);
}
