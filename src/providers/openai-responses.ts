// The OpenAI Responses wire, without anything stored at the provider: all items of an answer go back, in order, with their
// encrypted reasoning. Pure: a request → a body; events → our events.

import type { Call, Message, ModelEvent, ModelRequest, StopReason, ToolResult, Usage } from "../conversation.ts";
import { failureInStream, truncated } from "./failures.ts";
import { argumentsText, count, type Fields, fields, list, text } from "./loose.ts";
import { fitRoot } from "./schemas.ts";
import { type BodyOptions, plainResult, visible, type Wire } from "./wire.ts";

function toBody({ system, messages, tools }: ModelRequest, options: BodyOptions): Record<string, unknown> {
  const { model, temperature, maxTokens, thinking, dropped } = options;
  const body = {
    model,
    ...(system && { instructions: system }),
    input: messages.flatMap((message) => toItems(message, options.label)),
    ...(tools.length > 0 && {
      tools: tools.map(({ name, description, inputSchema }) => ({
        type: "function",
        name,
        description,
        parameters: inputSchema,
        // Left out it would mean true, and few servers' schemas are that strict.
        strict: false,
      })),
    }),
    store: false,
    // Models that do not reason refuse to hand out what they have not.
    ...(!/^(gpt-3|gpt-4|chatgpt-4)/.test(model) && { include: ["reasoning.encrypted_content"] }),
    ...(temperature !== undefined && { temperature }),
    ...(maxTokens !== undefined && { max_output_tokens: maxTokens }),
    ...(thinking !== undefined && { reasoning: { effort: thinking === "off" ? "none" : thinking } }),
    stream: true,
  };
  return Object.fromEntries(Object.entries(body).filter(([field]) => !dropped.has(field)));
}

function toItems(message: Message, label: string): object[] {
  switch (message.role) {
    case "user":
      return [{ role: "user", content: visible(message.content).map(toPart) }];
    case "assistant":
      if (message.raw?.by === label) return [...message.raw.blocks];
      return message.content.map((part) =>
        part.type === "text"
          ? { role: "assistant", content: part.text }
          : { type: "function_call", call_id: part.id, name: part.name, arguments: part.arguments || "{}" },
      );
    case "tool":
      return [{ type: "function_call_output", call_id: message.callId, output: toOutput(message.result) }];
  }
}

function toOutput(result: ToolResult): string | object[] {
  const shown = visible(result.content);
  if (shown.every((part) => part.type === "text")) return plainResult(result);
  return [...(result.isError ? [{ type: "input_text", text: "Error:" }] : []), ...shown.map(toPart)];
}

function toPart(part: ToolResult["content"][number]): object {
  if (part.type === "text") return { type: "input_text", text: part.text };
  return { type: "input_image", image_url: `data:${part.mimeType};base64,${part.data}` };
}

/** An item of the answer, by its place: some gateways give it a new id with every event. */
type Item = { value: Fields; arguments: string; text: string; whole: boolean };

/** What has been read of one answer. */
export type State = { turn: number; items: Map<number, Item>; calls: number; refused: boolean; ended: boolean };

function start(turn: number): State {
  return { turn, items: new Map(), calls: 0, refused: false, ended: false };
}

function step(state: State, event: unknown): ModelEvent[] {
  const said = fields(event);
  const index = count(said["output_index"]);
  switch (said["type"]) {
    case "response.output_item.added":
      state.items.set(index, { value: fields(said["item"]), arguments: "", text: "", whole: false });
      return [];
    case "response.output_text.delta":
      return addText(itemAt(state, index), text(said["delta"]));
    case "response.refusal.delta":
      state.refused = true;
      return addText(itemAt(state, index), text(said["delta"]));
    case "response.function_call_arguments.delta":
      itemAt(state, index).arguments += text(said["delta"]);
      return [];
    case "response.output_item.done":
      return complete(state, index, fields(said["item"]));
    case "response.completed":
    case "response.incomplete":
    case "response.failed":
    case "response.cancelled":
      return end(state, fields(said["response"]));
    case "error":
      throw failureInStream(said);
    default:
      // A JSON answer in place of a stream; an error without the word for it.
      if (said["object"] === "response") return end(state, said);
      if (said["error"]) throw failureInStream(said);
      return [];
  }
}

