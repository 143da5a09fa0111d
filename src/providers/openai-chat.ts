// The OpenAI Chat Completions wire, which most other servers speak too. Pure: a request → a body; events → our events.

import type { Call, Message, ModelEvent, ModelRequest, StopReason, ToolResult, Usage } from "../conversation.ts";
import { noUsage, textOf } from "../conversation.ts";
import { OmegaError } from "../errors.ts";

export function toBody(model: string, { system, messages, tools }: ModelRequest): object {
  return {
    model,
    stream: true,
    stream_options: { include_usage: true },
    messages: [...(system ? [{ role: "system", content: system }] : []), ...messages.flatMap(toWire)],
    ...(tools.length > 0 && {
      tools: tools.map(({ name, description, inputSchema }) => ({
        type: "function",
        function: { name, description, parameters: inputSchema },
      })),
    }),
  };
}

function toWire(message: Message): object[] {
  switch (message.role) {
    case "user":
      return [{ role: "user", content: textOf(message.content) }];
    case "assistant": {
      const calls = message.content.filter((part) => part.type === "call");
      return [
        {
          role: "assistant",
          content: textOf(message.content) || null,
          ...(calls.length > 0 && {
            tool_calls: calls.map((call) => ({
              id: call.id,
              type: "function",
              function: { name: call.name, arguments: call.arguments },
            })),
          }),
        },
      ];
    }
    case "tool":
      return [{ role: "tool", tool_call_id: message.callId, content: resultText(message.result) }];
  }
}

/** This wire has no flag for a failed call, and takes only text. */
function resultText({ content, isError }: ToolResult): string {
  const images = content.filter((part) => part.type === "image").map((part) => `[image ${part.mimeType}]`);
  const text = [textOf(content), ...images].filter((part) => part !== "").join("\n");
  return isError ? `Error: ${text}` : text;
}

/** What has been read of one answer. */
export type State = { calls: Map<number, Call>; reason: StopReason | undefined; usage: Usage; ended: boolean };

export function start(): State {
  return { calls: new Map(), reason: undefined, usage: noUsage, ended: false };
}

/** One event's data → the events it completes. Unknown fields are ignored. */
export function step(state: State, data: string, label: string): ModelEvent[] {
  if (data === "[DONE]") return finish(state, label);
  const chunk = parse(data, label);
  if (chunk.error) {
    throw new OmegaError(
      "MODEL_UNAVAILABLE",
      `${label} failed while answering: ${chunk.error.message ?? "no reason given"}`,
    );
  }
  if (chunk.usage) state.usage = toUsage(chunk.usage);
  const choice = chunk.choices?.[0];
  const events: ModelEvent[] = [];
  const delta = choice?.delta ?? choice?.message;
  if (typeof delta?.content === "string" && delta.content !== "") events.push({ type: "text", text: delta.content });
  for (const [position, part] of (delta?.tool_calls ?? []).entries()) addToCall(state.calls, part, position);
  if (choice?.finish_reason) state.reason = toReason(choice.finish_reason);
  // A whole JSON answer has no terminal marker of its own.
  if (choice?.message) events.push(...finish(state, label));
  return events;
}

/** The end of the answer, by its marker or by the end of the stream. A stream without a stop reason was cut. */
export function finish(state: State, label: string): ModelEvent[] {
  if (state.ended) return [];
  if (state.reason === undefined) {
    throw new OmegaError("MODEL_UNAVAILABLE", `the answer of ${label} broke off before its end`);
  }
  state.ended = true;
  const calls = [...state.calls.values()];
  return [
    ...calls.map((call): ModelEvent => ({ type: "call", call })),
    // Some servers say "stop" beside tool calls: the calls decide.
    { type: "end", reason: calls.length > 0 ? "tool" : state.reason, usage: state.usage },
  ];
}

type Chunk = {
  error?: { message?: string };
  usage?: WireUsage | null;
  choices?: { delta?: Delta; message?: Delta; finish_reason?: string | null }[];
};
type Delta = { content?: string | null; tool_calls?: CallPart[] };
type CallPart = { index?: number; id?: string; function?: { name?: string; arguments?: string } };
type WireUsage = {
  prompt_tokens?: number;
  completion_tokens?: number;
  prompt_tokens_details?: { cached_tokens?: number; cache_write_tokens?: number } | null;
  completion_tokens_details?: { reasoning_tokens?: number } | null;
};

function parse(data: string, label: string): Chunk {
  try {
    return JSON.parse(data) ?? {};
  } catch (cause) {
    throw new OmegaError("MODEL_UNAVAILABLE", `${label} sent an event that is not JSON`, { cause });
  }
}

function addToCall(calls: Map<number, Call>, part: CallPart, position: number): void {
  const index = part.index ?? position;
  const call = calls.get(index) ?? { type: "call", id: part.id || `call_${index}`, name: "", arguments: "" };
  call.name += part.function?.name ?? "";
  call.arguments += part.function?.arguments ?? "";
  calls.set(index, call);
}

function toReason(word: string): StopReason {
  if (word === "stop") return "stop";
  if (word === "tool_calls" || word === "function_call") return "tool";
  if (word === "length") return "length";
  return word === "content_filter" ? "refusal" : "other";
}

function toUsage(usage: WireUsage): Usage {
  const cacheRead = usage.prompt_tokens_details?.cached_tokens ?? 0;
  const cacheWrite = usage.prompt_tokens_details?.cache_write_tokens ?? 0;
  return {
    input: Math.max(0, (usage.prompt_tokens ?? 0) - cacheRead - cacheWrite),
    output: usage.completion_tokens ?? 0,
    cacheRead,
    cacheWrite,
    reasoning: usage.completion_tokens_details?.reasoning_tokens ?? 0,
  };
}
