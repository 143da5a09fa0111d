// A cassette: one JSON Lines file with the traffic of a run, to be read in a diff and played again. Its first line says what
// it is; then come, in the order in which they were answered, what the model was asked (only what is new of a conversation)
// and what servers were asked, and what servers did of their own; what was seen when the work was checked; and last how the
// run ended. Folders of the machine are written as `{{ workdir }}` and `{{ skill.dir }}`, secrets as ‹NAME›.

import * as v from "valibot";
import { type ErrorCode, isErrorCode, OmegaError } from "../errors.ts";
import { type Folders, namePlaces } from "./places.ts";

export const VERSION = 1;

const Anything = v.unknown();
const count = v.number();
const text = v.string();

/** `given`: the flags that change what a run does. `now`: the local time, where a text of the skill tells it. */
export const Head = v.strictObject({
  omega: v.literal(VERSION),
  skill: text,
  model: text,
  run: text,
  startedAt: text,
  now: v.optional(text),
  folders: v.strictObject({ workdir: text, "skill.dir": text }),
  inputs: v.record(text, Anything),
  words: v.array(text),
  given: v.optional(
    v.strictObject({
      allow: v.optional(v.array(text)),
      deny: v.optional(v.array(text)),
      yes: v.optional(v.boolean()),
      limits: v.optional(v.record(text, v.number())),
    }),
  ),
  /** Somebody could be asked. */
  attended: v.optional(v.boolean()),
  /** US dollars that limits.costPerDay had left. */
  leftOfDay: v.optional(v.number()),
});

const Usage = v.strictObject({ input: count, output: count, cacheRead: count, cacheWrite: count, reasoning: count });
const Answered = v.variant("type", [
  v.strictObject({ type: v.literal("text"), text }),
  v.strictObject({
    type: v.literal("call"),
    call: v.strictObject({ type: v.literal("call"), id: text, name: text, arguments: text }),
  }),
  v.strictObject({ type: v.literal("fallback"), model: text, reason: text }),
  v.strictObject({
    type: v.literal("end"),
    reason: v.picklist(["stop", "tool", "length", "refusal", "pause", "other"]),
    word: v.optional(text),
    usage: Usage,
    cost: v.optional(v.number()),
    cut: v.optional(text),
  }),
]);
/**
 * `turn`: how many answers the conversation has; `messages`: what has come since the last one; `tools`: those offered, where
 * they are not the same as before.
 */
const Ask = v.strictObject({
  agent: v.optional(text),
  turn: count,
  system: v.optional(text),
  tools: v.optional(v.array(text)),
  messages: v.array(Anything),
});
const Failure = v.strictObject({
  code: text,
  message: text,
  hint: v.optional(text),
  retryAfterMs: v.optional(v.number()),
  signal: v.optional(v.picklist(["SIGHUP", "SIGINT", "SIGTERM"])),
});
const ServerError = v.strictObject({ code: count, message: text, data: v.optional(Anything) });

/** By the field that tells a line's kind. */
const kinds = {
  /** `failed` beside an answer: it broke off there. */
  ask: v.strictObject({ ask: Ask, answer: v.optional(v.array(Answered)), failed: v.optional(Failure) }),
  /** `overtook`: so many requests just like it were asked before it, and answered after it. */
  method: v.strictObject({
    server: text,
    method: text,
    params: v.optional(Anything),
    overtook: v.optional(count),
    result: v.optional(Anything),
    error: v.optional(ServerError),
    failed: v.optional(Failure),
  }),
  notify: v.strictObject({ server: text, notify: text, params: v.optional(Anything) }),
  /** It was gone before anybody ended it. */
  lost: v.strictObject({ server: text, lost: Failure }),
  exit: v.strictObject({
    server: text,
    exit: v.strictObject({ code: v.nullable(count), signal: v.nullable(text) }),
  }),
  /** What a person was told who must mend it. */
  hint: v.strictObject({ server: text, hint: text }),
  /** What a person said to a question. */
  reply: v.strictObject({ question: Anything, reply: v.picklist(["once", "run", "no"]) }),
  check: v.strictObject({ check: text, ok: v.boolean(), found: text }),
  end: v.strictObject({
    end: v.strictObject({
      outcome: text,
      code: v.nullable(text),
      text: v.nullable(text),
      output: v.optional(Anything),
      turns: count,
      toolCalls: count,
      usage: Usage,
    }),
  }),
};

