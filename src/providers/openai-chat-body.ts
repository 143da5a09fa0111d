// What is asked on the Chat Completions wire, and where servers want it differently. Pure: a request → a body.

import type { Image, Message, ModelRequest } from "../conversation.ts";
import { textOf } from "../conversation.ts";
import { type Fields, fields } from "./loose.ts";
import { type BodyOptions, plainResult, visible } from "./wire.ts";

export function toBody({ system, messages, tools }: ModelRequest, options: BodyOptions): Record<string, unknown> {
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
      const text = plainResult(message.result);
      const content = text === "" ? note.trim() : `${text}${note}`;
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
