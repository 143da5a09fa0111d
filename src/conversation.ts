// The conversation as omega holds it, whatever the provider's wire looks like.

export type Text = { type: "text"; text: string };
export type Image = { type: "image"; data: string; mimeType: string };

/** A tool call as the model wrote it; `arguments` is its JSON text, parsed once by the loop. */
export type Call = { type: "call"; id: string; name: string; arguments: string };

export type ToolResult = { content: (Text | Image)[]; isError: boolean };

export type Message =
  | { role: "user"; content: (Text | Image)[] }
  | { role: "assistant"; content: (Text | Call)[] }
  | { role: "tool"; callId: string; result: ToolResult };

/** A tool as the model sees it. `origin` is `server/tool` in real names, for people and scripts; no wire sends it. */
export type ToolDefinition = { name: string; origin: string; description: string; inputSchema: object };

/** Counts are disjoint: cost = sum of count × price. `reasoning` is part of `output`. */
export type Usage = { input: number; output: number; cacheRead: number; cacheWrite: number; reasoning: number };

export type StopReason = "stop" | "tool" | "length" | "refusal" | "other";

export type ModelRequest = { system?: string; messages: Message[]; tools: ToolDefinition[] };

export type ModelEvent =
  /** Another model answers from here on, and why. */
  | { type: "fallback"; model: string; reason: string }
  | { type: "text"; text: string }
  | { type: "call"; call: Call }
  | { type: "end"; reason: StopReason; usage: Usage };

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
