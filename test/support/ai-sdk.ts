// The same question to the same server through the AI SDK's provider packages, for comparison.

import { createAnthropic } from "@ai-sdk/anthropic";
import { createGoogleGenerativeAI } from "@ai-sdk/google";
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";

export type SdkAnswer = {
  text: string;
  calls: { name: string; input: unknown }[];
  usage: any;
  finish: any;
  error: unknown;
};

export function sdkModel(provider: string, url: string, model = "m"): any {
  const apiKey = "none";
  if (provider === "anthropic") return createAnthropic({ baseURL: `${url}/v1`, apiKey })(model);
  if (provider === "google") return createGoogleGenerativeAI({ baseURL: `${url}/v1beta`, apiKey })(model);
  if (provider === "openai") return createOpenAI({ baseURL: url, apiKey }).responses(model);
  return createOpenAICompatible({ name: "c", baseURL: url, apiKey, includeUsage: true })(model);
}

export const sdkPrompt = [{ role: "user", content: [{ type: "text", text: "Hi" }] }];

export async function sdkAnswer(model: any, options: object = { prompt: sdkPrompt }): Promise<SdkAnswer> {
  const answer: SdkAnswer = { text: "", calls: [], usage: undefined, finish: undefined, error: undefined };
  try {
    const { stream } = await model.doStream(options);
    for await (const part of stream) {
      if (part.type === "text-delta") answer.text += part.delta;
      else if (part.type === "tool-call" && !part.providerExecuted)
        answer.calls.push({ name: part.toolName, input: parsed(part.input) });
      else if (part.type === "error") answer.error ??= part.error;
      else if (part.type === "finish") {
        answer.usage = part.usage;
        answer.finish = part.finishReason;
      }
    }
  } catch (error) {
    answer.error ??= error;
  }
  return answer;
}

export function parsed(input: string): unknown {
  try {
    return JSON.parse(input || "{}");
  } catch {
    return input;
  }
}

export function toOurUsage({ inputTokens, outputTokens }: any) {
  return {
    input: inputTokens.noCache,
    output: outputTokens.total,
    cacheRead: inputTokens.cacheRead ?? 0,
    cacheWrite: inputTokens.cacheWrite ?? 0,
    reasoning: outputTokens.reasoning ?? 0,
  };
}
