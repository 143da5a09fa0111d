// What the scripted model says and hears, whatever the wire: each file beside this one puts it on one wire. Streams are as
// the providers' recorded ones; ids and times are the same in every run.

/** By the provider of omega that speaks it; `openai` is the Responses wire. */
export type WireName = "openai-chat" | "openai" | "anthropic" | "google";

export type ScriptedAnswer = {
  /** 1 for the first request. */
  turn: number;
  model: string;
  /** The text, in the pieces in which it is sent. */
  pieces: readonly string[];
  calls: readonly ScriptedCall[];
  /** In the words of Chat Completions, or a word of the wire's own. */
  finish: string;
  /** Disjoint counts, as omega tells them. */
  usage: { input: number; output: number; cacheRead: number };
};

export type ScriptedCall = { id: string; name: string; arguments: string };

/** Frames in the order in which they are sent. `begin` ends in the middle of the arguments, where the wire can do so. */
export type ScriptedStream = {
  text: string[];
  calls: { begin: string[]; rest: string[] }[];
  /** The stop reason and what follows it; without these frames the answer is cut. */
  end: string[];
};

/** What stands in a request. A turn of the model is there even if it said nothing. */
export type Heard =
  | { role: "system" | "user" | "assistant"; text: string }
  | { role: "tool"; text: string; isError?: boolean };

export type ScriptedWire = {
  stream(answer: ScriptedAnswer, body: any): ScriptedStream;
  hear(body: any): Heard[];
  tools(body: any): string[];
};

/** The text of content that is a string, a list of parts, or nothing. */
export function said(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content.flatMap(({ text }) => (typeof text === "string" && text !== "" ? [text] : [])).join("\n");
}

export function halves(text: string): [string, string] {
  const middle = Math.ceil(text.length / 2);
  return [text.slice(0, middle), text.slice(middle)];
}

export const dataFrame = (data: unknown) => `data: ${JSON.stringify(data)}\n\n`;
export const namedFrame = (data: { type: string; [field: string]: unknown }) =>
  `event: ${data.type}\n${dataFrame(data)}`;
