// A hand-written script of turns, or the answers of a recorded run, in the place of a model: free, repeatable, and honest
// about leaving the script.
//
//   turns:
//     - text: Let me look.
//       calls:
//         - { id: sum, tool: everything/get-sum, arguments: { a: 2, b: 3 } }
//     - text: "The sum is {{ sum }}."
//
// `{{ id }}` is the text of that call's result; `{{ id.path.0.to }}` walks into it as JSON. An argument that is nothing but a
// reference with a path keeps its JSON type.

import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import * as v from "valibot";
import { parseDocument } from "yaml";
import type { Folders } from "../cassette/places.ts";
import { parseTape, type Tape, toError } from "../cassette/tape.ts";
import { type Message, type Model, type ModelRequest, noUsage, textOf } from "../conversation.ts";
import { OmegaError, systemCode } from "../errors.ts";

const Script = v.strictObject({
  turns: v.array(
    v.strictObject({
      text: v.optional(v.string(), ""),
      calls: v.optional(
        v.array(
          v.strictObject({
            id: v.optional(v.string()),
            tool: v.string(),
            arguments: v.optional(v.record(v.string(), v.unknown()), {}),
          }),
        ),
        [],
      ),
    }),
  ),
});
type Script = v.InferOutput<typeof Script>;

/** What paths, and the names of folders in a cassette, are relative to. */
export type Place = { dir: string; folders?: Partial<Folders> };

/** A `.jsonl` is no script but the cassette of a run. */
export async function openReplay(file: string, { dir, folders }: Place): Promise<Model> {
  const path = resolve(dir, file);
  if (file.endsWith(".jsonl")) return playAnswers(parseTape(await readScript(path), file, folders), `replay/${file}`);
  const script = parseScript(await readScript(path), path);
  return {
    name: `replay/${file}`,
    async *stream(request) {
      const index = request.messages.filter((message) => message.role === "assistant").length;
      const turn = script.turns[index];
      if (!turn)
        throw new OmegaError("DIVERGED", `the script ${file} has ${script.turns.length} turns, the run wants one more`);
      const fill = filler(request.messages, path);
      if (turn.text !== "") yield { type: "text", text: String(fill(turn.text)) };
      for (const [position, call] of turn.calls.entries()) {
        const id = call.id ?? `call_${index + 1}_${position + 1}`;
        const args = JSON.stringify(fill(call.arguments));
        yield { type: "call", call: { type: "call", id, name: spelledForModels(call.tool, request), arguments: args } };
      }
      yield { type: "end", reason: turn.calls.length > 0 ? "tool" : "stop", usage: noUsage, cost: 0 };
    },
  };
}

/**
 * The model's side of a cassette, whatever it is asked now: each conversation has the answers of then, in their order. They
 * cost nothing.
 */
function playAnswers({ file, lines, end }: Tape, name: string): Model {
  const conversations = Map.groupBy(lines.ask, ({ value }) => value.ask.agent);
  const played = new Map<string | undefined, number>();
  return {
    name,
    async *stream({ agent }, signal) {
      signal.throwIfAborted();
      const answers = conversations.get(agent) ?? [];
      const index = played.get(agent) ?? 0;
      played.set(agent, index + 1);
      const next = answers[index]?.value;
      if (!next) throw noMore(agent, answers.length);
      for (const event of next.answer ?? []) {
        if (event.type === "end") yield { ...event, usage: noUsage, cost: 0 };
        else if (event.type !== "fallback") yield event;
      }
      if (next.failed) throw toError(next.failed);
    },
  };

  function noMore(agent: string | undefined, count: number): OmegaError {
    const who = agent === undefined ? "the model" : `sub-agent ${agent}`;
    const hint = end
      ? "the run goes another way than the recorded one"
      : "its run was killed, is still on, or was too long to be kept";
    return new OmegaError("DIVERGED", `${file} has ${count} answers of ${who}, the run wants one more`, { hint });
  }
}

async function readScript(path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (cause) {
    throw new OmegaError("MODEL_UNKNOWN", `cannot read the replay script ${path} (${systemCode(cause)})`, { cause });
  }
}

function parseScript(source: string, path: string): Script {
  const document = parseDocument(source);
  const [syntax] = document.errors;
  if (syntax) throw new OmegaError("MODEL_UNKNOWN", `${path}: ${syntax.message}`);
  const result = v.safeParse(Script, document.toJS({ maxAliasCount: 100 }));
  if (!result.success)
    throw new OmegaError("MODEL_UNKNOWN", `${path}: ${v.summarize(result.issues).replaceAll("\n", " ")}`);
  return result.output;
}

/** A script may name a tool as people do (`server/tool`) or as models do. */
function spelledForModels(tool: string, { tools }: ModelRequest): string {
  return tools.find(({ origin }) => origin === tool)?.name ?? tool;
}

/** Replaces the references in every string of a value. */
function filler(messages: readonly Message[], path: string): (value: unknown) => unknown {
  const results = new Map<string, string>();
  for (const message of messages) {
    if (message.role === "tool") results.set(message.callId, textOf(message.result.content));
  }

  function lookUp(reference: string): unknown {
    const [id = "", ...steps] = reference.split(".");
    const text = results.get(id);
    if (text === undefined)
      throw new OmegaError("DIVERGED", `${path}: no result of a call "${id}" to put for {{ ${reference} }}`);
    if (steps.length === 0) return text;
    let value = parseJson(text, reference);
    for (const step of steps) {
      value =
        typeof value === "object" && value !== null && Object.hasOwn(value, step)
          ? Reflect.get(value, step)
          : undefined;
    }
    if (value === undefined) throw new OmegaError("DIVERGED", `${path}: the result has nothing at {{ ${reference} }}`);
    return value;
  }

  function parseJson(text: string, reference: string): unknown {
    try {
      return JSON.parse(text);
    } catch (cause) {
      throw new OmegaError("DIVERGED", `${path}: {{ ${reference} }} wants JSON, the result is ${text.slice(0, 80)}`, {
        cause,
      });
    }
  }

  function fill(value: unknown): unknown {
    if (typeof value === "string") {
      const whole = /^\{\{\s*([\w.-]+)\s*\}\}$/.exec(value)?.[1];
      if (whole) return lookUp(whole);
      return value.replace(/\{\{\s*([\w.-]+)\s*\}\}/g, (_, reference: string) => asText(lookUp(reference)));
    }
    if (Array.isArray(value)) return value.map(fill);
    if (typeof value === "object" && value !== null) {
      return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, fill(inner)]));
    }
    return value;
  }

  return fill;
}

function asText(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
