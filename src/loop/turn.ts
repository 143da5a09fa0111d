// One turn: a model request, and the calls it leads to, which start as soon as each is complete in the stream.

import {
  type Call,
  type End,
  errorResult,
  type Message,
  type ModelRequest,
  noUsage,
  type ToolResult,
  textOf,
} from "../conversation.ts";
import { OmegaError } from "../errors.ts";
import { FINISH, type RunEvent } from "../events.ts";
import type { Finished, FinishTool } from "../tools/builtin/finish.ts";
import type { Toolbox } from "../tools/table.ts";
import type { Conversation } from "./converse.ts";
import { shrink } from "./shrink.ts";

export type Turn = {
  text: string;
  end: End;
  calls: number;
  /** What `finish` was told, if it could be taken. */
  finished: Finished | undefined;
  /** Why the last `finish` could not be taken. */
  rejected: string | undefined;
  /** A call that was one too many. */
  limit: OmegaError | undefined;
};

export type TurnOptions = {
  messages: Message[];
  turn: number;
  tools: Pick<Toolbox, "definitions" | "originOf" | "call">;
  /** Why a call must not be made. */
  refuse(call: Call): OmegaError | undefined;
  signal: AbortSignal;
  deadlineAt: number;
  maxTokens?: number | undefined;
};

type Running = { call: Call; result: Promise<{ result: ToolResult; ms: number }> };

/** Leaves the messages as they were if the answer breaks off. */
export async function* takeTurn(conversation: Conversation, options: TurnOptions): AsyncGenerator<RunEvent, Turn> {
  const { messages, turn, tools } = options;
  const { text, running, end, limit } = yield* ask(conversation, options);
  const results = new Map<Running, ToolResult>();
  let finished: Finished | undefined;
  let rejected: string | undefined;
  for await (const { each, result: first, ms } of asTheyEnd(running)) {
    const { call } = each;
    let result = first;
    if (call.name === FINISH) {
      const said = await finish(call, { text, running }, conversation.finish);
      if (typeof said === "string") [rejected, result] = [said, errorResult(said)];
      else finished ??= said;
    }
    const origin = tools.originOf(call.name);
    results.set(each, result);
    const { isError, denied } = result;
    const told = { turn, id: call.id, tool: call.name, origin, isError, text: textOf(result.content), ms };
    yield { type: "result", ...told, ...(denied && { denied }) };
  }
  messages.push(toMessage(text, running, end));
  for (const each of running) {
    const result = results.get(each);
    if (result) messages.push({ role: "tool", callId: each.call.id, result });
  }
  return { text, end, calls: running.length, finished, rejected, limit };
}

/** A finish comes last: it looks at the results of the others. */
async function* asTheyEnd(running: readonly Running[]) {
  const isFinish = ({ call }: Running) => call.name === FINISH;
  for (const group of [running.filter((each) => !isFinish(each)), running.filter(isFinish)]) {
    const pending = new Map(group.map((each) => [each, each.result.then((ended) => ({ each, ...ended }))]));
    while (pending.size > 0) {
      const ended = await Promise.race(pending.values());
      pending.delete(ended.each);
      yield ended;
    }
  }
}

type Asked = { text: string; running: Running[]; end: End; limit: OmegaError | undefined };

async function* ask(conversation: Conversation, options: TurnOptions): AsyncGenerator<RunEvent, Asked> {
  const { finish, budget, system, agent } = conversation;
  const { messages, turn, tools, signal, maxTokens } = options;
  yield { type: "turn", turn };
  budget.beginTurn();
  const started = performance.now();
  const running: Running[] = [];
  let limit: OmegaError | undefined;
  let text = "";
  let end: End = { type: "end", reason: "other", usage: noUsage };
  const toolsNow = () => [...tools.definitions, finish.definition];
  const request: ModelRequest = {
    messages,
    tools: toolsNow(),
    toolsNow,
    ...(system !== undefined && { system }),
    ...(maxTokens !== undefined && { maxTokens }),
    ...(agent !== undefined && { agent }),
    deadlineAt: options.deadlineAt,
  };
  for await (const event of stream(conversation, request, messages, signal)) {
    switch (event.type) {
      case "text":
        text += event.text;
        yield { type: "text", turn, text: event.text };
        break;
      case "call": {
        const { id, name, arguments: args } = event.call;
        const refusal = name === FINISH ? undefined : options.refuse(event.call);
        limit ??= refusal;
        running.push(start(event.call, refusal, tools, signal));
        yield { type: "call", turn, id, tool: name, origin: tools.originOf(name), arguments: args };
        break;
      }
      case "retry":
        text = "";
        yield { type: "retry", turn, reason: event.reason, waitMs: event.waitMs };
        break;
      case "fallback":
        text = "";
        yield event;
        break;
      case "debug":
      case "warning":
        yield event;
        break;
      case "end":
        end = event;
    }
  }
  if (end.cut !== undefined) yield { type: "warning", message: `${end.cut}; the calls it had made stand` };
  const cost = end.cost ?? null;
  budget.spend(end.usage, cost);
  yield { type: "usage", turn, usage: end.usage, cost, modelMs: Math.round(performance.now() - started) };
  return { text, running, end, limit };
}

/** A conversation that is too long is made shorter, once, and asked again. */
async function* stream({ model, keep }: Conversation, request: ModelRequest, messages: Message[], signal: AbortSignal) {
  try {
    yield* model.stream(request, signal);
  } catch (error) {
    if (!(error instanceof OmegaError) || error.code !== "LIMIT_CONTEXT") throw error;
    const freed = shrink(messages, keep);
    if (freed === 0) throw error;
    yield { type: "warning" as const, message: `${error.message}; ${freed} characters of old outputs were put aside` };
    yield* model.stream(request, signal);
  }
}

function start(call: Call, refusal: OmegaError | undefined, tools: TurnOptions["tools"], signal: AbortSignal): Running {
  const started = performance.now();
  const made = call.name === FINISH ? noted : refusal ? errorResult(`not called: ${refusal.message}`) : undefined;
  const result = Promise.resolve(made ?? tools.call(call.name, call.arguments, signal)).then((result) => ({
    result,
    ms: Math.round(performance.now() - started),
  }));
  // If the stream breaks, nobody awaits this call; the stream's error is the one to tell.
  result.catch(() => undefined);
  return { call, result };
}

const noted: ToolResult = { content: [{ type: "text", text: "noted" }], isError: false };

/** "Done" that was said before the results were there is taken only if they are all good; and one without a word never. */
async function finish(
  call: Call,
  { text, running }: Pick<Asked, "text" | "running">,
  { accept }: FinishTool,
): Promise<Finished | string> {
  const others = await Promise.all(running.filter((each) => each.call.name !== FINISH).map(({ result }) => result));
  if (others.some(({ result }) => result.isError)) {
    return "not taken: another call of this turn failed. Look at the results, then call finish by itself.";
  }
  const said = await accept(parse(call.arguments));
  if (typeof said === "string") return said;
  const isMute = said.output === undefined && `${said.summary}${text}`.trim() === "";
  return isMute ? "not taken: nothing was said. Put what the reader should get into summary." : said;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function toMessage(text: string, running: readonly Running[], { raw }: End): Message {
  const said = text === "" ? [] : [{ type: "text" as const, text }];
  return { role: "assistant", content: [...said, ...running.map(({ call }) => call)], ...(raw && { raw }) };
}
