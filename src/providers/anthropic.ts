// The Anthropic Messages wire. Pure: a request → a body; events → our events. The blocks of an answer go back as they came,
// so that thinking and its signatures are right by construction.

import type { Message, ModelEvent, ModelRequest, StopReason, ToolResult, Usage } from "../conversation.ts";
import { noUsage } from "../conversation.ts";
import { ApiError, failureInStream, truncated } from "./failures.ts";
import { argumentsObject, count, type Fields, fields, list, text } from "./loose.ts";
import { fitRoot } from "./schemas.ts";
import { type BodyOptions, type Thinking, visible, type Wire } from "./wire.ts";

/** The API wants a limit; answers of older models are shorter. */
const MAX_TOKENS = 32_000;
const MAX_TOKENS_OLD = 4_096;
const budgets = { low: 2_048, medium: 8_192, high: 24_576 };

function toBody({ system, messages, tools }: ModelRequest, options: BodyOptions): Record<string, unknown> {
  const { model, temperature, thinking, dropped } = options;
  const maxTokens = options.maxTokens ?? (/claude-(instant|v?2|3)/.test(model) ? MAX_TOKENS_OLD : MAX_TOKENS);
  const thought = dropped.has("thinking") ? {} : toThinking(model, thinking, maxTokens);
  return {
    model,
    max_tokens: maxTokens,
    ...thought,
    // With thinking on, the API refuses a temperature.
    ...(temperature !== undefined &&
      !dropped.has("temperature") &&
      (thinking ?? "off") === "off" && { temperature: Math.min(1, temperature) }),
    ...(tools.length > 0 && {
      tools: markLast(
        tools.map(({ name, description, inputSchema }) => ({ name, description, input_schema: inputSchema })),
      ),
    }),
    ...(system && { system: markLast([{ type: "text", text: system }]) }),
    messages: markHistory(merge(messages.map((message) => toTurn(message, options.label)))),
    stream: true,
  };
}

/** Models up to 4.5 take a budget, later ones decide themselves and take an effort. */
function toThinking(model: string, thinking: Thinking | undefined, maxTokens: number): Fields {
  if (thinking === undefined) return {};
  const takesBudget = /claude-3-7|claude-(opus|sonnet|haiku)-4(-[015](?!\d)|-20|@|$)/.test(model);
  if (thinking === "off") return takesBudget ? {} : { thinking: { type: "disabled" } };
  if (!takesBudget) return { thinking: { type: "adaptive" }, output_config: { effort: thinking } };
  const budget = Math.max(1_024, Math.min(budgets[thinking], Math.floor(maxTokens / 2)));
  return { thinking: { type: "enabled", budget_tokens: budget }, max_tokens: Math.max(maxTokens, budget + 1_024) };
}

type Turn = { role: "user" | "assistant"; content: object[] };

function toTurn(message: Message, label: string): Turn {
  switch (message.role) {
    case "user":
      return { role: "user", content: visible(message.content).map(toBlock) };
    case "assistant":
      if (message.raw?.by === label) return { role: "assistant", content: [...message.raw.blocks] };
      return {
        role: "assistant",
        content: message.content
          .filter((part) => part.type === "call" || part.text.trim() !== "")
          .map((part) =>
            part.type === "text"
              ? { type: "text", text: part.text }
              : { type: "tool_use", id: part.id, name: part.name, input: argumentsObject(part.arguments) },
          ),
      };
    case "tool":
      return { role: "user", content: [toResult(message.callId, message.result)] };
  }
}

function toResult(callId: string, { content, isError }: ToolResult): object {
  return {
    type: "tool_result",
    tool_use_id: callId,
    content: visible(content).map(toBlock),
    ...(isError && { is_error: true }),
  };
}

function toBlock(part: ToolResult["content"][number]): object {
  if (part.type === "text") return { type: "text", text: part.text };
  return { type: "image", source: { type: "base64", media_type: part.mimeType, data: part.data } };
}

/** Neighbours of one role are one turn: all results of a turn stand together, before what a user says. */
function merge(turns: readonly Turn[]): Turn[] {
  const merged: Turn[] = [];
  for (const turn of turns) {
    const last = merged.at(-1);
    if (turn.content.length === 0) continue;
    if (last?.role === turn.role) last.content.push(...turn.content);
    else merged.push({ role: turn.role, content: [...turn.content] });
  }
  return merged;
}

/** Everything up to a mark is cached: tools, system, and the history up to the last two of our turns. */
function markHistory(turns: Turn[]): Turn[] {
  const ours = turns.filter(({ role }) => role === "user").slice(-2);
  return turns.map((turn) => (ours.includes(turn) ? { role: turn.role, content: markLast(turn.content) } : turn));
}

function markLast(blocks: readonly object[]): object[] {
  const last = blocks.length - 1;
  return blocks.map((block, index) => (index === last ? { ...block, cache_control: { type: "ephemeral" } } : block));
}

type Block = { value: Fields; json: string; whole: boolean };

/** What has been read of one answer. */
export type State = {
  turn: number;
  id: string | undefined;
  blocks: Map<number, Block>;
  calls: number;
  usage: Fields;
  word: string;
  ended: boolean;
};

function start(turn: number): State {
  return { turn, id: undefined, blocks: new Map(), calls: 0, usage: {}, word: "", ended: false };
}

