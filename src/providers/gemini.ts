// Google's generateContent wire. Pure: a request → a body; events → our events. The parts of an answer go back exactly as
// they came: newer models refuse a call that has lost its signature.

import type { Call, Message, ModelEvent, ModelRequest, StopReason, ToolResult, Usage } from "../conversation.ts";
import { textOf } from "../conversation.ts";
import { ApiError, failureInStream, truncated } from "./failures.ts";
import { assemble } from "./gemini-partial.ts";
import { argumentsObject, count, type Fields, fields, list, text } from "./loose.ts";
import { type Fitted, toOpenApi } from "./schemas.ts";
import { type BodyOptions, type Thinking, visible, type Wire } from "./wire.ts";

const budgets = { off: 0, low: 1_024, medium: 8_192, high: 24_576 };
const levels = { off: "MINIMAL", low: "LOW", medium: "MEDIUM", high: "HIGH" };

function toBody({ system, messages, tools }: ModelRequest, options: BodyOptions): Record<string, unknown> {
  const { temperature, maxTokens, thinking, dropped } = options;
  const generationConfig = {
    ...(temperature !== undefined && { temperature }),
    ...(maxTokens !== undefined && { maxOutputTokens: maxTokens }),
    ...(thinking !== undefined && !dropped.has("thinkingConfig") && { thinkingConfig: toThinking(options, thinking) }),
  };
  const plainSchemas = dropped.has("parametersJsonSchema");
  return {
    ...(system && { systemInstruction: { parts: [{ text: system }] } }),
    contents: toContents(messages, options),
    ...(tools.length > 0 && {
      tools: [{ functionDeclarations: tools.map((tool) => toDeclaration(tool, plainSchemas)) }],
    }),
    ...(Object.keys(generationConfig).length > 0 && { generationConfig }),
  };
}

const version = (model: string) => Number(/gemini-(\d+(\.\d+)?)/.exec(model)?.[1] ?? 3);

function toThinking({ model }: BodyOptions, thinking: Thinking): object {
  return version(model) < 3 ? { thinkingBudget: budgets[thinking] } : { thinkingLevel: levels[thinking] };
}

/** A tool without parameters says nothing of them. */
function toDeclaration({ name, description, inputSchema }: ModelRequest["tools"][number], plain: boolean): object {
  if (Object.keys(fields(fields(inputSchema)["properties"])).length === 0) return { name, description };
  return plain
    ? { name, description, parameters: toOpenApi(inputSchema) }
    : { name, description, parametersJsonSchema: inputSchema };
}

type Content = { role: "user" | "model"; parts: object[] };

/** Neighbours of one role are one turn: all results of a turn stand together, in the order of the calls. */
function toContents(messages: readonly Message[], options: BodyOptions): Content[] {
  const contents: Content[] = [];
  const calls = new Map<string, { name: string; id: unknown }>();
  for (const message of messages) {
    const own = message.role === "assistant" && message.raw?.by === options.label ? message.raw.blocks : undefined;
    if (message.role === "assistant") noteCalls(calls, message.content, own);
    const content = toContent(message, own, calls, options);
    const last = contents.at(-1);
    if (content.parts.length === 0) continue;
    if (last?.role === content.role) last.parts.push(...content.parts);
    else contents.push(content);
  }
  return contents;
}

/** A result names its function, and its id only if the call came with one. */
function noteCalls(
  calls: Map<string, { name: string; id: unknown }>,
  content: readonly { type: string; id?: string; name?: string }[],
  own: readonly object[] | undefined,
): void {
  const sent = (own ?? []).map((part) => fields(fields(part)["functionCall"])).filter((call) => "name" in call);
  for (const [index, part] of content.filter(({ type }) => type === "call").entries()) {
    calls.set(part.id ?? "", { name: part.name ?? "", id: sent[index]?.["id"] });
  }
}

function toContent(
  message: Message,
  own: readonly object[] | undefined,
  calls: ReadonlyMap<string, { name: string; id: unknown }>,
  { model }: BodyOptions,
): Content {
  switch (message.role) {
    case "user":
      return { role: "user", parts: visible(message.content).map(toPart) };
    case "assistant":
      return { role: "model", parts: own ? [...own] : foreign(message.content, model) };
    case "tool":
      return { role: "user", parts: toResponse(calls.get(message.callId), message.result, version(model)) };
  }
}

function toPart(part: ToolResult["content"][number]): object {
  return part.type === "text" ? { text: part.text } : { inlineData: { mimeType: part.mimeType, data: part.data } };
}

/** What another model said has no signature; newer models want to be told that this is known. */
function foreign(content: readonly (Call | { type: "text"; text: string })[], model: string): object[] {
  let first = version(model) >= 3;
  return content.flatMap((part): object[] => {
    if (part.type === "text") return part.text === "" ? [] : [{ text: part.text }];
    const signature = first && { thoughtSignature: "skip_thought_signature_validator" };
    first = false;
    return [{ functionCall: { name: part.name, args: argumentsObject(part.arguments) }, ...signature }];
  });
}

