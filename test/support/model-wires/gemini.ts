// Google's streamGenerateContent: every chunk is a response with parts to append; a call comes whole, without an id, and the
// first of a turn with a signature that has to come back.

import { dataFrame, type Heard, type ScriptedAnswer, type ScriptedStream, type ScriptedWire, said } from "./wire.ts";

const words: Record<string, string> = {
  stop: "STOP",
  tool: "STOP",
  tool_calls: "STOP",
  length: "MAX_TOKENS",
  content_filter: "SAFETY",
  refusal: "SAFETY",
};

function stream({ turn, model, pieces, calls, finish, usage }: ScriptedAnswer): ScriptedStream {
  const tail = { usageMetadata: toUsage(usage), modelVersion: model, responseId: `response-${turn}` };
  const chunk = (parts: object[], more: object = {}) =>
    dataFrame({ candidates: [{ content: { parts, role: "model" }, ...more, index: 0 }], ...tail }).replace(
      /\n/g,
      "\r\n",
    );
  const args = calls.map((call) => objectIn(call.arguments));
  // What is no object this model cannot say: it fails instead.
  const fails = args.includes(undefined);
  return {
    text: pieces.map((text) => chunk([{ text }])),
    calls: (fails ? [] : calls).map(({ name }, index) => {
      const signature = index === 0 && { thoughtSignature: btoa(`signature ${turn}`) };
      return { begin: [], rest: [chunk([{ functionCall: { name, args: args[index] }, ...signature }])] };
    }),
    end: [chunk([{ text: "" }], { finishReason: fails ? "MALFORMED_FUNCTION_CALL" : (words[finish] ?? finish) })],
  };
}

function objectIn(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text || "{}");
    return typeof value === "object" && value !== null && !Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

const toUsage = ({ input, output, cacheRead }: ScriptedAnswer["usage"]) => ({
  promptTokenCount: input + cacheRead,
  candidatesTokenCount: output,
  totalTokenCount: input + cacheRead + output,
  ...(cacheRead > 0 && { cachedContentTokenCount: cacheRead }),
});

function hear({ systemInstruction, contents }: any): Heard[] {
  return [{ role: "system", text: said(systemInstruction?.parts) }, ...contents.flatMap(hearTurn)];
}

function hearTurn({ role, parts }: any): Heard[] {
  if (role === "model") return [{ role: "assistant", text: said(parts) }];
  return parts.map((part: any) => {
    if (!part.functionResponse) return { role: "user", text: said([part]) };
    const { error, output } = part.functionResponse.response;
    return { role: "tool", text: error ?? output ?? "", isError: error !== undefined };
  });
}

export const gemini: ScriptedWire = {
  stream,
  hear,
  tools: ({ tools = [] }) =>
    tools.flatMap(({ functionDeclarations = [] }: any) => functionDeclarations.map((tool: any) => tool.name)),
};
