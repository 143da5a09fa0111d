// Small streams of our own, one for each wire and case, and what they say.

import type { StopReason } from "../../src/conversation.ts";

export type Stream = {
  provider: "anthropic" | "openai" | "openai-chat" | "google";
  what: string;
  events: unknown[];
  text?: string;
  calls?: { id?: string; name: string; arguments: unknown }[];
  reason: StopReason;
  usage?: { input: number; output: number; cacheRead?: number; cacheWrite?: number; reasoning?: number };
  /** Blocks that go back unchanged. */
  blocks?: object[];
  /** What the AI SDK says otherwise, and why. */
  differs?: { in: ("error" | "text" | "calls" | "usage")[]; because: string };
};

const begin = {
  type: "message_start",
  message: {
    id: "m1",
    role: "assistant",
    content: [],
    usage: { input_tokens: 10, cache_read_input_tokens: 4, cache_creation_input_tokens: 2, output_tokens: 1 },
  },
};
const open = (index: number, content_block: object) => ({ type: "content_block_start", index, content_block });
const add = (index: number, delta: object) => ({ type: "content_block_delta", index, delta });
const close = (index: number) => ({ type: "content_block_stop", index });
const finish = (stop_reason: string, output_tokens = 7) => [
  { type: "message_delta", delta: { stop_reason, stop_sequence: null }, usage: { output_tokens } },
  { type: "message_stop" },
];
const claudeUsage = { input: 10, output: 7, cacheRead: 4, cacheWrite: 2 };

const created = { type: "response.created", response: { id: "r1", created_at: 1, model: "m", status: "in_progress" } };
const added = (output_index: number, item: object) => ({ type: "response.output_item.added", output_index, item });
const done = (output_index: number, item: object) => ({ type: "response.output_item.done", output_index, item });
const say = (output_index: number, delta: string) => ({
  type: "response.output_text.delta",
  output_index,
  item_id: `i${output_index}`,
  content_index: 0,
  delta,
});
const message = (id: string, text: string) => ({
  type: "message",
  id,
  role: "assistant",
  status: "completed",
  content: [{ type: "output_text", text, annotations: [] }],
});
const completed = (type = "response.completed", more: object = {}) => ({
  type,
  response: {
    id: "r1",
    status: type.slice("response.".length),
    usage: {
      input_tokens: 16,
      input_tokens_details: { cached_tokens: 4 },
      output_tokens: 7,
      output_tokens_details: { reasoning_tokens: 3 },
    },
    ...more,
  },
});
const responsesUsage = { input: 12, output: 7, cacheRead: 4, reasoning: 3 };

const delta = (delta: object, finish_reason: string | null = null) => ({
  id: "c",
  created: 1,
  model: "m",
  object: "chat.completion.chunk",
  choices: [{ index: 0, delta, finish_reason }],
});
const chatUsage = {
  id: "c",
  created: 1,
  model: "m",
  choices: [],
  usage: {
    prompt_tokens: 16,
    completion_tokens: 7,
    total_tokens: 23,
    prompt_tokens_details: { cached_tokens: 4 },
    completion_tokens_details: { reasoning_tokens: 3 },
  },
};
const callPart = (index: number, id: string | undefined, name: string | undefined, args: string) => ({
  index,
  ...(id && { id, type: "function" }),
  function: { ...(name && { name }), arguments: args },
});

const chunk = (parts: object[], more: object = {}, usageMetadata: object = {}) => ({
  candidates: [{ content: { role: "model", parts }, ...more }],
  usageMetadata: {
    promptTokenCount: 16,
    cachedContentTokenCount: 4,
    candidatesTokenCount: 4,
    thoughtsTokenCount: 3,
    ...usageMetadata,
  },
});
const geminiUsage = { input: 12, output: 7, cacheRead: 4, reasoning: 3 };

