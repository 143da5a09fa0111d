// Anthropic Messages: blocks that begin, grow and stop, between the message's own start and stop.

import {
  type Heard,
  halves,
  namedFrame,
  type ScriptedAnswer,
  type ScriptedStream,
  type ScriptedWire,
  said,
} from "./wire.ts";

const words: Record<string, string> = {
  stop: "end_turn",
  tool: "tool_use",
  tool_calls: "tool_use",
  length: "max_tokens",
  content_filter: "refusal",
  pause: "pause_turn",
};

function stream({ turn, model, pieces, calls, finish, usage }: ScriptedAnswer): ScriptedStream {
  const counts = {
    input_tokens: usage.input,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: usage.cacheRead,
  };
  const message = { id: `msg_${turn}`, type: "message", role: "assistant", model, content: [] };
  const open = { ...message, stop_reason: null, stop_sequence: null, usage: { ...counts, output_tokens: 1 } };
  const begin = [namedFrame({ type: "message_start", message: open }), namedFrame({ type: "ping" })];
  const places = pieces.length > 0 ? 1 : 0;
  const stop_reason = words[finish] ?? finish;
  const stop_details = stop_reason === "refusal" && { stop_details: { type: "refusal", category: null } };
  return {
    text: [...begin, ...tellText(pieces)],
    calls: calls.map(({ id, name, arguments: text }, index) => {
      const { start, delta, stop } = block(places + index);
      const [first, second] = halves(text);
      const json = (partial_json: string) => delta({ type: "input_json_delta", partial_json });
      return {
        begin: [start({ type: "tool_use", id, name, input: {} }), json(""), json(first)],
        rest: [json(second), stop],
      };
    }),
    end: [
      namedFrame({
        type: "message_delta",
        delta: { stop_reason, stop_sequence: null, ...stop_details },
        usage: { ...counts, output_tokens: usage.output },
      }),
      namedFrame({ type: "message_stop" }),
    ],
  };
}

function tellText(pieces: readonly string[]): string[] {
  if (pieces.length === 0) return [];
  const { start, delta, stop } = block(0);
  return [start({ type: "text", text: "" }), ...pieces.map((text) => delta({ type: "text_delta", text })), stop];
}

const block = (index: number) => ({
  start: (content_block: object) => namedFrame({ type: "content_block_start", index, content_block }),
  delta: (delta: object) => namedFrame({ type: "content_block_delta", index, delta }),
  stop: namedFrame({ type: "content_block_stop", index }),
});

function hear({ system, messages }: any): Heard[] {
  return [{ role: "system", text: said(system) }, ...messages.flatMap(hearTurn)];
}

function hearTurn({ role, content }: any): Heard[] {
  if (role === "assistant" || typeof content === "string") return [{ role, text: said(content) }];
  return content.map((part: any) =>
    part.type === "tool_result"
      ? { role: "tool", text: said(part.content), isError: part.is_error === true }
      : { role, text: said([part]) },
  );
}

export const anthropic: ScriptedWire = {
  stream,
  hear,
  tools: ({ tools = [] }) => tools.map((tool: any) => tool.name),
};
