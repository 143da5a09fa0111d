// Responses: every event is numbered, every item is told when it begins and again when it is whole.

import {
  type Heard,
  halves,
  namedFrame,
  type ScriptedAnswer,
  type ScriptedCall,
  type ScriptedStream,
  type ScriptedWire,
  said,
} from "./wire.ts";

type Tell = (type: string, more: object) => string;

function stream({ turn, model, pieces, calls, finish, usage }: ScriptedAnswer): ScriptedStream {
  let sequence_number = 0;
  const tell: Tell = (type, more) => namedFrame({ type, sequence_number: sequence_number++, ...more });
  const response = (status: string, more: object) => ({
    response: {
      id: `resp_${turn}`,
      object: "response",
      created_at: 1_790_000_000,
      status,
      error: null,
      incomplete_details: null,
      model,
      output: [],
      usage: null,
      ...more,
    },
  });
  const output: object[] = [];
  const text = [
    tell("response.created", response("in_progress", {})),
    tell("response.in_progress", response("in_progress", {})),
    ...(pieces.length > 0 ? tellMessage(tell, `msg_${turn}`, pieces, finish === "refusal", output) : []),
  ];
  const told = calls.map((call, index) => tellCall(tell, `fc_${turn}_${index + 1}`, call, output));
  const { status, ...more } = ending(finish);
  const end = tell(`response.${status}`, response(status, { ...more, output, usage: toUsage(usage) }));
  return { text, calls: told, end: [end] };
}

function tellMessage(tell: Tell, id: string, pieces: readonly string[], refuses: boolean, output: object[]): string[] {
  const text = pieces.join("");
  const kind = refuses ? "refusal" : "output_text";
  const field = refuses ? "refusal" : "text";
  const part = (whole: string) => ({ type: kind, ...(!refuses && { annotations: [], logprobs: [] }), [field]: whole });
  const message = { id, type: "message", role: "assistant" };
  const output_index = output.length;
  const place = { item_id: id, output_index, content_index: 0 };
  const item = { ...message, status: "completed", content: [part(text)] };
  output.push(item);
  return [
    tell("response.output_item.added", { output_index, item: { ...message, status: "in_progress", content: [] } }),
    tell("response.content_part.added", { ...place, part: part("") }),
    ...pieces.map((delta) => tell(`response.${kind}.delta`, { ...place, delta })),
    tell(`response.${kind}.done`, { ...place, [field]: text }),
    tell("response.content_part.done", { ...place, part: part(text) }),
    tell("response.output_item.done", { output_index, item }),
  ];
}

function tellCall(tell: Tell, id: string, call: ScriptedCall, output: object[]): ScriptedStream["calls"][number] {
  const [first, second] = halves(call.arguments);
  const start = { id, type: "function_call", call_id: call.id, name: call.name };
  const output_index = output.length;
  const place = { item_id: id, output_index };
  const item = { ...start, status: "completed", arguments: call.arguments };
  output.push(item);
  return {
    begin: [
      tell("response.output_item.added", { output_index, item: { ...start, status: "in_progress", arguments: "" } }),
      tell("response.function_call_arguments.delta", { ...place, delta: first }),
    ],
    rest: [
      tell("response.function_call_arguments.delta", { ...place, delta: second }),
      tell("response.function_call_arguments.done", { ...place, arguments: call.arguments }),
      tell("response.output_item.done", { output_index, item }),
    ],
  };
}

/** A refusal in words is a whole answer here. */
function ending(finish: string): { status: string; incomplete_details?: object; error?: object } {
  if (["stop", "tool", "tool_calls", "refusal"].includes(finish)) return { status: "completed" };
  if (finish === "failed") return { status: "failed", error: { code: "server_error", message: "scripted failure" } };
  return { status: "incomplete", incomplete_details: { reason: finish === "length" ? "max_output_tokens" : finish } };
}

const toUsage = ({ input, output, cacheRead }: ScriptedAnswer["usage"]) => ({
  input_tokens: input + cacheRead,
  input_tokens_details: { cached_tokens: cacheRead },
  output_tokens: output,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: input + cacheRead + output,
});

function hear({ instructions, input }: any): Heard[] {
  const items: Heard[] = (typeof input === "string" ? [{ role: "user", content: input }] : input).map((item: any) => {
    if (item.type === "function_call_output") return { role: "tool", text: said(item.output) };
    return { role: item.role ?? "assistant", text: said(item.content) };
  });
  return [{ role: "system", text: instructions ?? "" }, ...items];
}

export const openaiResponses: ScriptedWire = {
  stream,
  hear,
  tools: ({ tools = [] }) => tools.map((tool: any) => tool.name),
};
