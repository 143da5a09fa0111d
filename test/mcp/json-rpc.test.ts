// The peer on its own: what goes out, what comes in, and what each request may expect. The transport is a list.

import { expect, test } from "bun:test";
import { OmegaError } from "../../src/errors.ts";
import { createPeer, type Message, type PeerOptions, RpcError } from "../../src/mcp/json-rpc.ts";

const never = new AbortController().signal;
const soon = { timeoutMs: 5_000, signal: never };

function wire(options: Partial<PeerOptions> = {}) {
  const sent: Message[] = [];
  const peer = createPeer({ label: "the server", send: (message) => sent.push(message), ...options });
  return { peer, sent };
}

test("a request carries jsonrpc, an id and its method; params only if there are any", () => {
  const { peer, sent } = wire();
  void peer.request("tools/list", undefined, soon).catch(() => undefined);
  expect(sent).toEqual([{ jsonrpc: "2.0", id: 1, method: "tools/list" }]);
  peer.close(new OmegaError("SERVER_DIED", "end"));
});

test("a request carries its params, and ids grow", () => {
  const { peer, sent } = wire();
  void peer.request("a", { name: "x" }, soon).catch(() => undefined);
  void peer.request("b", { name: "y" }, soon).catch(() => undefined);
  expect(sent.map(({ id, params }) => ({ id, params }))).toEqual([
    { id: 1, params: { name: "x" } },
    { id: 2, params: { name: "y" } },
  ]);
  peer.close(new OmegaError("SERVER_DIED", "end"));
});

test("a notification has no id", () => {
  const { peer, sent } = wire();
  peer.notify("notifications/initialized");
  expect(sent).toEqual([{ jsonrpc: "2.0", method: "notifications/initialized" }]);
});

test("a result reaches its request, an error too, with code, message and data", async () => {
  const { peer } = wire();
  const first = peer.request("a", undefined, soon);
  const second = peer.request("b", undefined, soon);
  peer.receive({ jsonrpc: "2.0", id: 2, error: { code: -32000, message: "no", data: { why: 1 } } });
  peer.receive({ jsonrpc: "2.0", id: 1, result: { tools: [] } });
  expect(await first).toEqual({ tools: [] });
  expect(await second.catch((error) => error)).toMatchObject({ code: -32000, message: "no", data: { why: 1 } });
});

test("an answer with neither result nor error is null", async () => {
  const { peer } = wire();
  const answer = peer.request("a", undefined, soon);
  peer.receive({ jsonrpc: "2.0", id: 1 });
  expect(await answer).toBeNull();
});

test("an id counts with its type; what belongs to nobody is dropped and counted", async () => {
  const { peer } = wire();
  const answer = peer.request("a", undefined, soon);
  for (const id of ["1", null, 1.5, 2, [1], {}, true]) peer.receive({ jsonrpc: "2.0", id, result: "wrong" });
  for (const noise of [undefined, 5, "x", null, [], [[]], {}, { jsonrpc: "1.0", id: 1, result: "old" }])
    peer.receive(noise);
  peer.receive({ jsonrpc: "2.0", id: 1, result: "right" });
  expect(await answer).toBe("right");
  expect(peer.dropped()).toBe(14);
});

test("answers inside a batch reach their requests, in any order", async () => {
  const { peer } = wire();
  const answers = [peer.request("a", undefined, soon), peer.request("b", undefined, soon)];
  peer.receive([
    { jsonrpc: "2.0", method: "notifications/message" },
    { jsonrpc: "2.0", id: 2, result: "b" },
    { jsonrpc: "2.0", id: 1, result: "a" },
  ]);
  expect(await Promise.all(answers)).toEqual(["a", "b"]);
});