function step(state: State, event: unknown): ModelEvent[] {
  const said = fields(event);
  switch (said["type"]) {
    case "message_start":
      return begin(state, fields(said["message"]));
    case "content_block_start": {
      const value = { ...fields(said["content_block"]) };
      state.blocks.set(place(said["index"]), { value, json: "", whole: false });
      const opening = value["type"] === "text" ? text(value["text"]) : "";
      return opening === "" ? [] : [{ type: "text", text: opening }];
    }
    case "content_block_delta":
      return addTo(state.blocks.get(place(said["index"])), fields(said["delta"]));
    case "content_block_stop":
      return complete(state, state.blocks.get(place(said["index"])));
    case "message_delta":
      state.word = text(fields(said["delta"])["stop_reason"]) || state.word;
      addUsage(state, said["usage"]);
      return [];
    case "message_stop":
      return end(state);
    case "message":
      // A JSON answer in place of a stream.
      return [...begin(state, said), ...end(state)];
    case "error":
      throw failureInStream(said);
    default:
      // Gateways tell errors in words of their own.
      if (said["error"]) throw failureInStream(said);
      return [];
  }
}

/** A message may begin with whole blocks. It may be announced twice; another one inside it is a mix-up. */
function begin(state: State, message: Fields): ModelEvent[] {
  const id = text(message["id"]);
  if (state.id !== undefined && state.id !== id) throw new ApiError("unavailable", "mixed two answers in one stream");
  addUsage(state, message["usage"]);
  if (state.id !== undefined) return [];
  state.id = id;
  state.word = text(message["stop_reason"]);
  return list(message["content"]).flatMap((content, position) => {
    const index = -1 - position;
    return [
      ...step(state, { type: "content_block_start", index, content_block: content }),
      ...step(state, { type: "content_block_stop", index }),
    ];
  });
}

const place = (index: unknown) => (typeof index === "number" ? index : 0);

function addTo(block: Block | undefined, delta: Fields): ModelEvent[] {
  if (!block) return [];
  const { value } = block;
  switch (delta["type"]) {
    case "text_delta":
      value["text"] = text(value["text"]) + text(delta["text"]);
      return delta["text"] === "" ? [] : [{ type: "text", text: text(delta["text"]) }];
    case "input_json_delta":
      block.json += text(delta["partial_json"]);
      return [];
    case "thinking_delta":
      value["thinking"] = text(value["thinking"]) + text(delta["thinking"]);
      return [];
    case "signature_delta":
      value["signature"] = text(value["signature"]) + text(delta["signature"]);
      return [];
    case "citations_delta":
      value["citations"] = [...list(value["citations"]), delta["citation"]];
      return [];
    default:
      return [];
  }
}

function complete(state: State, block: Block | undefined): ModelEvent[] {
  if (!block || block.whole) return [];
  block.whole = true;
  const { value, json } = block;
  if (json !== "") value["input"] = argumentsObject(json);
  if (value["type"] !== "tool_use") return [];
  state.calls++;
  value["id"] = text(value["id"]) || `call_${state.turn}_${state.calls}`;
  value["input"] ??= {};
  // The whole input may stand in the first event of the block.
  const call = {
    id: text(value["id"]),
    name: text(value["name"]),
    arguments: json || JSON.stringify(value["input"]),
  };
  return [{ type: "call", call: { type: "call", ...call } }];
}

function end(state: State): ModelEvent[] {
  state.ended = true;
  // A gateway may leave out the end of a block.
  const late = [...state.blocks.values()].flatMap((block) => complete(state, block));
  const reason = toReason(state.word);
  return [
    ...late,
    {
      type: "end",
      reason: state.calls > 0 && reason === "stop" ? "tool" : reason,
      word: state.word,
      usage: toUsage(state.usage),
    },
  ];
}

function finish(state: State): ModelEvent[] {
  if (state.ended) return [];
  throw truncated();
}

function toReason(word: string): StopReason {
  if (word === "end_turn" || word === "stop_sequence") return "stop";
  if (word === "tool_use") return "tool";
  if (word === "max_tokens" || word === "model_context_window_exceeded") return "length";
  if (word === "pause_turn") return "pause";
  return word === "refusal" ? "refusal" : "other";
}

/** Counts are cumulative: a later one takes the place of an earlier one. */
function addUsage(state: State, usage: unknown): void {
  for (const [key, value] of Object.entries(fields(usage))) if (value !== null) state.usage[key] = value;
}

function toUsage(usage: Fields): Usage {
  // Where the provider worked in several rounds for one answer, their sum is what is billed.
  const rounds = list(usage["iterations"]).map(fields);
  const sum = (key: string) =>
    (rounds.length > 0 ? rounds : [usage]).reduce((total, round) => total + count(round[key]), 0);
  return {
    ...noUsage,
    input: sum("input_tokens"),
    output: sum("output_tokens"),
    cacheRead: sum("cache_read_input_tokens"),
    cacheWrite: sum("cache_creation_input_tokens"),
    reasoning: count(fields(usage["output_tokens_details"])["thinking_tokens"]),
  };
}

/** Text may go back half said; anything else must be whole. */
function blocks(state: State): object[] {
  return [...state.blocks.values()]
    .filter(({ value, whole }) => (value["type"] === "text" ? text(value["text"]).trim() !== "" : whole))
    .map(({ value }) => value);
}

export const anthropic: Wire<State> = {
  path: () => "v1/messages",
  toBody,
  fit: fitRoot,
  optional: { thinking: /thinking|effort/, temperature: /temperature/ },
  start,
  step,
  finish,
  blocks,
};
