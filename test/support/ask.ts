// One question to a model of ours through a real HTTP server, and what came of it.

import type { Call, End, ModelEvent, ModelRequest } from "../../src/conversation.ts";
import { OmegaError } from "../../src/errors.ts";
import type { ModelChoice } from "../../src/manifest/skill.ts";
import { type ModelSettings, openModel } from "../../src/providers/model.ts";
import { type Reply, wireServer } from "./wire-server.ts";

export type Answer = {
  text: string;
  calls: Omit<Call, "type">[];
  end: End | undefined;
  error: OmegaError | undefined;
  events: ModelEvent[];
};

export const question: ModelRequest = {
  messages: [{ role: "user", content: [{ type: "text", text: "Hi" }] }],
  tools: [],
};

/** Short waits, no retries unless a test wants them. */
export const hasty = { retries: 0, firstMs: 1, maxMs: 2, firstByteMs: 20_000, silenceMs: 20_000 };

export async function open(
  name: string,
  url: string,
  more: Partial<ModelChoice> = {},
  settings: Partial<ModelSettings> = {},
) {
  const choice = { name, baseUrl: url, fallbacks: [], ...more };
  return (await openModel(choice, { environment: {}, dir: ".", patience: hasty, ...settings })).model;
}

export async function collect(events: AsyncIterable<ModelEvent>): Promise<Answer> {
  const answer: Answer = { text: "", calls: [], end: undefined, error: undefined, events: [] };
  try {
    for await (const event of events) {
      answer.events.push(event);
      if (event.type === "text") answer.text += event.text;
      else if (event.type === "retry" || event.type === "fallback") answer.text = "";
      else if (event.type === "call")
        answer.calls.push({ id: event.call.id, name: event.call.name, arguments: event.call.arguments });
      else if (event.type === "end") answer.end = event;
    }
  } catch (error) {
    if (!(error instanceof OmegaError)) throw error;
    answer.error = error;
  }
  return answer;
}

/** The answer of `provider/m` when its server replies so. */
export async function answerTo(provider: string, reply: Reply, request = question): Promise<Answer> {
  await using server = await wireServer(reply);
  const model = await open(`${provider}/m`, server.url);
  return await collect(model.stream(request, new AbortController().signal));
}

/** Events as a provider frames them. */
export function sse(events: readonly unknown[], provider: string): string {
  const named = provider === "anthropic" || provider === "openai";
  const frames = events.map((event) => {
    const data = typeof event === "string" ? event : JSON.stringify(event);
    const type =
      named && typeof event === "object" && event !== null && "type" in event ? `event: ${event.type}\n` : "";
    return `${type}data: ${data}\n\n`;
  });
  return frames.join("");
}
