// The OpenAI Chat Completions wire, which most other servers speak too, each in its own way. Pure: events → our events; what
// is asked stands in openai-chat-body.ts.

import type { Call, ModelEvent, StopReason, Usage } from "../conversation.ts";
import { ApiError, failureInStream, truncated } from "./failures.ts";
import { argumentsText, count, type Fields, fields, list, text } from "./loose.ts";
import { toBody } from "./openai-chat-body.ts";
import { fitRoot } from "./schemas.ts";
import type { Wire } from "./wire.ts";

type Open = Call & { key: number | undefined; told: boolean };

/** What has been read of one answer. `kept`: what this server may want back beside the calls. */
export type State = {
  turn: number;
  calls: Open[];
  text: string;
  kept: Fields;
  reason: StopReason | undefined;
  word: string;
  usage: Fields;
  ended: boolean;
};

function start(turn: number): State {
  return { turn, calls: [], text: "", kept: {}, reason: undefined, word: "", usage: {}, ended: false };
}

function step(state: State, event: unknown): ModelEvent[] {
  if (event === "[DONE]") return finish(state);
  const chunk = fields(event);
  if (chunk["error"] || chunk["object"] === "error") throw failureInStream(chunk);
  const usage = chunk["usage"] ?? fields(chunk["x_groq"])["usage"];
  if (usage) state.usage = fields(usage);
  const choice = fields(list(chunk["choices"])[0]);
  const message = fields(choice["message"]);
  const events = readDelta(state, { ...fields(choice["delta"]), ...message });
  const word = text(choice["finish_reason"]);
  if (word === "error") throw new ApiError("unavailable", "failed while answering");
  if (word !== "") {
    state.word = word;
    state.reason = state.reason === "refusal" ? "refusal" : toReason(word);
  }
  if (!("message" in choice)) return events;
  // A whole JSON answer has no terminal marker of its own.
  state.reason ??= "stop";
  return [...events, ...finish(state)];
}

function readDelta(state: State, delta: Fields): ModelEvent[] {
  const said = contentText(delta["content"], state);
  const events: ModelEvent[] = said === "" ? [] : [{ type: "text", text: said }];
  state.text += said;
  for (const key of ["reasoning_content", "reasoning"]) {
    const thought = text(delta[key]);
    if (thought !== "") state.kept[key] = text(state.kept[key]) + thought;
  }
  const details = list(delta["reasoning_details"]);
  if (details.length > 0) state.kept["reasoning_details"] = joinDetails(list(state.kept["reasoning_details"]), details);
  const refusal = text(delta["refusal"]);
  if (refusal !== "") {
    state.reason = "refusal";
    events.push({ type: "text", text: refusal });
  }
  for (const part of list(delta["tool_calls"])) events.push(...addToCall(state, fields(part)));
  return events;
}

/** Text, or (Mistral) a list of texts and thoughts, which goes back as a list. */
function contentText(content: unknown, state: State): string {
  if (!Array.isArray(content)) {
    if (state.kept["content"]) appendParts(state, text(content) === "" ? [] : [{ type: "text", text: content }]);
    return text(content);
  }
  if (!state.kept["content"] && state.text !== "") appendParts(state, [{ type: "text", text: state.text }]);
  appendParts(state, content);
  return content.map((part) => (fields(part)["type"] === "text" ? text(fields(part)["text"]) : "")).join("");
}

function appendParts(state: State, parts: readonly unknown[]): void {
  state.kept["content"] = [...list(state.kept["content"]), ...parts];
}

/** Pieces of one block of reasoning follow each other with the same type and index. */
function joinDetails(known: readonly unknown[], pieces: readonly unknown[]): unknown[] {
  const joined = known.map(fields);
  for (const piece of pieces.map(fields)) {
    const last = joined.at(-1);
    if (!last || last["type"] !== piece["type"] || last["index"] !== piece["index"]) {
      joined.push({ ...piece });
      continue;
    }
    for (const [key, value] of Object.entries(piece)) {
      if (value === null || value === undefined || value === "") continue;
      last[key] = ["text", "summary", "data"].includes(key) ? text(last[key]) + text(value) : value;
    }
  }
  return joined;
}

