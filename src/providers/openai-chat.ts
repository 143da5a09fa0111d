// The OpenAI Chat Completions wire, which most other servers speak too, each in its own way. Pure: a request → a body;
// events → our events.

import type { Call, Image, Message, ModelEvent, ModelRequest, StopReason, Usage } from "../conversation.ts";
import { textOf } from "../conversation.ts";
import { ApiError, failureInStream, truncated } from "./failures.ts";
import { argumentsText, count, type Fields, fields, list, text } from "./loose.ts";
import { fitRoot } from "./schemas.ts";
import { type BodyOptions, plainResult, visible, type Wire } from "./wire.ts";

function toBody({ system, messages, tools }: ModelRequest, options: BodyOptions): Record<string, unknown> {
  const { model, temperature, dropped } = options;
  const body = {
    model,
    messages: markCache(
      [...(system ? [{ role: "system", content: system }] : []), ...toMessages(messages, options)],
      options,
    ),
    ...(tools.length > 0 && {
      tools: tools.map(({ name, description, inputSchema }) => ({
        type: "function",
        function: { name, description, parameters: inputSchema },
      })),
    }),
    stream: true,
    stream_options: { include_usage: true },
    ...(temperature !== undefined && { temperature }),
    ...maxTokens(options),
    ...effort(options),
  };
  return Object.fromEntries(Object.entries(body).filter(([field]) => !dropped.has(field)));
}

/** The system prompt, and the history up to the last message that is text alone. */
function markCache(messages: object[], { model, quirks }: BodyOptions): object[] {
  if (!quirks.cacheMarks?.test(model)) return messages;
  const texts = messages.filter((message) => "content" in message && typeof message.content === "string");
  const marked = new Set([messages[0], texts.at(-1)].filter((message) => message && texts.includes(message)));
  return messages.map((message) => {
    if (!marked.has(message) || !("content" in message)) return message;
    return { ...message, content: [{ type: "text", text: message.content, cache_control: { type: "ephemeral" } }] };
  });
}

/** A server that refuses one of the two words takes the other. */
function maxTokens({ maxTokens, quirks, dropped }: BodyOptions): Fields {
  if (maxTokens === undefined) return {};
  const words = ["max_tokens", "max_completion_tokens"];
  const first = quirks.maxTokensField ?? "max_tokens";
  const field = [first, ...words].find((word) => !dropped.has(word));
  return field === undefined ? {} : { [field]: maxTokens };
}

function effort({ thinking, quirks }: BodyOptions): Fields {
  if (thinking === undefined) return {};
  const level = thinking === "off" ? "none" : thinking;
  if (quirks.effort === "reasoning") return { reasoning: { effort: level } };
  if (quirks.effort === "thinking") return { thinking: { type: thinking === "off" ? "disabled" : "enabled" } };
  return { reasoning_effort: level };
}

/** Results take only text here: their pictures follow all results of the turn, as a user's message. */
function toMessages(messages: readonly Message[], options: BodyOptions): object[] {
  const result: object[] = [];
  let pictures: Image[] = [];
  for (const message of messages) {
    if (message.role !== "tool" && pictures.length > 0) {
      result.push(showPictures(pictures));
      pictures = [];
    }
    if (message.role === "tool") {
      const shown = visible(message.result.content).filter((part) => part.type === "image");
      const note = shown.length > 0 ? `\n[${shown.length} picture(s) in the next message]` : "";
      const content = `${plainResult(message.result)}${note}`.trim();
      result.push({ role: "tool", tool_call_id: wireId(message.callId, options), content });
      pictures.push(...shown);
    } else if (message.role === "user") result.push({ role: "user", content: userContent(message.content) });
    else result.push(toAssistant(message, options));
  }
  return pictures.length > 0 ? [...result, showPictures(pictures)] : result;
}

const showPictures = (pictures: Image[]) => ({ role: "user", content: pictures.map(toPicture) });
const toPicture = ({ mimeType, data }: Image) => ({
  type: "image_url",
  image_url: { url: `data:${mimeType};base64,${data}` },
});

function userContent(content: (Message & { role: "user" })["content"]): string | object[] {
  const shown = visible(content);
  if (shown.every((part) => part.type === "text")) return textOf(shown);
  return shown.map((part) => (part.type === "image" ? toPicture(part) : part));
}

function toAssistant({ content, raw }: Message & { role: "assistant" }, options: BodyOptions): object {
  const calls = content.filter((part) => part.type === "call");
  const own = raw?.by === options.label ? fields(raw.blocks[0]) : {};
  return {
    role: "assistant",
    content: own["content"] ?? (textOf(content) || (calls.length > 0 ? null : "")),
    ...(calls.length > 0 && {
      tool_calls: calls.map((call) => ({
        id: wireId(call.id, options),
        type: "function",
        function: { name: call.name, arguments: call.arguments || "{}" },
      })),
      ...Object.fromEntries((options.quirks.handBack ?? []).filter((key) => own[key]).map((key) => [key, own[key]])),
    }),
  };
}

/** Ids that another provider made are too long for some servers. */
function wireId(id: string, { quirks }: BodyOptions): string {
  if (!quirks.shortIds || /^[a-zA-Z0-9]{9}$/.test(id)) return id;
  return (hash(id, 0x811c9dc5) + hash(id, 0x1000193)).slice(0, 9);
}

/** FNV-1a, 8 hex digits: ids only have to differ, and a real hash takes 4 ms to load. */
function hash(text: string, seed: number): string {
  let value = seed;
  for (let index = 0; index < text.length; index++) value = Math.imul(value ^ text.charCodeAt(index), 0x01000193);
  return (value >>> 0).toString(16).padStart(8, "0");
}

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
  if (text(delta["refusal"]) !== "") state.reason = "refusal";
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
  return same && id !== "" && id !== same.id && name !== "" && same.arguments !== "" ? undefined : same;
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
