// What a run may still spend: turns, tokens, money, calls. One budget holds for a run and all it leads to; a sub-agent's lies
// within it and leaves enough for those above. Before a limit ends a run, enough is left for one last turn, to report.

import type { Usage } from "../conversation.ts";
import { type ErrorCode, OmegaError } from "../errors.ts";

/** The longest report, in tokens; of a small limit a fifth. */
const REPORT_TOKENS = 2_000;
const REPORT_SHARE = 1 / 5;
/** Every model's answer may be this long: only below it a request says how long it may be. */
const SHORT_ANSWER = 4_096;

export type Limits = {
  turns?: number | undefined;
  tokens?: number | undefined;
  toolCalls?: number | undefined;
  /** US dollars, and which of the manifest's limits they are. */
  cost?: { dollars: number; code: "LIMIT_COST" | "LIMIT_DAY" } | undefined;
};

/** Whether a turn may be like any other, must be the last, or cannot be had. */
export type Room = { turn: "normal" | "last" | "none"; reason?: OmegaError; maxTokens?: number };

export type Budget = {
  /** `tokens`: what the next request will cost, about; `level`: how many conversations above want a last turn too. */
  room(tokens: number, level?: number): Room;
  beginTurn(): void;
  spend(usage: Usage, cost: number | null): void;
  /** Why one more call must not be made. */
  call(): OmegaError | undefined;
};

export function openBudget(limits: Limits, outer?: Budget): Budget {
  let turns = 0;
  let tokens = 0;
  let calls = 0;
  let cost = 0;
  let lastCost = 0;

  function* rooms(next: number, level: number): Generator<Room> {
    yield { turn: "normal" };
    if (limits.turns !== undefined) yield roomForTurns(limits.turns, turns, level);
    if (limits.tokens !== undefined) yield roomForTokens(limits.tokens, tokens, next, level);
    if (limits.cost !== undefined) yield roomForCost(limits.cost, cost, lastCost, level);
    if (outer) yield outer.room(next, level + 1);
  }

  return {
    room: (next, level = 0) => [...rooms(next, level)].reduce(tighter),
    beginTurn() {
      turns++;
      outer?.beginTurn();
    },
    spend(usage, price) {
      tokens += totalOf(usage);
      lastCost = price ?? lastCost;
      cost += lastCost;
      outer?.spend(usage, price);
    },
    call() {
      calls++;
      if (limits.toolCalls !== undefined && calls > limits.toolCalls)
        return reached("LIMIT_CALLS", `${limits.toolCalls} tool calls`, "toolCalls");
      return outer?.call();
    },
  };
}

export function totalOf({ input, output, cacheRead, cacheWrite }: Usage): number {
  return input + output + cacheRead + cacheWrite;
}

function roomForTurns(limit: number, turns: number, level: number): Room {
  const left = limit - turns - level;
  // The only turn there is must be of use.
  if (left > 1 || (left === 1 && turns === 0)) return { turn: "normal" };
  return { turn: left === 1 ? "last" : "none", reason: reached("LIMIT_TURNS", `${limit} turns`, "turns") };
}

function roomForTokens(limit: number, tokens: number, next: number, level: number): Room {
  const report = Math.min(REPORT_TOKENS, limit * REPORT_SHARE);
  const left = limit - tokens;
  const afterReports = left - (level + 1) * (next + report);
  const isFirst = tokens === 0 && level === 0;
  const spare = isFirst ? left - next : afterReports - next;
  if (spare > 0) return { turn: "normal", ...(spare < SHORT_ANSWER && { maxTokens: Math.floor(spare) }) };
  const reason = reached("LIMIT_TOKENS", `${limit} tokens`, "tokens");
  return afterReports >= 0 ? { turn: "last", reason, maxTokens: Math.floor(report) } : { turn: "none", reason };
}

function roomForCost({ dollars, code }: NonNullable<Limits["cost"]>, cost: number, last: number, level: number): Room {
  const left = dollars - cost - level * last;
  if (left > 0 && left >= 2 * last) return { turn: "normal" };
  const reason =
    code === "LIMIT_COST"
      ? reached(code, `${dollars} US dollars`, "cost")
      : new OmegaError(code, `what limits.costPerDay leaves of the day, ${dollars.toFixed(4)} US dollars, is spent`, {
          hint: "raise limits.costPerDay, or wait for tomorrow",
        });
  return { turn: left > 0 && left >= last ? "last" : "none", reason };
}

const tightness = ["normal", "last", "none"];

function tighter(a: Room, b: Room): Room {
  const [loose, tight] = tightness.indexOf(b.turn) > tightness.indexOf(a.turn) ? [a, b] : [b, a];
  const maxTokens = Math.min(a.maxTokens ?? Number.POSITIVE_INFINITY, b.maxTokens ?? Number.POSITIVE_INFINITY);
  return Number.isFinite(maxTokens) ? { ...loose, ...tight, maxTokens } : { ...loose, ...tight };
}

function reached(code: ErrorCode, what: string, field: string): OmegaError {
  return new OmegaError(code, `the limit of ${what} was reached`, {
    hint: `raise limits.${field} if the work needs more`,
  });
}

export const reportTokens = REPORT_TOKENS;