function itemAt(state: State, index: number): Item {
  const known = state.items.get(index);
  if (known) return known;
  const item = { value: {}, arguments: "", text: "", whole: false };
  state.items.set(index, item);
  return item;
}

function addText(item: Item, delta: string): ModelEvent[] {
  item.text += delta;
  return delta === "" ? [] : [{ type: "text", text: delta }];
}

/** The finished item has the last word, over all that its deltas said. */
function complete(state: State, index: number, value: Fields): ModelEvent[] {
  const item = itemAt(state, index);
  if (item.whole) return [];
  item.whole = true;
  item.value = value;
  if (value["type"] === "function_call") {
    state.calls++;
    const call = toCall(state, index, item);
    item.value = { ...value, call_id: call.id };
    return [{ type: "call", call }];
  }
  if (value["type"] !== "message") return [];
  const parts = list(value["content"]).map(fields);
  if (parts.some((part) => part["type"] === "refusal")) state.refused = true;
  const whole = parts.map((part) => text(part["text"]) || text(part["refusal"])).join("");
  return item.text === "" ? addText(item, whole) : [];
}

function toCall(state: State, index: number, { value, arguments: streamed }: Item): Call {
  return {
    type: "call",
    id: text(value["call_id"]) || `call_${state.turn}_${index + 1}`,
    name: text(value["name"]),
    arguments: argumentsText(value["arguments"]) || streamed,
  };
}

function end(state: State, response: Fields): ModelEvent[] {
  if (response["error"]) throw failureInStream({ error: response["error"] });
  if (response["status"] === "failed") throw failureInStream({ error: "no reason given" });
  state.ended = true;
  // What no event has told stands in the whole answer.
  const events = list(response["output"]).flatMap((item, index) => complete(state, index, fields(item)));
  const word = text(fields(response["incomplete_details"])["reason"]) || text(response["status"]);
  return [...events, { type: "end", reason: toReason(state, word), word, usage: toUsage(fields(response["usage"])) }];
}

function toReason({ refused, calls }: State, word: string): StopReason {
  if (word === "content_filter" || refused) return "refusal";
  if (word === "max_output_tokens") return "length";
  if (word !== "completed") return "other";
  return calls > 0 ? "tool" : "stop";
}

function finish(state: State): ModelEvent[] {
  if (state.ended) return [];
  throw truncated();
}

function toUsage(usage: Fields): Usage {
  const details = fields(usage["input_tokens_details"]);
  const cacheRead = count(details["cached_tokens"]);
  const cacheWrite = count(details["cache_write_tokens"]);
  return {
    input: Math.max(0, count(usage["input_tokens"]) - cacheRead - cacheWrite),
    output: count(usage["output_tokens"]),
    cacheRead,
    cacheWrite,
    reasoning: count(fields(usage["output_tokens_details"])["reasoning_tokens"]),
  };
}

/**
 * Nothing is stored, so ids mean nothing to the provider, and reasoning without its encrypted content is lost to it, as is
 * reasoning that nothing followed.
 */
function blocks(state: State): object[] {
  const inOrder = [...state.items].sort(([a], [b]) => a - b).map(([, item]) => item);
  const usable = inOrder
    .filter(({ value, whole }) => whole && (value["type"] !== "reasoning" || value["encrypted_content"]))
    .map(({ value: { id, ...rest } }) => rest);
  return usable.slice(0, 1 + usable.findLastIndex(({ type }) => type !== "reasoning"));
}

export const openaiResponses: Wire<State> = {
  path: () => "responses",
  toBody,
  fit: fitRoot,
  optional: {
    include: /include|encrypted/i,
    temperature: /temperature/,
    max_output_tokens: /max_output_tokens/,
    reasoning: /reasoning/,
  },
  start,
  step,
  finish,
  blocks,
};
