// The conversation as omega holds it, whatever the provider's wire looks like.

export type Text = { type: "text"; text: string };
export type Image = { type: "image"; data: string; mimeType: string };

/** A tool call as the model wrote it; `arguments` is its JSON text, parsed once by the loop. */
export type Call = { type: "call"; id: string; name: string; arguments: string };

/** `denied`: the call was not made, for a rule or a person refused it. */
export type ToolResult = { content: (Text | Image)[]; isError: boolean; denied?: true };

/**
 * An answer in its provider's own blocks, opaque to all but the wire that made it. Reasoning comes back as each API demands
 * because these go back unchanged; another model is told the plain view beside it.
 */
export type Raw = { by: string; blocks: readonly object[] };

export type Message =
  | { role: "user"; content: (Text | Image)[] }
  | { role: "assistant"; content: (Text | Call)[]; raw?: Raw }
  | { role: "tool"; callId: string; result: ToolResult };

/** A tool as the model sees it. `origin` is `server/tool` in real names, for people and scripts; no wire sends it. */
export type ToolDefinition = { name: string; origin: string; description: string; inputSchema: object };

/** Counts are disjoint: cost = sum of count × price. `reasoning` is part of `output`. */
export type Usage = { input: number; output: number; cacheRead: number; cacheWrite: number; reasoning: number };

/** `pause`: the provider wants the turn back as it is, and goes on. */
export type StopReason = "stop" | "tool" | "length" | "refusal" | "pause" | "other";

export type ModelRequest = {
  system?: string;
  messages: readonly Message[];
  tools: readonly ToolDefinition[];
  /** Those that would be offered by now. */
  toolsNow?(): readonly ToolDefinition[];
  /** When the run ends at the latest (epoch, ms): no wait is begun that would pass it. */
  deadlineAt?: number;
  /** The longest answer to this request, if it must be shorter than usual. */
  maxTokens?: number;
  /** Which sub-agent asks; no wire sends it. */
  agent?: string;
};

export type ModelEvent =
  /** For whoever looks closely: what was changed on the way to the provider. */
  | { type: "debug"; message: string }
  /** The answer broke and is asked for again: what it said so far does not count. No call of it has been told. */
  | { type: "retry"; reason: string; waitMs: number }
  /** Another model answers from here on, and why. What the first said of this answer does not count. */
  | { type: "fallback"; model: string; reason: string }
  | { type: "text"; text: string }
  /** A call is told as soon as it is complete, while the answer goes on. */
  | { type: "call"; call: Call }
  | End;

export type End = {
  type: "end";
  reason: StopReason;
  /** The provider's own word, where ours says less. */
  word?: string | undefined;
  usage: Usage;
  /** US dollars; undefined if nobody knows. */
  cost?: number | undefined;
  raw?: Raw;
  /** Why the answer broke off after calls that stand. */
  cut?: string | undefined;
};

/** A model that can be asked. The stream throws an OmegaError, and stops when the signal aborts. */
export type Model = { name: string; stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelEvent> };

export const noUsage: Usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, reasoning: 0 };

export function addUsage(a: Usage, b: Usage): Usage {
  return {
    input: a.input + b.input,
    output: a.output + b.output,
    cacheRead: a.cacheRead + b.cacheRead,
    cacheWrite: a.cacheWrite + b.cacheWrite,
    reasoning: a.reasoning + b.reasoning,
  };
}

export function textOf(content: readonly { type: string; text?: string }[]): string {
  return content.flatMap((part) => (part.type === "text" && part.text !== undefined ? [part.text] : [])).join("\n");
}

export function errorResult(text: string): ToolResult {
  return { content: [{ type: "text", text }], isError: true };
}