/** A call is complete when the next one begins, if its arguments look so: a few servers send calls in turns. */
function addToCall(state: State, part: Fields): ModelEvent[] {
  const named = fields(part["function"]);
  const id = text(part["id"]);
  const name = text(named["name"]);
  const events: ModelEvent[] = [];
  let call = openCall(state, part["index"], id, name);
  if (!call) {
    for (const earlier of state.calls) if (earlier.arguments.trimEnd().endsWith("}")) events.push(...tell(earlier));
    const taken = id === "" || state.calls.some((other) => other.id === id);
    const key = typeof part["index"] === "number" ? part["index"] : undefined;
    const own = taken ? `call_${state.turn}_${state.calls.length + 1}` : id;
    call = { type: "call", id: own, name: "", arguments: "", key, told: false };
    state.calls.push(call);
  }
  if (name !== call.name) call.name += name;
  call.arguments += argumentsText(named["arguments"]);
  return events;
}

/** The call that a piece belongs to. `index` may be missing or always 0, the id missing, empty, or on every piece. */
function openCall(state: State, index: unknown, id: string, name: string): Open | undefined {
  const last = state.calls.at(-1);
  if (typeof index !== "number")
    return id !== "" && id !== last?.id ? undefined : name !== "" && id === "" ? undefined : last;
  const same = state.calls.findLast((call) => call.key === index);
  if (!same || name === "" || same.arguments === "") return same;
  const isAnother = id === "" ? name !== same.name : id !== same.id;
  return isAnother ? undefined : same;
}

function tell(call: Open): ModelEvent[] {
  if (call.told) return [];
  call.told = true;
  const { key, told, ...plain } = call;
  return [{ type: "call", call: plain }];
}

/** The end of the answer, by its marker or by the end of the body. An answer without a stop reason was cut. */
function finish(state: State): ModelEvent[] {
  if (state.ended) return [];
  if (state.reason === undefined) throw truncated();
  state.ended = true;
  const { reason, calls, word, usage } = state;
  const cost = usage["cost"];
  return [
    ...calls.flatMap(tell),
    {
      type: "end",
      // Some servers say "stop" beside tool calls: the calls decide.
      reason: calls.length > 0 && reason !== "refusal" && reason !== "length" ? "tool" : reason,
      word,
      usage: toUsage(usage),
      ...(typeof cost === "number" && { cost }),
    },
  ];
}

function toReason(word: string): StopReason {
  if (word === "stop" || word === "eos" || word === "end_turn" || word === "stop_sequence") return "stop";
  if (word === "tool_calls" || word === "function_call") return "tool";
  if (word === "length" || word === "model_length" || word === "max_tokens") return "length";
  return word === "content_filter" || word === "refusal" ? "refusal" : "other";
}

function toUsage(usage: Fields): Usage {
  const input = count(usage["prompt_tokens"]);
  const inputDetails = fields(usage["prompt_tokens_details"]);
  const cacheRead = count(inputDetails["cached_tokens"]) || count(usage["prompt_cache_hit_tokens"]);
  const cacheWrite = count(inputDetails["cache_write_tokens"]);
  const said = count(usage["completion_tokens"]);
  const reasoning = count(fields(usage["completion_tokens_details"])["reasoning_tokens"]);
  // Some servers do not count reasoning in; their total shows it.
  const apart = reasoning > 0 && count(usage["total_tokens"]) === input + said + reasoning;
  return {
    input: Math.max(0, input - cacheRead - cacheWrite),
    output: apart ? said + reasoning : said,
    cacheRead,
    cacheWrite,
    reasoning,
  };
}

export const openaiChat: Wire<State> = {
  path: () => "chat/completions",
  toBody,
  fit: fitRoot,
  optional: {
    stream_options: /stream_options/,
    temperature: /temperature/,
    max_tokens: /\bmax_tokens\b/,
    max_completion_tokens: /max_completion_tokens/,
    reasoning_effort: /reasoning/,
    reasoning: /reasoning/,
    thinking: /thinking/,
  },
  start,
  step,
  finish,
  blocks: ({ kept }) => (Object.keys(kept).length > 0 ? [kept] : []),
};