export const streams: Stream[] = [
  {
    provider: "anthropic",
    what: "text in two blocks, with pings, unknown events and unknown blocks between",
    events: [
      begin,
      { type: "ping" },
      open(0, { type: "text", text: "" }),
      add(0, { type: "text_delta", text: "Grüße, " }),
      { type: "vertex_event", x: 1 },
      add(0, { type: "text_delta", text: "😀" }),
      close(0),
      open(1, { type: "text", text: "" }),
      add(1, { type: "text_delta", text: " bye" }),
      close(1),
      ...finish("end_turn"),
    ],
    text: "Grüße, 😀 bye",
    reason: "stop",
    differs: { in: ["error"], because: "an unknown event is an error there" },
    usage: claudeUsage,
    blocks: [
      { type: "text", text: "Grüße, 😀" },
      { type: "text", text: " bye" },
    ],
  },
  {
    provider: "anthropic",
    what: "thinking with its signature before two calls, one with its input in deltas, one whole at once",
    events: [
      begin,
      open(0, { type: "thinking", thinking: "", signature: "" }),
      add(0, { type: "thinking_delta", thinking: "Hm." }),
      add(0, { type: "signature_delta", signature: "c2ln" }),
      close(0),
      open(1, { type: "redacted_thinking", data: "b3BhcXVl" }),
      close(1),
      open(2, { type: "tool_use", id: "t1", name: "add", input: {} }),
      add(2, { type: "input_json_delta", partial_json: "" }),
      add(2, { type: "input_json_delta", partial_json: '{"a":' }),
      add(2, { type: "input_json_delta", partial_json: '1,"b":2}' }),
      close(2),
      open(3, { type: "tool_use", id: "t2", name: "now", input: { zone: "UTC" } }),
      close(3),
      ...finish("tool_use"),
    ],
    calls: [
      { id: "t1", name: "add", arguments: { a: 1, b: 2 } },
      { id: "t2", name: "now", arguments: { zone: "UTC" } },
    ],
    reason: "tool",
    usage: claudeUsage,
    blocks: [
      { type: "thinking", thinking: "Hm.", signature: "c2ln" },
      { type: "redacted_thinking", data: "b3BhcXVl" },
      { type: "tool_use", id: "t1", name: "add", input: { a: 1, b: 2 } },
      { type: "tool_use", id: "t2", name: "now", input: { zone: "UTC" } },
    ],
  },
  {
    provider: "anthropic",
    what: "a call without arguments",
    events: [begin, open(0, { type: "tool_use", id: "t1", name: "now", input: {} }), close(0), ...finish("tool_use")],
    calls: [{ id: "t1", name: "now", arguments: {} }],
    reason: "tool",
    blocks: [{ type: "tool_use", id: "t1", name: "now", input: {} }],
  },
  { provider: "anthropic", what: "a refusal", events: [begin, ...finish("refusal")], reason: "refusal" },
  {
    provider: "anthropic",
    what: "an answer cut by its length",
    events: [
      begin,
      open(0, { type: "text", text: "" }),
      add(0, { type: "text_delta", text: "Once" }),
      close(0),
      ...finish("max_tokens"),
    ],
    text: "Once",
    reason: "length",
  },
  { provider: "anthropic", what: "a pause", events: [begin, ...finish("pause_turn")], reason: "pause" },
  {
    provider: "anthropic",
    what: "usage of several rounds, which is their sum",
    events: [
      begin,
      open(0, { type: "text", text: "ok" }),
      close(0),
      {
        type: "message_delta",
        delta: { stop_reason: "end_turn" },
        usage: {
          output_tokens: 7,
          iterations: [
            {
              type: "compaction",
              input_tokens: 100,
              output_tokens: 20,
              cache_read_input_tokens: 4,
              cache_creation_input_tokens: 2,
            },
            { type: "message", input_tokens: 10, output_tokens: 7 },
          ],
        },
      },
      { type: "message_stop" },
    ],
    text: "ok",
    reason: "stop",
    usage: { input: 110, output: 27, cacheRead: 4, cacheWrite: 2 },
    differs: { in: ["text"], because: "a block's opening text, which no recording has, is dropped there" },
  },
  {
    provider: "openai",
    what: "text with unknown events between",
    events: [
      created,
      added(0, { type: "message", id: "i0", role: "assistant", content: [] }),
      say(0, "Grüße, "),
      { type: "response.new_thing", x: 1 },
      say(0, "😀"),
      done(0, message("i0", "Grüße, 😀")),
      completed(),
    ],
    text: "Grüße, 😀",
    reason: "stop",
    usage: responsesUsage,
  },
  {
    provider: "openai",
    what: "encrypted reasoning before two calls, whose ids change with every event",
    events: [
      created,
      added(0, { type: "reasoning", id: "rs", summary: [], encrypted_content: "part" }),
      done(0, { type: "reasoning", id: "rs", summary: [], encrypted_content: "whole" }),
      added(1, { type: "function_call", id: "f1", call_id: "c1", name: "add", arguments: "" }),
      { type: "response.function_call_arguments.delta", output_index: 1, item_id: "other", delta: '{"a":1' },
      { type: "response.function_call_arguments.delta", output_index: 1, item_id: "f1", delta: "}" },
      { type: "response.function_call_arguments.done", output_index: 1, item_id: "f1", arguments: '{"a":1}' },
      done(1, {
        type: "function_call",
        id: "f1",
        call_id: "c1",
        name: "add",
        arguments: '{"a":1}',
        status: "completed",
      }),
      added(2, { type: "function_call", id: "f2", call_id: "c2", name: "now", arguments: "" }),
      done(2, { type: "function_call", id: "f2", call_id: "c2", name: "now", arguments: "{}", status: "completed" }),
      completed(),
    ],
    calls: [
      { id: "c1", name: "add", arguments: { a: 1 } },
      { id: "c2", name: "now", arguments: {} },
    ],
    reason: "tool",
    usage: responsesUsage,
    blocks: [
      { type: "reasoning", summary: [], encrypted_content: "whole" },
      { type: "function_call", call_id: "c1", name: "add", arguments: '{"a":1}', status: "completed" },
      { type: "function_call", call_id: "c2", name: "now", arguments: "{}", status: "completed" },
    ],
  },
  {
    provider: "openai",
    what: "an answer cut by its length",
    events: [
      created,
      added(0, { type: "message", id: "i0", role: "assistant", content: [] }),
      say(0, "Once"),
      completed("response.incomplete", { incomplete_details: { reason: "max_output_tokens" } }),
    ],
    text: "Once",
    reason: "length",
  },
  {
    provider: "openai",
    what: "a refusal in words",
    events: [
      created,
      added(0, { type: "message", id: "i0", role: "assistant", content: [] }),
      { type: "response.refusal.delta", output_index: 0, content_index: 0, item_id: "i0", delta: "I won't." },
      done(0, { type: "message", id: "i0", role: "assistant", content: [{ type: "refusal", refusal: "I won't." }] }),
      completed(),
    ],
    text: "I won't.",
    reason: "refusal",
  },
  {
    provider: "openai",
    what: "a filtered answer",
    events: [created, completed("response.incomplete", { incomplete_details: { reason: "content_filter" } })],
    reason: "refusal",
  },
  {
    provider: "openai-chat",
    what: "text, and usage in a chunk without choices",
    events: [
      delta({ role: "assistant", content: "" }),
      delta({ content: "Grüße, " }),
      delta({ content: "😀" }),
      delta({ content: null }),
      delta({}, "stop"),
      chatUsage,
      "[DONE]",
    ],
    text: "Grüße, 😀",
    reason: "stop",
    usage: { input: 12, output: 7, cacheRead: 4, reasoning: 3 },
  },
  {
    provider: "openai-chat",
    what: "two calls in pieces",
    events: [
      delta({ role: "assistant", content: null, tool_calls: [callPart(0, "c1", "add", "")] }),
      delta({ tool_calls: [callPart(0, undefined, undefined, '{"a"')] }),
      delta({ tool_calls: [callPart(0, undefined, undefined, ":1}")] }),
      delta({ tool_calls: [callPart(1, "c2", "now", "{}")] }),
      delta({}, "tool_calls"),
      chatUsage,
      "[DONE]",
    ],
    calls: [
      { id: "c1", name: "add", arguments: { a: 1 } },
      { id: "c2", name: "now", arguments: {} },
    ],
    reason: "tool",
    usage: { input: 12, output: 7, cacheRead: 4, reasoning: 3 },
  },
  {
    provider: "openai-chat",
    what: "a call beside the word stop, and reasoning to hand back",
    events: [
      delta({ role: "assistant", reasoning_content: "Hm" }),
      delta({ reasoning_content: "m." }),
      delta({ tool_calls: [callPart(0, "c1", "now", "{}")] }),
      delta({}, "stop"),
      "[DONE]",
    ],
    calls: [{ id: "c1", name: "now", arguments: {} }],
    reason: "tool",
    blocks: [{ reasoning_content: "Hmm." }],
  },
  {
    provider: "openai-chat",
    what: "a filtered answer",
    events: [delta({ content: "" }), delta({}, "content_filter"), "[DONE]"],
    reason: "refusal",
  },
  {
    provider: "openai-chat",
    what: "an answer cut by its length",
    events: [delta({ content: "Once" }), delta({}, "length"), "[DONE]"],
    text: "Once",
    reason: "length",
  },
  {
    provider: "google",
    what: "thoughts, text in pieces, and a signature on an empty part",
    events: [
      chunk([{ text: "Let me think.", thought: true }]),
      chunk([{ text: "Grüße, " }]),
      chunk([{ text: "😀" }]),
      chunk([{ text: "", thoughtSignature: "c2ln" }], { finishReason: "STOP" }),
    ],
    text: "Grüße, 😀",
    reason: "stop",
    usage: geminiUsage,
    blocks: [{ text: "Let me think.", thought: true }, { text: "Grüße, 😀" }, { text: "", thoughtSignature: "c2ln" }],
  },
  {
    provider: "google",
    what: "two calls without ids, the first with the signature",
    events: [
      chunk([
        { functionCall: { name: "add", args: { a: 1 } }, thoughtSignature: "c2ln" },
        { functionCall: { name: "now", args: {} } },
      ]),
      chunk([{ text: "" }], { finishReason: "STOP" }),
    ],
    calls: [
      { id: "call_1_1", name: "add", arguments: { a: 1 } },
      { id: "call_1_2", name: "now", arguments: {} },
    ],
    reason: "tool",
    usage: geminiUsage,
    blocks: [
      { functionCall: { name: "add", args: { a: 1 } }, thoughtSignature: "c2ln" },
      { functionCall: { name: "now", args: {} } },
      { text: "" },
    ],
  },
  {
    provider: "google",
    what: "a call whose arguments come in pieces",
    events: [
      chunk([{ functionCall: { name: "trip", willContinue: true }, thoughtSignature: "c2ln" }]),
      chunk([
        {
          functionCall: {
            partialArgs: [{ jsonPath: "$.stops[0].city", stringValue: "Bos", willContinue: true }],
            willContinue: true,
          },
        },
      ]),
      chunk([
        {
          functionCall: {
            partialArgs: [
              { jsonPath: "$.stops[0].city", stringValue: "ton" },
              { jsonPath: "$.days", numberValue: 3 },
            ],
            willContinue: true,
          },
        },
      ]),
      chunk([{ functionCall: {} }], { finishReason: "STOP" }),
    ],
    calls: [{ name: "trip", arguments: { stops: [{ city: "Boston" }], days: 3 } }],
    reason: "tool",
    usage: geminiUsage,
    blocks: [
      { functionCall: { name: "trip", args: { stops: [{ city: "Boston" }], days: 3 } }, thoughtSignature: "c2ln" },
    ],
  },
  { provider: "google", what: "an unsafe answer", events: [chunk([], { finishReason: "SAFETY" })], reason: "refusal" },
  {
    provider: "google",
    what: "a blocked prompt",
    events: [{ promptFeedback: { blockReason: "PROHIBITED_CONTENT" }, usageMetadata: {} }],
    reason: "refusal",
  },
  {
    provider: "google",
    what: "an answer cut by its length",
    events: [chunk([{ text: "Once" }], { finishReason: "MAX_TOKENS" })],
    text: "Once",
    reason: "length",
  },
];
