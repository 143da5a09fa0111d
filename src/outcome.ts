// How a run can end: one word, one exit code. Nothing else in omega decides an exit code.

export type Outcome =
  | "done"
  | "nothing-to-do"
  | "skipped"
  | "failed"
  | "invalid"
  | "server-failed"
  | "denied"
  | "limit"
  | "model-failed"
  | "internal"
  | "storage"
  | "unavailable"
  | "interrupted";

/**
 * If several hold, the first of these is the outcome. `invalid`, `skipped` and `nothing-to-do` come alone; `killed` is
 * written by the sweep that finds a dead run.
 */
const precedence: readonly (Outcome | readonly Outcome[])[] = [
  "interrupted",
  "internal",
  "storage",
  "limit",
  "server-failed",
  ["model-failed", "unavailable"],
  "denied",
  "failed",
];

/** Whether `a` is told rather than `b`; of two equals the first to happen stays. */
export function outweighs(a: Outcome, b: Outcome): boolean {
  return weightOf(a) < weightOf(b);
}

function weightOf(outcome: Outcome): number {
  const at = precedence.findIndex((each) => [each].flat().includes(outcome));
  return at === -1 ? precedence.length : at;
}

export type Signal = "SIGHUP" | "SIGINT" | "SIGTERM";

const exitCodes = {
  done: 0,
  "nothing-to-do": 0,
  skipped: 0,
  failed: 1,
  invalid: 2,
  "server-failed": 3,
  denied: 4,
  limit: 5,
  "model-failed": 6,
  internal: 70,
  storage: 74,
  unavailable: 75,
} satisfies Record<Exclude<Outcome, "interrupted">, number>;

const signalExitCodes = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } satisfies Record<Signal, number>;

export function exitCodeOf(outcome: Outcome, signal: Signal = "SIGINT"): number {
  return outcome === "interrupted" ? signalExitCodes[signal] : exitCodes[outcome];
}