type Kinds = typeof kinds;
export type Kind = keyof Kinds;
export type LineOf<K extends Kind> = v.InferOutput<Kinds[K]>;
export type Head = v.InferOutput<typeof Head>;
export type Line = Head | { [K in Kind]: LineOf<K> }[Kind];
export type Ask = v.InferOutput<typeof Ask>;
export type Failure = v.InferOutput<typeof Failure>;
export type End = LineOf<"end">["end"];

/** A line, and where it stands in the file. */
export type Placed<K extends Kind> = { line: number; value: LineOf<K> };

export type Tape = {
  /** As it is named in messages. */
  file: string;
  head: Head;
  lines: { [K in Kind]: Placed<K>[] };
  end: Placed<"end"> | undefined;
  /** The lines of the file, from the first. */
  source: readonly string[];
};

/** `folders`: what its names stand for, if not for the folders of then. */
export function parseTape(text: string, file: string, folders: Partial<Folders> = {}): Tape {
  const fail: Fail = (line, message) => new OmegaError("CASSETTE_INVALID", `${file}:${line}: ${message}`);
  const source = text.split("\n");
  const filled = source.flatMap((text, index) => (text.trim() === "" ? [] : [{ text, line: index + 1 }]));
  const [first, ...rest] = filled;
  if (!first) throw new OmegaError("CASSETTE_INVALID", `${file} is empty: the run ended before anything was asked`);
  const named = parseHead(first.text, first.line, fail);
  const { show } = namePlaces({ ...named.folders, ...folders });
  const head = { ...parseHead(show(first.text), first.line, fail), folders: named.folders };
  const lines: Tape["lines"] = {
    ...{ ask: [], method: [], notify: [], lost: [], exit: [], hint: [], reply: [], check: [], end: [] },
  };
  // A killed omega may leave half a line.
  const isTorn = (line: number) => line === source.length && line === filled.at(-1)?.line;
  for (const { text, line } of rest) {
    if (lines.end.length > 0) throw fail(line, "something follows the end");
    const value = parseJson(show(text));
    if (value === undefined && isTorn(line)) break;
    if (value === undefined) throw fail(line, "not a line of JSON");
    add(lines, value, line, fail);
  }
  return { file, head, lines, end: lines.end[0], source };
}

export function toError({ code, message, ...details }: Failure): OmegaError {
  const { hint, retryAfterMs, signal } = details;
  const known: ErrorCode = isErrorCode(code) ? code : "INTERNAL";
  return new OmegaError(known, message, {
    ...(hint !== undefined && { hint }),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
    ...(signal !== undefined && { signal }),
  });
}

type Fail = (line: number, message: string) => OmegaError;

function parseHead(text: string, line: number, fail: Fail): Head {
  const value = parseJson(text);
  const version = v.safeParse(v.looseObject({ omega: v.number() }), value);
  if (!version.success) throw fail(line, "not a cassette: its first line does not say what it is");
  if (version.output.omega !== VERSION) {
    throw fail(line, `a cassette of version ${version.output.omega}; this omega plays version ${VERSION}`);
  }
  return parse(Head, value, line, fail);
}

function add(lines: Tape["lines"], value: unknown, line: number, fail: Fail): void {
  const isOf = (kind: string) => typeof value === "object" && value !== null && Object.hasOwn(value, kind);
  const place = <K extends Kind>(kind: K) => {
    const list: { line: number; value: v.InferOutput<Kinds[K]> }[] = lines[kind];
    list.push({ line, value: parse<Kinds[K]>(kinds[kind], value, line, fail) });
  };
  const kind = (Object.keys(kinds) as Kind[]).find(isOf);
  if (!kind) throw fail(line, `a line of no known kind: it has none of ${Object.keys(kinds).join(", ")}`);
  place(kind);
}

function parse<S extends v.GenericSchema>(schema: S, value: unknown, line: number, fail: Fail): v.InferOutput<S> {
  const result = v.safeParse(schema, value);
  if (result.success) return result.output;
  const faults = result.issues.map((issue) => {
    const path = v.getDotPath(issue);
    return path === null ? issue.message : `${path}: ${issue.message}`;
  });
  throw fail(line, faults.join("; "));
}

/** Undefined if it is none. */
function parseJson(source: string): unknown {
  try {
    return JSON.parse(source);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
