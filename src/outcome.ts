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
