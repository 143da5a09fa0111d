// What a run leaves: one envelope that says how it went. Filled while the run goes, written once at its end.

import { noUsage, type Usage } from "../conversation.ts";
import type { OmegaError } from "../errors.ts";
import type { Checked } from "../events.ts";
import { exitCodeOf, type Outcome, outweighs } from "../outcome.ts";
import type { Denial } from "../permissions/permits.ts";
import type { ChildrenSummary } from "../processes/children.ts";
import type { ServerState } from "../servers/connection.ts";
import type { RunDeck } from "./deck.ts";

export type Tally = {
  run: string;
  startedAt: string;
  skill: string | null;
  model: string | null;
  text: string | null;
  output: unknown;
  isNothingToDo: boolean;
  usage: Usage;
  /** US dollars; null as soon as one answer has no known price. */
  cost: number | null;
  /** Model requests, those of sub-agents included. */
  turns: number;
  toolCalls: number;
  denials: readonly Denial[];
  undecided: string[];
  checks: Checked[];
  warnings: string[];
  servers: Map<string, ServerState>;
  children: () => ChildrenSummary;
  /** When the work began: everything was in order, and servers were to be started. */
  begunAt: string | undefined;
  record: () => string | null;
  deck: RunDeck | undefined;
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
    output: null,
    isNothingToDo: false,
    usage: noUsage,
    cost: 0,
    turns: 0,
    toolCalls: 0,
    denials: [],
    undecided: [],
    checks: [],
    warnings: [],
    servers: new Map(),
    children: () => ({ started: 0, exited: 0, killed: 0, survivors: [], unseen: 0 }),
    begunAt: undefined,
    record: () => null,
    deck: undefined,
    error: undefined,
  };
}

/** If several hold, one is the outcome; of two of one weight the first. */
export function graver(a: OmegaError | undefined, b: OmegaError | undefined): OmegaError | undefined {
  if (!a || !b) return a ?? b;
  return outweighs(b.outcome, a.outcome) ? b : a;
}

export type Envelope = ReturnType<typeof envelope>;

export function envelope({ error, servers, children, record, deck: _, ...tally }: Tally) {
  const outcome: Outcome = error?.outcome ?? (tally.isNothingToDo ? "nothing-to-do" : "done");
  const endedAt = new Date().toISOString();
  const { turns, toolCalls, begunAt } = tally;
  const how = { outcome, code: error?.word ?? null, reason: error?.message ?? null };
  return {
    version: 1,
    run: tally.run,
    skill: tally.skill,
    model: tally.model,
    outcome,
    exitCode: exitCodeOf(outcome, error?.signal),
    code: how.code,
    reason: how.reason,
    hint: error?.hint ?? null,
    retryable: outcome === "unavailable",
    retryAfterMs: error?.retryAfterMs ?? null,
    text: tally.text,
    output: tally.output,
    usage: tally.usage,
    cost: tally.cost,
    turns,
    toolCalls,
    attempts: begunAt === undefined ? [] : [{ ...how, turns, toolCalls, startedAt: begunAt, endedAt }],
    denials: tally.denials,
    undecided: tally.undecided,
    checks: tally.checks,
    servers: [...servers.values()],
    children: children(),
    hooks: [],
    warnings: tally.warnings,
    startedAt: tally.startedAt,
    endedAt,
    record: record(),
  };
}
