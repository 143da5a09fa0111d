// Chat Completions: what OpenAI and the servers like it send.

import {
  dataFrame,
  type Heard,
  halves,
  type ScriptedAnswer,
  type ScriptedStream,
  type ScriptedWire,
  said,
} from "./wire.ts";

const words: Record<string, string> = { tool: "tool_calls", refusal: "stop" };

function stream({ turn, model, pieces, calls, finish, usage }: ScriptedAnswer, body: any): ScriptedStream {
  const head = { id: `chatcmpl-${turn}`, object: "chat.completion.chunk", created: 1_790_000_000, model };
  const delta = (delta: object, finish_reason: string | null = null) =>
    dataFrame({ ...head, usage: null, choices: [{ index: 0, delta, logprobs: null, finish_reason }] });
  const piece = finish === "refusal" ? "refusal" : "content";
  return {
    text: [delta({ role: "assistant", content: "" }), ...pieces.map((text) => delta({ [piece]: text }))],
    calls: calls.map(({ id, name, arguments: text }, index) => {
      const [first, second] = halves(text);
      const more = (part: string) => delta({ tool_calls: [{ index, function: { arguments: part } }] });
      const start = { index, id, type: "function", function: { name, arguments: "" } };
      return { begin: [delta({ tool_calls: [start] }), more(first)], rest: [more(second)] };
    }),
    end: [
      delta({}, words[finish] ?? finish),
      ...(body.stream_options?.include_usage ? [dataFrame({ ...head, choices: [], usage: toUsage(usage) })] : []),
      "data: [DONE]\n\n",
    ],
  };
}

const toUsage = ({ input, output, cacheRead }: ScriptedAnswer["usage"]) => ({
  prompt_tokens: input + cacheRead,
  completion_tokens: output,
  total_tokens: input + cacheRead + output,
  prompt_tokens_details: { cached_tokens: cacheRead, audio_tokens: 0 },
  completion_tokens_details: { reasoning_tokens: 0, audio_tokens: 0 },
});

function hear({ messages }: any): Heard[] {
  return messages.map(({ role, content }: any) => ({
    role: role === "developer" ? "system" : role,
    text: said(content),
  }));
}

export const openaiChat: ScriptedWire = {
  stream,
  hear,
  tools: ({ tools = [] }) => tools.map((tool: any) => tool.function.name),
};
