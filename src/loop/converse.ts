// The conversation: ask the model, run the calls it makes, tell it what came of them, until it stops. Knows no provider's
// wire and no server.

import {
  type Call,
  type End,
  type Message,
  type Model,
  noUsage,
  type ToolDefinition,
  type ToolResult,
  textOf,
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
  /** When the run ends at the latest (epoch, ms). */
  deadlineAt?: number;
};

type Running = { call: Call; result: Promise<{ result: ToolResult; ms: number }> };
type Turn = { text: string; running: Running[]; end: End };

const GO_ON = "Your answer was cut off. Go on exactly where it stopped, without repeating anything.";

/** Yields what happens and returns the answer; throws an OmegaError when there is none. */
export async function* converse(conversation: Conversation, signal: AbortSignal): AsyncGenerator<RunEvent, string> {
  const messages: Message[] = [{ role: "user", content: [{ type: "text", text: conversation.prompt }] }];
  /** What an answer said before it was cut by its length, once. */
  let before: string | undefined;
  for (let turn = 1; turn <= conversation.turns; turn++) {
    yield { type: "turn", turn };
    const { text, running, end } = yield* ask(conversation, messages, turn, signal);
    messages.push(toMessage(text, running, end));
    for (const { call, result: pending } of running) {
      const { result, ms } = await pending;
      messages.push({ role: "tool", callId: call.id, result });
      const text = textOf(result.content);
      yield { type: "result", turn, id: call.id, tool: call.name, isError: result.isError, text, ms };
    }
    signal.throwIfAborted();
    if (end.reason === "refusal") throw refused(text);
    if (running.length > 0) before = undefined;
    else if (end.reason === "length" && before === undefined) {
      before = text;
      messages.push({ role: "user", content: [{ type: "text", text: GO_ON }] });
    } else if (end.reason !== "pause") {
      if (end.reason === "other")
        yield { type: "warning", message: `the model stopped for a reason of its own: ${end.word}` };
      return answer(`${before ?? ""}${text}`, end);
    }
  }
  throw new OmegaError("LIMIT_TURNS", `the limit of ${conversation.turns} turns was reached`, {
    hint: "raise limits.turns if the work needs more",
  });
}

/** One model request. Calls start as soon as each is complete. */
async function* ask(
  { model, tools, system, deadlineAt }: Conversation,
  messages: readonly Message[],
  turn: number,
  signal: AbortSignal,
): AsyncGenerator<RunEvent, Turn> {
  const started = performance.now();
  const running: Running[] = [];
  let text = "";
  let end: End = { type: "end", reason: "other", usage: noUsage };
  const request = {
    messages,
    tools: tools.definitions,
    ...(system !== undefined && { system }),
    ...(deadlineAt !== undefined && { deadlineAt }),
  };
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
      case "retry":
        text = "";
        yield { type: "retry", turn, reason: event.reason, waitMs: event.waitMs };
        break;
      case "fallback":
        text = "";
        yield event;
        break;
      case "debug":
        yield event;
        break;
      case "end":
        end = event;
    }
  }
  if (end.cut !== undefined) yield { type: "warning", message: `${end.cut}; the calls it had made stand` };
  yield {
    type: "usage",
    turn,
    usage: end.usage,
    cost: end.cost ?? null,
    modelMs: Math.round(performance.now() - started),
  };
  return { text, running, end };
}

function toMessage(text: string, running: readonly Running[], { raw }: End): Message {
  const said = text === "" ? [] : [{ type: "text" as const, text }];
  return { role: "assistant", content: [...said, ...running.map(({ call }) => call)], ...(raw && { raw }) };
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

function refused(text: string): OmegaError {
  return new OmegaError("MODEL_REFUSED", `the model declined to answer${text ? `: ${text}` : ""}`);
}

function answer(text: string, { reason }: End): string {
  if (reason === "length") {
    throw new OmegaError(
      "MODEL_TRUNCATED",
      "the model's answer was cut at its length limit, and again when it went on",
      {
        hint: "raise model.maxTokens, or ask for less",
      },
    );
  }
  if (text.trim() === "") throw new OmegaError("ANSWER_EMPTY", "the model ended without an answer");
  return text;
}
