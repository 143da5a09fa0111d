// What a wire format is: how a request is written, and how the events of an answer are read. Pure: no fetch, no clock.
// Sending, framing, retries, keys and prices are the same for all (ask.ts).

import type { Image, ModelEvent, ModelRequest, ToolResult } from "../conversation.ts";
import { textOf } from "../conversation.ts";
import type { Fitted } from "./schemas.ts";

export type Thinking = "off" | "low" | "medium" | "high";

export type BodyOptions = {
  model: string;
  /** `provider/name`: answers that this model gave go back in its own blocks. */
  label: string;
  temperature?: number | undefined;
  maxTokens?: number | undefined;
  thinking?: Thinking | undefined;
  /** Optional fields that the server has refused in this run. */
  dropped: ReadonlySet<string>;
  quirks: Quirks;
};

/** Where servers of one wire differ. */
export type Quirks = {
  /** The field that says how much to think. */
  effort?: "reasoning_effort" | "reasoning" | "thinking";
  /** Reasoning fields that go back beside the tool calls they led to. */
  handBack?: readonly string[];
  /** The word for the longest answer; the other one is tried if it is refused. */
  maxTokensField?: "max_tokens" | "max_completion_tokens";
  /** Models whose prompt is cached only where it is marked. */
  cacheMarks?: RegExp;
  /** Call ids are 9 letters or digits. */
  shortIds?: boolean;
};

export type Wire<State> = {
  path(model: string): string;
  toBody(request: ModelRequest, options: BodyOptions): Record<string, unknown>;
  /** Tool schemas cut to what the API takes; the original is still what arguments are checked against. */
  fit(schema: object): Fitted;
  /** Fields that a request can do without, and how a refusal speaks of them; a refused one is left out from then on. */
  optional: Readonly<Record<string, RegExp>>;
  /** `turn` makes the ids unique that a server leaves out. */
  start(turn: number): State;
  /** One event → what it completes; the last of them is the end. Throws an ApiError that the server tells. */
  step(state: State, event: unknown): ModelEvent[];
  /** The body is at its end: the end of the answer, or an ApiError if the answer was cut. */
  finish(state: State): ModelEvent[];
  /** The blocks of the answer that are whole, to be sent back. */
  blocks(state: State): object[];
};

/** A wire whose state nobody else sees. */
export type OpenWire = Omit<Wire<never>, "start" | "step" | "finish" | "blocks"> & { read(turn: number): Reading };
export type Reading = { step(event: unknown): ModelEvent[]; finish(): ModelEvent[]; blocks(): object[] };

export function openWire<State>(wire: Wire<State>): OpenWire {
  const { path, toBody, fit, optional } = wire;
  const read = (turn: number): Reading => {
    const state = wire.start(turn);
    return {
      // A list is as many events.
      step: (event) =>
        Array.isArray(event) ? event.flatMap((each) => wire.step(state, each)) : wire.step(state, event),
      finish: () => wire.finish(state),
      blocks: () => wire.blocks(state),
    };
  };
  return { path, toBody, fit, optional, read };
}

const pictures = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);

/** The content that every provider's eyes take: other kinds of pictures become a note, empty texts nothing. */
export function visible(content: ToolResult["content"]): ToolResult["content"] {
  return content
    .map((part) => (part.type === "image" && !pictures.has(part.mimeType) ? note(part) : part))
    .filter((part) => part.type === "image" || part.text !== "");
}

const note = (image: Image) => ({ type: "text" as const, text: `[a picture of type ${image.mimeType}, not shown]` });

/** A result for wires that have no flag for a failed call. */
export function plainResult({ content, isError }: ToolResult): string {
  const text = textOf(visible(content));
  return isError ? `Error: ${text}` : text;
}
