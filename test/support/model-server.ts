// A scripted model on loopback: answers each request with the next turn, on the wire that the request's path names, and
// remembers what it was asked. It stands in for a provider, not for any module of ours.

import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setImmediate as breathe, setTimeout as sleep } from "node:timers/promises";
import { type Asked, readAsked, wireAt, wires } from "./model-wires/asked.ts";
import type { ScriptedStream, WireName } from "./model-wires/wire.ts";

export type { Asked, WireName };

export type ScriptedTurn = {
  text?: string;
  /** The exact pieces in which the text is sent, in place of words. */
  chunks?: string[];
  /** Their ids are `call_<turn>_<n>`, both from 1, except on Google's wire, which has none. */
  calls?: { name: string; arguments: unknown }[];
  /**
   * `stop`, `tool_calls`, `length`, `content_filter` in each wire's own words; `refusal` makes the text one; another word is
   * sent as it is.
   */
  finish?: string;
  /** Disjoint counts, as omega tells them; 60, 10 and 40 if nothing is said. */
  usage?: { input?: number; output?: number; cacheRead?: number };
  /** Wait before the answer begins. */
  delayMs?: number;
  /** Wait when the text has been sent. */
  afterText?: Promise<unknown>;
  /** Instead of a turn: an HTTP status with this body. */
  status?: number;
  body?: string;
  /** Seconds, in the header of that name. */
  retryAfter?: number;
  headers?: Record<string, string>;
  /** Break the connection off before the end. */
  cut?: boolean;
  /** Break the connection off in the middle of the last call's arguments. */
  cutMidCall?: boolean;
  /** Say what there is to say, then nothing for ever. */
  hang?: boolean;
  /** The same, for turns with calls: all of them are sent complete, the end of the answer is not. */
  afterCallsHang?: boolean;
};

/** Turns in order, or made when they are asked for; what such a function throws is the server's answer, as a 400. */
export type Script = readonly ScriptedTurn[] | ((index: number, asked: Asked) => ScriptedTurn | undefined);

export type ModelServer = {
  url: string;
  requests: any[];
  headers: IncomingMessage["headers"][];
  closed: number;
  /** When each request had arrived and when its answer was sent, on the clock of `performance.now()`. */
  times: { asked: number; answered: number }[];
  /** What request number `index` said, whatever its wire; negative numbers count from the last. */
  asked(index: number): Asked;
  /** The variables with which omega finds this server, whatever the model's name behind `wire/`. */
  env(wire: WireName): Record<string, string>;
  /** The same as a manifest's `model`. */
  choice(wire: WireName): { name: string; baseUrl: string; apiKey: string };
} & AsyncDisposable;

export const scriptedKey = "sk-scripted-0123456789";

