// A POST to a model's API → the data of its events, in the batches in which they come. Bytes may be cut anywhere. A JSON
// answer to a streaming request is one event. A server that falls silent is left.

import { createParser } from "eventsource-parser";
import { systemCode } from "../errors.ts";
import { ApiError, failureOf } from "./failures.ts";

/** A single event larger than this is no model's answer. */
const MAX_EVENT_CHARACTERS = 32_000_000;
const MAX_ERROR_CHARACTERS = 64_000;
const READ_AWAY_MS = 100;

export type Patience = {
  /** Until the first byte: a local model may have to be loaded first. */
  firstByteMs: number;
  /** Between two bytes of a stream. */
  silenceMs: number;
};

export type ModelPost = { url: string; headers: Record<string, string>; body: unknown; patience: Patience };

export async function* postForEvents(post: ModelPost, signal: AbortSignal): AsyncGenerator<string[]> {
  using watch = watchSilence(post.patience, signal);
  let trouble = `cannot be reached at ${new URL(post.url).origin}`;
  try {
    const response = await send(post, watch.signal);
    trouble = "broke off in the middle of its answer";
    watch.heard();
    if (!response.body) throw new ApiError("unavailable", `answered ${response.status} without a body`);
    if (!response.ok) throw failureOf(response, await readSome(response.body));
    yield* readEvents(response.body, watch.heard);
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof ApiError) throw error;
    if (watch.signal.aborted) throw watch.signal.reason;
    throw new ApiError("unavailable", `${trouble}: ${reasonOf(error)}`, { cause: error });
  }
}

function send({ url, headers, body }: ModelPost, signal: AbortSignal): Promise<Response> {
  const options: RequestInit & { timeout: false } = {
    method: "POST",
    headers: { "content-type": "application/json", accept: "text/event-stream, application/json", ...headers },
    body: JSON.stringify(body),
    redirect: "error",
    signal,
    // Bun ends a silent socket after 300 s unless told not to; the silence is watched here.
    timeout: false,
  };
  return fetch(url, options);
}

/** Bytes, cut anywhere → the data of events. */
export async function* readEvents(
  body: ReadableStream<Uint8Array>,
  heard: () => void = () => undefined,
): AsyncGenerator<string[]> {
  let events: string[] = [];
  const parser = createParser({
    onEvent: ({ data }) => data.trim() && events.push(data),
    maxBufferSize: MAX_EVENT_CHARACTERS,
  });
  const decoder = new TextDecoder();
  const reader = body.getReader();
  /** A JSON answer. What a server says of its content type is not always so, but no event stream begins like this. */
  let json: string | undefined;
  let begun = false;
  try {
    while (true) {
      const { done, value } = await reader.read();
      if (done) break;
      heard();
      const text = decoder.decode(value, { stream: true });
      if (!begun && text.trim() !== "") {
        begun = true;
        if (/^\s*[{[]/.test(text)) json = "";
      }
      if (json === undefined) {
        parser.feed(text);
        if (events.length > 0) yield events;
        events = [];
      } else {
        json += text;
        if (json.length > MAX_EVENT_CHARACTERS) throw new ApiError("unavailable", "sent an answer without an end");
      }
    }
    // The last frame may lack its blank line.
    if (json === undefined) parser.feed("\n\n");
    else events.push(json);
    yield events;
  } finally {
    void readAway(reader);
  }
}

/** What follows a finished answer is read away for a moment, so that the connection can serve the next turn. */
async function readAway(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<void> {
  const cancel = () => void reader.cancel().catch(() => undefined);
  const timer = setTimeout(cancel, READ_AWAY_MS);
  try {
    while (!(await reader.read()).done);
  } catch {
    // Nobody waits for these bytes: a connection that breaks here is one that is not used again.
  } finally {
    clearTimeout(timer);
  }
}

async function readSome(body: ReadableStream<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of body) {
    text += decoder.decode(chunk, { stream: true });
    if (text.length > MAX_ERROR_CHARACTERS) break;
  }
  return text.slice(0, MAX_ERROR_CHARACTERS);
}

export function parseEvent(data: string): unknown {
  if (data.trim() === "[DONE]") return "[DONE]";
  try {
    return JSON.parse(data);
  } catch (cause) {
    throw new ApiError("unavailable", "sent an event that is not JSON", { cause });
  }
}

/** Aborts when nothing was heard for too long. One timer for the whole answer: a chunk only notes its time. */
function watchSilence(
  { firstByteMs, silenceMs }: Patience,
  outer: AbortSignal,
): { signal: AbortSignal; heard(): void } & Disposable {
  const controller = new AbortController();
  let last = performance.now();
  let allowed = firstByteMs;
  const check = () => {
    const left = last + allowed - performance.now();
    if (left > 0) timer = setTimeout(check, left);
    else controller.abort(new ApiError("unavailable", `said nothing for ${allowed / 1000} s`));
  };
  let timer = setTimeout(check, allowed);
  return {
    signal: AbortSignal.any([outer, controller.signal]),
    heard() {
      last = performance.now();
      if (allowed === silenceMs) return;
      allowed = silenceMs;
      clearTimeout(timer);
      timer = setTimeout(check, allowed);
    },
    [Symbol.dispose]: () => clearTimeout(timer),
  };
}

function reasonOf(error: unknown): string {
  return systemCode(error) ?? (error instanceof Error ? error.message : String(error));
}
