// A scripted model on loopback: speaks the Chat Completions wire, answers each request with the next turn, and remembers
// what it was asked. It stands in for a provider, not for any module of ours.

import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export type ScriptedTurn = {
  text?: string;
  calls?: { name: string; arguments: unknown }[];
  finish?: string;
  /** Wait before the answer begins. */
  delayMs?: number;
  /** Instead of a turn: an HTTP status with this body. */
  status?: number;
  body?: string;
  /** Break the connection off before the end. */
  cut?: boolean;
  /** Answer nothing for ever. */
  hang?: boolean;
};

export type ModelServer = {
  url: string;
  requests: any[];
  headers: IncomingMessage["headers"][];
  closed: number;
  /** When each request had arrived and when its answer was sent, on the clock of `performance.now()`. */
  times: { asked: number; answered: number }[];
} & AsyncDisposable;

export async function modelServer(
  turns: readonly ScriptedTurn[] | ((index: number) => ScriptedTurn),
): Promise<ModelServer> {
  const state: Omit<ModelServer, "url" | typeof Symbol.asyncDispose> = {
    requests: [],
    headers: [],
    closed: 0,
    times: [],
  };
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const index = state.requests.length;
    const time = { asked: performance.now(), answered: 0 };
    state.times.push(time);
    state.requests.push(JSON.parse(Buffer.concat(chunks).toString("utf8")));
    state.headers.push(request.headers);
    response.on("close", () => state.closed++);
    const turn = typeof turns === "function" ? turns(index) : turns[index];
    if (turn) await answer(turn, response);
    else response.writeHead(500).end(`the script has no turn ${index + 1}`);
    time.answered = performance.now();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return Object.assign(state, {
    url: `http://127.0.0.1:${port}/v1`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  });
}

async function answer(turn: ScriptedTurn, response: ServerResponse): Promise<void> {
  if (turn.delayMs) await new Promise((resolve) => setTimeout(resolve, turn.delayMs));
  if (turn.status)
    return void response.writeHead(turn.status, { "content-type": "application/json" }).end(turn.body ?? "");
  response.writeHead(200, { "content-type": "text/event-stream" });
  const send = (chunk: unknown) => response.write(`data: ${JSON.stringify(chunk)}\n\n`);
  const delta = (delta: unknown, finish_reason: string | null = null) =>
    send({ choices: [{ index: 0, delta, finish_reason }] });
  delta({ role: "assistant", content: "" });
  for (const word of turn.text?.match(/\S+\s*|\s+/g) ?? []) delta({ content: word });
  for (const [index, call] of (turn.calls ?? []).entries()) {
    const text = typeof call.arguments === "string" ? call.arguments : JSON.stringify(call.arguments);
    const half = Math.ceil(text.length / 2);
    delta({
      tool_calls: [
        {
          index,
          id: `call_${Math.random().toString(36).slice(2)}`,
          type: "function",
          function: { name: call.name, arguments: "" },
        },
      ],
    });
    for (const part of [text.slice(0, half), text.slice(half)])
      delta({ tool_calls: [{ index, function: { arguments: part } }] });
  }
  if (turn.hang) return;
  if (turn.cut) return void response.destroy();
  delta({}, turn.finish ?? (turn.calls ? "tool_calls" : "stop"));
  send({
    choices: [],
    usage: { prompt_tokens: 100, completion_tokens: 10, prompt_tokens_details: { cached_tokens: 40 } },
  });
  response.end("data: [DONE]\n\n");
}