export async function modelServer(turns: Script): Promise<ModelServer> {
  const state: Pick<ModelServer, "requests" | "headers" | "closed" | "times"> = {
    requests: [],
    headers: [],
    closed: 0,
    times: [],
  };
  const places: { wire: WireName; path: string }[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const [path = ""] = (request.url ?? "").split("?");
    const wire = wireAt(path);
    if (!wire) return void response.writeHead(404).end(`nothing is scripted at ${path}`);
    const body = JSON.parse(Buffer.concat(chunks).toString("utf8"));
    const index = state.requests.length;
    const time = { asked: performance.now(), answered: 0 };
    state.times.push(time);
    state.requests.push(body);
    state.headers.push(request.headers);
    places.push({ wire, path });
    response.on("close", () => state.closed++);
    const turn = turnAt(turns, index, () => readAsked(wire, path, body));
    if (turn) await answer(turn, toStream(turn, index + 1, wire, body), response);
    else response.writeHead(500).end(`the script has no turn ${index + 1}`);
    time.answered = performance.now();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return Object.assign(state, {
    url: `${origin}/v1`,
    asked(index: number): Asked {
      const [place, body] = [places.at(index), state.requests.at(index)];
      if (!place) throw new Error(`there is no request ${index}; the server was asked ${places.length} times`);
      return readAsked(place.wire, place.path, body);
    },
    env: (wire: WireName) => ({ [variables[wire].host]: addressOf(wire, origin), [variables[wire].key]: scriptedKey }),
    choice: (wire: WireName) => ({ name: `${wire}/m`, baseUrl: addressOf(wire, origin), apiKey: scriptedKey }),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  });
}

const variables: Record<WireName, { host: string; key: string }> = {
  "openai-chat": { host: "OPENAI_BASE_URL", key: "OPENAI_API_KEY" },
  openai: { host: "OPENAI_BASE_URL", key: "OPENAI_API_KEY" },
  anthropic: { host: "ANTHROPIC_BASE_URL", key: "ANTHROPIC_API_KEY" },
  google: { host: "GOOGLE_GEMINI_BASE_URL", key: "GEMINI_API_KEY" },
};

/** OpenAI's address has the version in it, the others' have not. */
const addressOf = (wire: WireName, origin: string) => (wire.startsWith("openai") ? `${origin}/v1` : origin);

function turnAt(turns: Script, index: number, asked: () => Asked): ScriptedTurn | undefined {
  if (typeof turns !== "function") return turns[index];
  try {
    return turns(index, asked());
  } catch (error) {
    return { status: 400, body: JSON.stringify({ error: { message: `the script failed: ${error}` } }) };
  }
}

function toStream(turn: ScriptedTurn, number: number, wire: WireName, body: any): ScriptedStream {
  const calls = (turn.calls ?? []).map(({ name, arguments: given }, index) => ({
    id: `call_${number}_${index + 1}`,
    name,
    arguments: typeof given === "string" ? given : JSON.stringify(given),
  }));
  const answer = {
    turn: number,
    model: body.model ?? "scripted",
    pieces: turn.chunks ?? turn.text?.match(/\S+\s*|\s+/g) ?? [],
    calls,
    finish: turn.finish ?? (turn.calls ? "tool_calls" : "stop"),
    usage: { input: 60, output: 10, cacheRead: 40, ...turn.usage },
  };
  return wires[wire].stream(answer, body);
}

/** Bun's fetch drops what it has not yet handed on when a connection breaks: the bytes get this time to arrive. */
const ARRIVAL_MS = 200;

async function answer(turn: ScriptedTurn, stream: ScriptedStream, response: ServerResponse): Promise<void> {
  if (turn.delayMs) await sleep(turn.delayMs);
  const headers = { ...(turn.retryAfter !== undefined && { "retry-after": `${turn.retryAfter}` }), ...turn.headers };
  if (turn.status) {
    response.writeHead(turn.status, { "content-type": "application/json", ...headers });
    return void response.end(turn.body ?? "");
  }
  response.writeHead(200, { "content-type": "text/event-stream", ...headers });
  response.flushHeaders();
  const { text } = stream;
  for (const frame of framesOf(stream, turn)) {
    response.write(frame);
    if (frame === text.at(-1)) await turn.afterText;
    if (turn.chunks) await breathe();
  }
  if (turn.cut || turn.cutMidCall) {
    await sleep(ARRIVAL_MS);
    response.destroy();
  } else if (!stays(turn)) response.end();
}

const stays = ({ hang, afterCallsHang }: ScriptedTurn) => hang || afterCallsHang;

function* framesOf(stream: ScriptedStream, turn: ScriptedTurn): Generator<string> {
  yield* stream.text;
  for (const call of stream.calls) {
    const isLast = call === stream.calls.at(-1);
    const [next = ""] = call.rest;
    yield* call.begin;
    if (turn.cutMidCall && isLast) return yield next.slice(0, next.length / 2);
    yield* call.rest;
  }
  if (!turn.cut && !turn.cutMidCall && !stays(turn)) yield* stream.end;
}
