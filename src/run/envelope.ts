// What a run leaves: one envelope that says how it went. Filled while the run goes, written once at its end.

import { noUsage, type Usage } from "../conversation.ts";
import type { OmegaError } from "../errors.ts";
import { exitCodeOf, type Outcome } from "../outcome.ts";
import type { ChildrenSummary } from "../processes/children.ts";
import type { ServerState } from "../servers/connection.ts";

export type Tally = {
  run: string;
  startedAt: string;
  skill: string | null;
  model: string | null;
  text: string | null;
  usage: Usage;
  /** US dollars; null as soon as one answer has no known price. */
  cost: number | null;
  turns: number;
  toolCalls: number;
  undecided: string[];
  warnings: string[];
  /** Warnings that came while no event was due; told with the next one. */
  untold: string[];
  servers: Map<string, ServerState>;
  children: () => ChildrenSummary;
  /** A required server died or hung, and calls were lost. */
  loss: () => OmegaError | undefined;
  error: OmegaError | undefined;
};

/** Sorts by time, and is unique. */
export function newRunId(startedAt: string): string {
  return `${startedAt.slice(0, 19).replace(/[-:]/g, "").replace("T", "-")}-${randomWord()}`;
}

/** Eight hexadecimal digits, by the global `crypto`: to load `node:crypto` takes milliseconds. */
export function randomWord(): string {
  return Buffer.from(crypto.getRandomValues(new Uint8Array(4))).toString("hex");
}

export function emptyTally(): Tally {
  const startedAt = new Date().toISOString();
  return {
    run: newRunId(startedAt),
    startedAt,
    skill: null,
    model: null,
    text: null,
    usage: noUsage,
    cost: 0,
    turns: 0,
    toolCalls: 0,
    undecided: [],
    warnings: [],
    untold: [],
    servers: new Map(),
    children: () => ({ started: 0, exited: 0, killed: 0, survivors: [], unseen: 0 }),
    loss: () => undefined,
    error: undefined,
  };
}

const gravity: readonly Outcome[] = ["server-failed", "limit", "storage", "internal", "interrupted"];

/** If several hold, one is the outcome. Those that `gravity` does not name weigh less than all it does. */
export function graver(a: OmegaError | undefined, b: OmegaError | undefined): OmegaError | undefined {
  if (!a || !b) return a ?? b;
  return gravity.indexOf(b.outcome) > gravity.indexOf(a.outcome) ? b : a;
}

export type Envelope = ReturnType<typeof envelope>;

export function envelope({ error, servers, children, ...tally }: Tally) {
  const outcome: Outcome = error?.outcome ?? "done";
  return {
    version: 1,
    run: tally.run,
    skill: tally.skill,
    model: tally.model,
    outcome,
    exitCode: exitCodeOf(outcome, error?.signal),
    code: error?.word ?? null,
    reason: error?.message ?? null,
    hint: error?.hint ?? null,
    retryable: outcome === "unavailable",
    retryAfterMs: error?.retryAfterMs ?? null,
    text: tally.text,
    usage: tally.usage,
    cost: tally.cost,
    turns: tally.turns,
    toolCalls: tally.toolCalls,
    undecided: tally.undecided,
    servers: [...servers.values()],
    children: children(),
    warnings: tally.warnings,
    startedAt: tally.startedAt,
    endedAt: new Date().toISOString(),
  };
}