test("a deadline cancels the request and drops the late answer", async () => {
  const { peer, sent } = wire();
  const error: any = await peer
    .request("tools/call", {}, { timeoutMs: 20, signal: never })
    .catch((error: any) => error);
  expect(error).toMatchObject({ code: "SERVER_TIMEOUT" });
  expect(error.message).toMatch(/^the server did not answer tools\/call within \d+ ms$/);
  expect(sent[1]).toMatchObject({ method: "notifications/cancelled", params: { requestId: 1 } });
  peer.receive({ jsonrpc: "2.0", id: 1, result: "late" });
  expect(peer.dropped()).toBe(1);
});

test("initialize is never cancelled", async () => {
  const { peer, sent } = wire();
  await peer.request("initialize", {}, { timeoutMs: 10, signal: never }).catch(() => undefined);
  expect(sent).toHaveLength(1);
});

test("progress that was not asked for lengthens nothing", async () => {
  const { peer } = wire();
  const started = performance.now();
  const request = peer.request("initialize", {}, { timeoutMs: 200, signal: never });
  const params = { progressToken: 1, progress: 1 };
  const timer = setInterval(() => peer.receive({ jsonrpc: "2.0", method: "notifications/progress", params }), 20);
  await expect(request).rejects.toThrow("did not answer initialize");
  clearInterval(timer);
  expect(performance.now() - started).toBeLessThan(800);
});

test("progress lengthens a request's time, but not beyond five times it", async () => {
  const { peer, sent } = wire();
  const started = performance.now();
  const request = peer.request("tools/call", {}, { timeoutMs: 100, signal: never, progress: true });
  const params = { progressToken: (sent[0] as any).params._meta.progressToken, progress: 1 };
  const timer = setInterval(() => peer.receive({ jsonrpc: "2.0", method: "notifications/progress", params }), 20);
  const error: any = await request.catch((error) => error);
  clearInterval(timer);
  expect(error.code).toBe("SERVER_TIMEOUT");
  const ms = performance.now() - started;
  expect(ms).toBeGreaterThanOrEqual(450);
  expect(ms).toBeLessThan(5_000);
});

test("an abort cancels the request and rejects with the abort's reason", async () => {
  const { peer, sent } = wire();
  const controller = new AbortController();
  const request = peer.request("tools/call", {}, { timeoutMs: 5_000, signal: controller.signal });
  controller.abort(new OmegaError("INTERRUPTED", "enough"));
  expect(await request.catch((error) => error.message)).toBe("enough");
  expect(sent[1]).toMatchObject({ method: "notifications/cancelled" });
});

test("the other side's requests are answered under their own id, unknown ones with -32601", async () => {
  const { peer, sent } = wire({
    async onRequest(method) {
      if (method === "ping") return {};
      throw new RpcError(-32601, "no such method");
    },
  });
  peer.receive({ jsonrpc: "2.0", id: "a", method: "ping" });
  peer.receive({ jsonrpc: "2.0", id: 0, method: "x/unknown" });
  await Bun.sleep(1);
  expect(sent).toEqual([
    { jsonrpc: "2.0", id: "a", result: {} },
    { jsonrpc: "2.0", id: 0, error: { code: -32601, message: "no such method" } },
  ]);
});

test("when the transport is gone, open and later requests fail with its reason, once", async () => {
  const reasons: string[] = [];
  const { peer } = wire({ onClosed: ({ message }) => reasons.push(message) });
  const open = peer.request("a", undefined, soon).catch((error) => error.message);
  peer.close(new OmegaError("SERVER_DIED", "first"));
  peer.close(new OmegaError("SERVER_DIED", "second"));
  const later = peer.request("b", undefined, soon).catch((error) => error.message);
  expect([await open, await later, reasons]).toEqual(["first", "first", ["first"]]);
});

test("keys like __proto__ in a message change nothing but the message", async () => {
  const { peer } = wire();
  const answer = peer.request("a", undefined, soon);
  peer.receive(JSON.parse('{"jsonrpc":"2.0","__proto__":{"method":"x","polluted":1},"id":1,"result":{"ok":1}}'));
  expect(await answer).toEqual({ ok: 1 });
  expect(({} as any).polluted).toBeUndefined();
});
