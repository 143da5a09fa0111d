// The conversation: ask the model, run the calls it makes, tell it what came of them, until it stops. Knows no provider's
// wire and no server.

import {
  addUsage,
  type Call,
  type Message,
  type Model,
  noUsage,
  type StopReason,
  type ToolDefinition,
  type ToolResult,
  textOf,
  type Usage,
} from "../conversation.ts";
import { OmegaError } from "../errors.ts";
import type { RunEvent } from "../events.ts";

export type Conversation = {
  model: Model;
  tools: {
    definitions: ToolDefinition[];
    call(name: string, argumentsText: string, signal: AbortSignal): Promise<ToolResult>;
  };
  system: string | undefined;
  prompt: string;
  turns: number;
};

type Running = { call: Call; result: Promise<{ result: ToolResult; ms: number }> };
type Turn = { text: string; running: Running[]; reason: StopReason };

/** Yields what happens and returns the answer; throws an OmegaError when there is none. */
export async function* converse(conversation: Conversation, signal: AbortSignal): AsyncGenerator<RunEvent, string> {
  const messages: Message[] = [{ role: "user", content: [{ type: "text", text: conversation.prompt }] }];
  for (let turn = 1; turn <= conversation.turns; turn++) {
    yield { type: "turn", turn };
    const { text, running, reason } = yield* ask(conversation, messages, turn, signal);
    messages.push({
      role: "assistant",
      content: [...(text === "" ? [] : [{ type: "text" as const, text }]), ...running.map(({ call }) => call)],
    });
    if (running.length === 0) return answer(text, reason);
    for (const { call, result: pending } of running) {
      const { result, ms } = await pending;
      messages.push({ role: "tool", callId: call.id, result });
      const text = textOf(result.content);
      yield { type: "result", turn, id: call.id, tool: call.name, isError: result.isError, text, ms };
    }
    signal.throwIfAborted();
  }
  throw new OmegaError("LIMIT_TURNS", `the limit of ${conversation.turns} turns was reached`, {
    hint: "raise limits.turns if the work needs more",
  });
}

/** One model request. Calls start as soon as each is complete. */
async function* ask(
  { model, tools, system }: Conversation,
  messages: Message[],
  turn: number,
  signal: AbortSignal,
): AsyncGenerator<RunEvent, Turn> {
  const started = performance.now();
  const running: Running[] = [];
  let text = "";
  let reason: StopReason = "other";
  let usage: Usage = noUsage;
  const request = { messages, tools: tools.definitions, ...(system !== undefined && { system }) };
  for await (const event of model.stream(request, signal)) {
    switch (event.type) {
      case "text":
        text += event.text;
        yield { type: "text", turn, text: event.text };
        break;
      case "call":
        running.push(run(event.call, tools.call, signal));
        yield { type: "call", turn, id: event.call.id, tool: event.call.name, arguments: event.call.arguments };
        break;
      case "fallback":
        yield { type: "fallback", model: event.model, reason: event.reason };
        break;
      case "end":
        reason = event.reason;
        usage = addUsage(usage, event.usage);
    }
  }
  yield { type: "usage", turn, usage, modelMs: Math.round(performance.now() - started) };
  return { text, running, reason };
}

function run(call: Call, callTool: Conversation["tools"]["call"], signal: AbortSignal): Running {
  const started = performance.now();
  const result = callTool(call.name, call.arguments, signal).then((result) => ({
    result,
    ms: Math.round(performance.now() - started),
  }));
  // If the stream breaks, nobody awaits this call; the stream's error is the one to tell.
  result.catch(() => undefined);
  return { call, result };
}

function answer(text: string, reason: StopReason): string {
  if (reason === "length") throw new OmegaError("MODEL_TRUNCATED", "the model's answer was cut at its length limit");
  if (reason === "refusal")
    throw new OmegaError("MODEL_REFUSED", `the model declined to answer${text ? `: ${text}` : ""}`);
  if (text.trim() === "") throw new OmegaError("ANSWER_EMPTY", "the model ended without an answer");
  return text;
}
