// A POST to a model's API → the data of its server-sent events. A JSON answer to a streaming request is one event.

import { createParser } from "eventsource-parser";
import { OmegaError, systemCode } from "../errors.ts";
import { oneLine } from "../terminal.ts";

/** A single event larger than this is no model's answer. */
const MAX_EVENT_BYTES = 32_000_000;
const MAX_ERROR_BYTES = 64_000;

export type ModelPost = { url: string; headers: Record<string, string>; body: unknown; label: string };

export async function* postForEvents(post: ModelPost, signal: AbortSignal): AsyncGenerator<string> {
  const response = await send(post, signal);
  if (!response.ok) throw await rejection(response, post.label);
  if (!response.body) throw unavailable(`${post.label} answered without a body`);
  if (response.headers.get("content-type")?.includes("application/json")) {
    yield await response.text();
    return;
  }
  const events: string[] = [];
  const parser = createParser({ onEvent: ({ data }) => events.push(data), maxBufferSize: MAX_EVENT_BYTES });
  const decoder = new TextDecoder();
  try {
    for await (const chunk of response.body) {
      parser.feed(decoder.decode(chunk, { stream: true }));
      yield* events.splice(0);
    }
  } catch (error) {
    signal.throwIfAborted();
    throw unavailable(`the connection to ${post.label} broke: ${reasonOf(error)}`, error);
  }
}

async function send({ url, headers, body, label }: ModelPost, signal: AbortSignal): Promise<Response> {
  const options: RequestInit & { timeout: false } = {
    method: "POST",
    headers: { "content-type": "application/json", accept: "text/event-stream, application/json", ...headers },
    body: JSON.stringify(body),
    redirect: "error",
    signal,
    // Bun ends a silent socket after 300 s unless told not to; the run has its own deadlines.
    timeout: false,
  };
  try {
    return await fetch(url, options);
  } catch (error) {
    signal.throwIfAborted();
    throw unavailable(`cannot reach ${label} at ${new URL(url).origin}: ${reasonOf(error)}`, error);
  }
}

async function rejection(response: Response, label: string): Promise<OmegaError> {
  const { status } = response;
  const body = (await response.text()).slice(0, MAX_ERROR_BYTES);
  const message = `${label} answered ${status}: ${oneLine(messageIn(body) ?? response.statusText, 300)}`;
  if (status === 429 || status === 408 || status === 409 || status >= 500) return unavailable(message);
  const hint =
    status === 401 || status === 403 ? "check the key" : status === 404 ? "check the model's name" : undefined;
  return new OmegaError("MODEL_REJECTED", message, hint === undefined ? {} : { hint });
}

/** The provider's own words: `{error: {message}}` or `{error: "…"}` or `{message}`; HTML is not quoted. */
function messageIn(body: string): string | undefined {
  try {
    const value = JSON.parse(body);
    const error = value?.error ?? value;
    return typeof error === "string" ? error : typeof error?.message === "string" ? error.message : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return body.startsWith("<") ? undefined : body;
    throw error;
  }
}

function reasonOf(error: unknown): string {
  return systemCode(error) ?? (error instanceof Error ? error.message : String(error));
}

function unavailable(message: string, cause?: unknown): OmegaError {
  return new OmegaError("MODEL_UNAVAILABLE", message, {
    cause,
    hint: "it may work later; nothing is wrong with the skill",
  });
}
