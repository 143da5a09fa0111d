// A cassette: one JSON Lines file with the traffic of a run, to be read in a diff and played again. Its first line says what
// it is; then come, as they were answered, what the model was asked (only what is new of a conversation) and what servers
// were asked; what was seen when the work was checked; and last how the run ended. Folders of the machine are written as
// `{{ workdir }}` and `{{ skill.dir }}`, secrets as ‹NAME›.

import * as v from "valibot";
import { OmegaError } from "../errors.ts";

export const VERSION = 1;

const Anything = v.unknown();
const Head = v.object({
  omega: v.number(),
  skill: v.string(),
  model: v.string(),
  run: v.string(),
  startedAt: v.string(),
  inputs: v.record(v.string(), Anything),
  words: v.array(v.string()),
});

/** `turn`: how many answers the conversation has; `messages`: what has come since the last one. */
const Ask = v.object({
  turn: v.number(),
  system: v.optional(v.string()),
  tools: v.array(v.string()),
  messages: v.array(Anything),
});
const Failure = v.object({ code: v.string(), message: v.string() });
const ModelLine = v.object({
  ask: Ask,
  answer: v.optional(v.array(v.looseObject({ type: v.string() }))),
  failed: v.optional(Failure),
});
const ServerLine = v.object({
  server: v.string(),
  method: v.string(),
  params: v.optional(Anything),
  result: v.optional(Anything),
  error: v.optional(v.object({ code: v.number(), message: v.string(), data: v.optional(Anything) })),
  failed: v.optional(Failure),
});
const NoteLine = v.object({ server: v.string(), notify: v.string(), params: v.optional(Anything) });
const ExitLine = v.object({
  server: v.string(),
  exit: v.object({ code: v.nullable(v.number()), signal: v.nullable(v.string()) }),
});
const CheckLine = v.object({ check: v.string(), ok: v.boolean(), found: v.string() });
const EndLine = v.object({
  end: v.object({
    outcome: v.string(),
    code: v.nullable(v.string()),
    text: v.nullable(v.string()),
    output: Anything,
    turns: v.number(),
    toolCalls: v.number(),
    usage: Anything,
  }),
});

export type Head = v.InferOutput<typeof Head>;
export type ModelLine = v.InferOutput<typeof ModelLine>;
export type ServerLine = v.InferOutput<typeof ServerLine>;
export type NoteLine = v.InferOutput<typeof NoteLine>;
export type ExitLine = v.InferOutput<typeof ExitLine>;
export type CheckLine = v.InferOutput<typeof CheckLine>;
export type EndLine = v.InferOutput<typeof EndLine>;
export type Line = Head | ModelLine | ServerLine | NoteLine | ExitLine | CheckLine | EndLine;

/** A line of a kind, and where it stands in the file. */
export type Placed<T> = T & { line: number };

export type Tape = {
  head: Head;
  model: Placed<ModelLine>[];
  servers: Placed<ServerLine>[];
  notes: Placed<NoteLine>[];
  exits: Placed<ExitLine>[];
  checks: Placed<CheckLine>[];
  end: Placed<EndLine> | undefined;
};

export function parseTape(text: string, file: string): Tape {
  const fail = (line: number, message: string) => new OmegaError("CASSETTE_INVALID", `${file}:${line}: ${message}`);
  const lines = text.split("\n").map((source, index) => ({ source, line: index + 1 }));
  const values = lines
    .filter(({ source }) => source.trim() !== "")
    .map(({ source, line }) => ({ line, value: parseJson(source, () => fail(line, "not a line of JSON")) }));
  const [first, ...rest] = values;
  const head = v.safeParse(Head, first?.value);
  if (!first || !head.success) throw fail(1, "not a cassette: its first line does not say what it is");
  if (head.output.omega !== VERSION) {
    throw fail(first.line, `a cassette of version ${head.output.omega}; this omega plays version ${VERSION}`);
  }
  const tape: Tape = { head: head.output, model: [], servers: [], notes: [], exits: [], checks: [], end: undefined };
  for (const { line, value } of rest) place(tape, value, line, fail);
  return tape;
}

function place(tape: Tape, value: unknown, line: number, fail: (line: number, message: string) => OmegaError): void {
  const has = (name: string) => typeof value === "object" && value !== null && Object.hasOwn(value, name);
  const parse = <S extends v.GenericSchema>(schema: S): v.InferOutput<S> & { line: number } => {
    const result = v.safeParse(schema, value);
    if (!result.success) throw fail(line, v.summarize(result.issues).replaceAll("\n", " "));
    return { ...(result.output as object), line } as v.InferOutput<S> & { line: number };
  };
  if (tape.end) throw fail(line, "something follows the end");
  if (has("ask")) tape.model.push(parse(ModelLine));
  else if (has("method")) tape.servers.push(parse(ServerLine));
  else if (has("notify")) tape.notes.push(parse(NoteLine));
  else if (has("exit")) tape.exits.push(parse(ExitLine));
  else if (has("check")) tape.checks.push(parse(CheckLine));
  else if (has("end")) tape.end = parse(EndLine);
  else throw fail(line, "a line of no known kind");
}

function parseJson(source: string, fail: () => OmegaError): unknown {
  try {
    return JSON.parse(source);
  } catch (error) {
    if (error instanceof SyntaxError) throw fail();
    throw error;
  }
}
