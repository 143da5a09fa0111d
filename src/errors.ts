// What only a person can mend is an OmegaError. What the model can mend is a ToolResult with isError (conversation.ts).

import type { Outcome, Signal } from "./outcome.ts";

/** Every code, the outcome it leads to, and the envelope's `code`. */
const codes = {
  /** The command line names something that does not exist, or lacks something. */
  USAGE: ["invalid", "usage"],
  /** The manifest cannot be read or is not a skill. */
  MANIFEST_INVALID: ["invalid", "manifest"],
  /** An input is missing, unknown or of the wrong type. */
  INPUT_INVALID: ["invalid", "input"],
  /** No such provider, or the name of the model is not `provider/name`. */
  MODEL_UNKNOWN: ["invalid", "model"],
  /** The provider needs a key and none is set. */
  MODEL_KEY_MISSING: ["invalid", "key"],
  /** A server did not start, or did not answer while starting. */
  SERVER_START_FAILED: ["server-failed", "start"],
  /** A server is up but lacks a tool that the skill names. */
  SERVER_TOOL_MISSING: ["server-failed", "tool"],
  /** A server did not answer a request in its time. */
  SERVER_TIMEOUT: ["server-failed", "timeout"],
  /** A server ended, or closed its output, while it was needed. */
  SERVER_DIED: ["server-failed", "died"],
  /** A server stopped answering, even to a ping, and was ended. */
  SERVER_HUNG: ["server-failed", "hung"],
  /** A server sent a message larger than its limit. */
  SERVER_MESSAGE: ["server-failed", "message"],
  /** A server answered what a person asked for with an error. */
  SERVER_REFUSED: ["failed", "refused"],
  /** A tool that the work needs is not allowed, and nobody can be asked. */
  TOOLS_UNDECIDED: ["denied", "undecided"],
  /** The model went on asking for what it was refused. */
  TOOLS_REFUSED: ["denied", "refused"],
  /** A rule of the manifest denies what a person asked for. */
  CALL_DENIED: ["denied", "rule"],
  /** The provider refused for good: key, name or request. */
  MODEL_REJECTED: ["model-failed", "rejected"],
  /** Rate limit, overload or network trouble at the provider. */
  MODEL_UNAVAILABLE: ["unavailable", "model"],
  /** The model declined to answer. */
  MODEL_REFUSED: ["failed", "refused"],
  /** The model's answer was cut at its length limit. */
  MODEL_TRUNCATED: ["failed", "truncated"],
  /** The model ended without a word. */
  ANSWER_EMPTY: ["failed", "empty"],
  /** The model says that it cannot do the work. */
  BLOCKED: ["failed", "blocked"],
  /** A check of `expect` did not hold. */
  CHECK_FAILED: ["failed", "check"],
  /** The answer does not fit the manifest's schema. */
  OUTPUT_SCHEMA: ["failed", "schema"],
  /** The answer could not be written to its file, or to stdout. */
  OUTPUT_FILE: ["failed", "output-file"],
  /** A cassette cannot be read, or is none. */
  CASSETTE_INVALID: ["invalid", "cassette"],
  /** The run left the script of the replay model, or departs from its cassette. */
  DIVERGED: ["failed", "diverged"],
  /** The tools are more than the provider takes. */
  TOOLS_TOO_MANY: ["invalid", "tools"],
  /** The conversation is longer than the model's context. */
  LIMIT_CONTEXT: ["limit", "context"],
  LIMIT_TURNS: ["limit", "turns"],
  LIMIT_TIME: ["limit", "time"],
  LIMIT_TOKENS: ["limit", "tokens"],
  LIMIT_COST: ["limit", "cost"],
  /** `costPerDay`: this run and the earlier ones of the day. */
  LIMIT_DAY: ["limit", "day"],
  LIMIT_CALLS: ["limit", "calls"],
  /** The same call again and again. */
  LIMIT_REPEAT: ["limit", "repeat"],
  /** A limit of cost for a model whose price nobody knows. */
  PRICE_MISSING: ["invalid", "price"],
  /** The manifest asks for what needs a place to write, and there is none. */
  HOME_NEEDED: ["invalid", "home"],
  /** Another run of this skill is on: this one was not wanted. */
  OVERLAP_SKIPPED: ["skipped", "overlap"],
  /** Another run of this skill is on, and two must not be. */
  OVERLAP: ["unavailable", "overlap"],
  /** `audit: required`, and a line of it could not be written. */
  STORAGE_AUDIT: ["storage", "audit"],
  /** A signal reached omega. */
  INTERRUPTED: ["interrupted", "signal"],
  /** A bug of ours. */
  INTERNAL: ["internal", "bug"],
} as const satisfies Record<string, readonly [Outcome, string]>;

export type ErrorCode = keyof typeof codes;

export const isErrorCode = (code: string): code is ErrorCode => Object.hasOwn(codes, code);

export type ErrorDetails = { hint?: string; cause?: unknown; signal?: Signal; retryAfterMs?: number };

export class OmegaError extends Error {
  override readonly name = "OmegaError";
  readonly code: ErrorCode;
  readonly hint: string | undefined;
  readonly signal: Signal | undefined;
  readonly retryAfterMs: number | undefined;

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    super(message, { cause: details.cause });
    this.code = code;
    this.hint = details.hint;
    this.signal = details.signal;
    this.retryAfterMs = details.retryAfterMs;
  }

  get outcome(): Outcome {
    return codes[this.code][0];
  }

  /** The envelope's `code`: a word from a closed list. */
  get word(): string {
    return codes[this.code][1];
  }
}

/** A foreign error that reached the top is a bug of ours, unless it is already an OmegaError. */
export function asOmegaError(error: unknown): OmegaError {
  if (error instanceof OmegaError) return error;
  const message = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  return new OmegaError("INTERNAL", `unexpected ${message}`, {
    hint: "this is a bug in omega; run again with -v for the stack and report it",
    cause: error,
  });
}

/** The system's word for a failed call (ENOENT, EACCES, …), where there is one. */
export function systemCode(error: unknown): string | undefined {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined;
}
