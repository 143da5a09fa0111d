// Which wire a request is on, and what it says, whatever the wire.

import { anthropic } from "./anthropic.ts";
import { gemini } from "./gemini.ts";
import { openaiChat } from "./openai-chat.ts";
import { openaiResponses } from "./openai-responses.ts";
import type { Heard, ScriptedWire, WireName } from "./wire.ts";

export type Asked = {
  wire: WireName;
  model: string;
  system: string;
  /** Names, in their order. */
  tools: string[];
  /** A turn of the model is here even if it was calls alone, with the text "". */
  messages: { role: "user" | "assistant"; text: string }[];
  /** All tool results, in their order. `isError` is undefined on the OpenAI wires, which have no such field. */
  results: { text: string; isError?: boolean }[];
  /** The body as it came. */
  raw: any;
};

export const wires: Record<WireName, ScriptedWire> = {
  "openai-chat": openaiChat,
  openai: openaiResponses,
  anthropic,
  google: gemini,
};

const paths: [RegExp, WireName][] = [
  [/\/chat\/completions$/, "openai-chat"],
  [/\/responses$/, "openai"],
  [/\/v1\/messages$/, "anthropic"],
  [/\/models\/[^/]+:streamGenerateContent$/, "google"],
];

/** Undefined: nobody lives there. */
export function wireAt(path: string): WireName | undefined {
  return paths.find(([pattern]) => pattern.test(path))?.[1];
}

export function readAsked(wire: WireName, path: string, raw: any): Asked {
  const heard = joined(wires[wire].hear(raw));
  return {
    wire,
    model: raw.model ?? decodeURIComponent(/\/models\/([^/]+):/.exec(path)?.[1] ?? ""),
    system: said(heard, "system"),
    tools: wires[wire].tools(raw),
    messages: heard.flatMap(({ role, text }) => (role === "user" || role === "assistant" ? [{ role, text }] : [])),
    results: heard.flatMap((each) => {
      if (each.role !== "tool") return [];
      const { role, ...result } = each;
      return [result];
    }),
    raw,
  };
}

/** Neighbours of one role are one message, as on some wires they have to be; each result stays its own. */
function joined(heard: readonly Heard[]): Heard[] {
  const result: Heard[] = [];
  for (const each of heard) {
    const last = result.at(-1);
    if (each.role === "user" && each.text === "") continue;
    if (each.role === "tool" || last?.role !== each.role) result.push({ ...each });
    else last.text = [last.text, each.text].filter((text) => text !== "").join("\n");
  }
  return result;
}

const said = (heard: readonly Heard[], role: string) =>
  heard.flatMap((each) => (each.role === role && each.text !== "" ? [each.text] : [])).join("\n");
