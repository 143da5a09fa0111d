// A provider's place on loopback: answers each request with prepared bytes, cut where the test says, and remembers what it
// was asked. It stands in for a provider, not for any module of ours.

import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export type Reply = {
  status?: number;
  headers?: Record<string, string>;
  body?: string | Uint8Array;
  /** Byte positions at which the body is cut into pieces that are sent one by one. */
  cuts?: readonly number[];
  /** What follows the body; "end" if nothing is said. */
  after?: "end" | "reset" | "silence";
  /** Say nothing at all for ever. */
  mute?: boolean;
};

export type WireServer = {
  url: string;
  requests: { path: string; headers: IncomingHttpHeaders; body: any }[];
  /** Connections that ended before the answer did. */
  left: number;
} & AsyncDisposable;

export async function wireServer(reply: Reply | readonly Reply[] | ((index: number) => Reply)): Promise<WireServer> {
  const state: Pick<WireServer, "requests" | "left"> = { requests: [], left: 0 };
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = Buffer.concat(chunks).toString("utf8");
    const index = state.requests.length;
    state.requests.push({ path: request.url ?? "", headers: request.headers, body: body && JSON.parse(body) });
    response.on("close", () => {
      if (!response.writableEnded) state.left++;
    });
    const next = typeof reply === "function" ? reply(index) : "at" in reply ? (reply as Reply[]).at(index) : reply;
    await send(
      (next as Reply | undefined) ?? { status: 500, body: `nothing is prepared for request ${index + 1}` },
      response,
    );
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return Object.assign(state, {
    url: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  });
}

async function send(reply: Reply, response: ServerResponse): Promise<void> {
  if (reply.mute) return;
  response.socket?.setNoDelay(true);
  response.writeHead(reply.status ?? 200, { "content-type": "text/event-stream", ...reply.headers });
  const body = Buffer.from(reply.body ?? "");
  let from = 0;
  for (const cut of [...(reply.cuts ?? []), body.length]) {
    if (cut > from) response.write(body.subarray(from, cut));
    from = Math.max(from, cut);
    if (reply.cuts) await new Promise((resolve) => setImmediate(resolve));
  }
  if (reply.after === "silence") return;
  if (reply.after === "reset") {
    // Bun's fetch drops what it has not yet handed on when a connection breaks: the bytes get time to arrive.
    if (body.length > 0) await new Promise((resolve) => setTimeout(resolve, 200));
    return void response.socket?.destroy();
  }
  response.end();
}

/** Numbers that look random and are the same in every run (mulberry32). */
export function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

export function randomCuts(length: number, how: number, seed: number): number[] {
  const random = seeded(seed);
  return Array.from({ length: how }, () => Math.floor(random() * length)).sort((a, b) => a - b);
}