/** Pictures stand inside a result since version 3, before that beside it. */
function toResponse(call: { name: string; id: unknown } | undefined, result: ToolResult, since: number): object[] {
  const shown = visible(result.content);
  const pictures = shown.filter((part) => part.type === "image").map(toPart);
  const said = textOf(shown);
  const functionResponse = {
    ...(typeof call?.id === "string" && { id: call.id }),
    name: call?.name ?? "",
    response: result.isError ? { error: said } : { output: said },
    ...(pictures.length > 0 && since >= 3 && { parts: pictures }),
  };
  return [{ functionResponse }, ...(since >= 3 ? [] : pictures)];
}

/** What has been read of one answer. `open`: a call whose arguments come in pieces. */
export type State = {
  turn: number;
  parts: Fields[];
  open: { call: Fields; pieces: unknown[] } | undefined;
  calls: number;
  word: string;
  usage: Fields;
  ended: boolean;
};

function start(turn: number): State {
  return { turn, parts: [], open: undefined, calls: 0, word: "", usage: {}, ended: false };
}

function step(state: State, event: unknown): ModelEvent[] {
  const chunk = fields(event);
  if (chunk["error"]) throw failureInStream(chunk);
  if (chunk["usageMetadata"]) Object.assign(state.usage, chunk["usageMetadata"]);
  const candidate = fields(list(chunk["candidates"])[0]);
  const events = list(fields(candidate["content"])["parts"]).flatMap((part) => readPart(state, fields(part)));
  const blocked = text(fields(chunk["promptFeedback"])["blockReason"]);
  state.word = text(candidate["finishReason"]) || (blocked && `blocked: ${blocked}`) || state.word;
  if (/MALFORMED|UNEXPECTED_TOOL_CALL|TOO_MANY_TOOL_CALLS/.test(state.word))
    throw new ApiError("unavailable", `failed while answering: ${state.word}`);
  return events;
}

function readPart(state: State, part: Fields): ModelEvent[] {
  if (part["functionCall"]) return readCall(state, part);
  keep(state.parts, part);
  const said = part["thought"] === true ? "" : text(part["text"]);
  return said === "" ? [] : [{ type: "text", text: said }];
}

/** Pieces of one text are one part; what carries a signature stays alone. */
function keep(parts: Fields[], part: Fields): void {
  const last = parts.at(-1);
  const joins = (each: Fields) => typeof each["text"] === "string" && !("thoughtSignature" in each);
  if (last && joins(last) && joins(part) && last["thought"] === part["thought"])
    last["text"] = text(last["text"]) + text(part["text"]);
  else parts.push({ ...part });
}

function readCall(state: State, part: Fields): ModelEvent[] {
  const said = fields(part["functionCall"]);
  const inPieces = "partialArgs" in said || said["willContinue"] === true;
  if (state.open && !("name" in said)) state.open.pieces.push(...list(said["partialArgs"]));
  else if (inPieces) {
    const { partialArgs, willContinue, ...call } = said;
    const closed = close(state);
    state.open = { call, pieces: [...list(partialArgs)] };
    state.parts.push({ ...part, functionCall: call });
    return [...closed, ...(willContinue === true ? [] : close(state))];
  }
  if (state.open) return said["willContinue"] === true ? [] : close(state);
  state.parts.push({ ...part });
  return [tell(state, said)];
}

function close(state: State): ModelEvent[] {
  if (!state.open) return [];
  const { call, pieces } = state.open;
  state.open = undefined;
  call["args"] = assemble(pieces);
  return [tell(state, call)];
}

function tell(state: State, said: Fields): ModelEvent {
  state.calls++;
  const id = text(said["id"]) || `call_${state.turn}_${state.calls}`;
  return {
    type: "call",
    call: { type: "call", id, name: text(said["name"]), arguments: JSON.stringify(said["args"] ?? {}) },
  };
}

/** The last chunk has the stop reason; there is no other marker. */
function finish(state: State): ModelEvent[] {
  if (state.ended) return [];
  if (state.word === "") throw truncated();
  state.ended = true;
  const closed = close(state);
  return [...closed, { type: "end", reason: toReason(state), word: state.word, usage: toUsage(state.usage) }];
}

const refusals = /^(SAFETY|RECITATION|BLOCKLIST|PROHIBITED_CONTENT|SPII|IMAGE_.*|MODEL_ARMOR|blocked: .*)$/;

function toReason({ word, calls }: State): StopReason {
  if (word === "STOP") return calls > 0 ? "tool" : "stop";
  if (word === "MAX_TOKENS") return "length";
  return refusals.test(word) ? "refusal" : "other";
}

function toUsage(usage: Fields): Usage {
  const cacheRead = count(usage["cachedContentTokenCount"]);
  const reasoning = count(usage["thoughtsTokenCount"]);
  const input = count(usage["promptTokenCount"]) + count(usage["toolUsePromptTokenCount"]);
  return {
    input: Math.max(0, input - cacheRead),
    output: count(usage["candidatesTokenCount"]) + reasoning,
    cacheRead,
    cacheWrite: 0,
    reasoning,
  };
}

/** Plain JSON Schema is taken as it is. */
const fit = (schema: object): Fitted => ({ schema, changes: [] });

export const gemini: Wire<State> = {
  path: (model) => `v1beta/models/${encodeURIComponent(model)}:streamGenerateContent?alt=sse`,
  toBody,
  fit,
  optional: { thinkingConfig: /thinking/i, parametersJsonSchema: /parameters_?json_?schema|function_declarations/i },
  start,
  step,
  finish,
  blocks: ({ parts, open }) => parts.filter((part) => !open || part["functionCall"] !== open.call),
};
