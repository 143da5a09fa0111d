// JSON-RPC 2.0 between two peers, whatever carries the messages. Each side owes the other one answer per request, with the
// request's id in its own type. Nothing a peer sends can make us throw here: what is not a message is counted and dropped.

import { OmegaError } from "../errors.ts";

export type Id = string | number;
export type Params = Record<string, unknown>;
export type Message = { jsonrpc: "2.0" } & Params;

/** The other side answered with an error. */
export class RpcError extends Error {
  override readonly name = "RpcError";
  readonly code: number;
  readonly data: unknown;

  constructor(code: number, message: string, data?: unknown) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

export const METHOD_NOT_FOUND = -32601;
const INTERNAL_ERROR = -32603;
/** Progress may lengthen a request's time, up to this many times its time-out. */
const PROGRESS_FACTOR = 5;

export type RequestOptions = {
  timeoutMs: number;
  signal: AbortSignal;
  /** Ask for progress, which restarts the deadline. */
  progress?: boolean;
};

export type Peer = {
  request(method: string, params: Params | undefined, options: RequestOptions): Promise<unknown>;
  notify(method: string, params?: Params): void;
  /** What the transport read: any JSON value, or undefined for noise. */
  receive(value: unknown): void;
  /** An answer was lost, and nobody knows whose: the open requests fail, later ones may work. */
  failOpen(reason: OmegaError): void;
  /** The transport is gone: open and later requests fail with this error. */
  close(reason: OmegaError): void;
  /** Noise, values that were no message, and answers that nobody waited for. */
  dropped(): number;
};

export type PeerOptions = {
  /** Names the other side in errors: `server "git"`. */
  label: string;
  send(message: Message): void;
  onRequest?(method: string, params: Params): Promise<unknown>;
  onNotification?(method: string, params: Params): void;
  /** Called once, with the reason of the first `close`. */
  onClosed?(reason: OmegaError): void;
};

type Pending = { resolve(result: unknown): void; reject(error: Error): void; progressed(): void };

export function createPeer({ label, send, onRequest, onNotification, onClosed }: PeerOptions): Peer {
  const pending = new Map<Id, Pending>();
  let lastId = 0;
  let dropped = 0;
  let closed: OmegaError | undefined;

  function request(method: string, params: Params | undefined, options: RequestOptions): Promise<unknown> {
    const { timeoutMs, signal } = options;
    if (closed) return Promise.reject(closed);
    if (signal.aborted) return Promise.reject(signal.reason);
    const id = ++lastId;
    return new Promise((resolve, reject) => {
      const started = performance.now();
      const settle = () => {
        pending.delete(id);
        clearTimeout(timer);
        signal.removeEventListener("abort", onAbort);
      };
      const giveUp = (error: unknown, reason: string) => {
        settle();
        if (method !== "initialize") notify("notifications/cancelled", { requestId: id, reason });
        reject(error);
      };
      const onTimeout = () => {
        const ms = Math.round(performance.now() - started);
        giveUp(new OmegaError("SERVER_TIMEOUT", `${label} did not answer ${method} within ${ms} ms`), "time-out");
      };
      const onAbort = () => giveUp(signal.reason, "the client gave up");
      let timer = setTimeout(onTimeout, timeoutMs);
      signal.addEventListener("abort", onAbort, { once: true });
      pending.set(id, {
        resolve(result) {
          settle();
          resolve(result);
        },
        reject(error) {
          settle();
          reject(error);
        },
        progressed() {
          if (!options.progress) return;
          const left = started + PROGRESS_FACTOR * timeoutMs - performance.now();
          clearTimeout(timer);
          timer = setTimeout(onTimeout, Math.max(0, Math.min(timeoutMs, left)));
        },
      });
      const sent = options.progress ? { ...params, _meta: { ...metaOf(params), progressToken: id } } : params;
      try {
        send(sent ? { jsonrpc: "2.0", id, method, params: sent } : { jsonrpc: "2.0", id, method });
      } catch (error) {
        settle();
        reject(error);
      }
    });
  }

  function notify(method: string, params?: Params): void {
    sendQuietly({ jsonrpc: "2.0", method, ...(params && { params }) });
  }

  /** For what has no answer that could fail; the transport reports its own death. */
  function sendQuietly(message: Message): void {
    if (closed) return;
    try {
      send(message);
    } catch (error) {
      if (!(error instanceof OmegaError)) throw error;
    }
  }

  function receive(value: unknown): void {
    if (Array.isArray(value)) {
      for (const item of value) receiveOne(item);
    } else receiveOne(value);
  }

  function receiveOne(value: unknown): void {
    // Some servers leave `jsonrpc` out; another version is another protocol.
    if (!isObject(value) || (value["jsonrpc"] !== undefined && value["jsonrpc"] !== "2.0")) dropped++;
    else if (typeof value["method"] === "string") incoming(value["method"], value);
    else answer(value);
  }

  function incoming(method: string, message: Params): void {
    const params = isObject(message["params"]) ? message["params"] : {};
    if (isId(message["id"])) void respond(message["id"], method, params);
    else if (method === "notifications/progress") {
      const token = params["progressToken"];
      if (isId(token)) pending.get(token)?.progressed();
      onNotification?.(method, params);
    } else onNotification?.(method, params);
  }

  async function respond(id: Id, method: string, params: Params): Promise<void> {
    let reply: Params;
    try {
      if (!onRequest) throw new RpcError(METHOD_NOT_FOUND, `method not found: ${method}`);
      reply = { result: await onRequest(method, params) };
    } catch (error) {
      const code = error instanceof RpcError ? error.code : INTERNAL_ERROR;
      reply = { error: { code, message: error instanceof Error ? error.message : String(error) } };
    }
    sendQuietly({ jsonrpc: "2.0", id, ...reply });
  }

  function answer(message: Params): void {
    const id = message["id"];
    const open = isId(id) ? pending.get(id) : undefined;
    if (!open) dropped++;
    else if (message["error"] !== undefined && message["error"] !== null) open.reject(toRpcError(message["error"]));
    else open.resolve(message["result"] ?? null);
  }

  function failOpen(reason: OmegaError): void {
    for (const open of [...pending.values()]) open.reject(reason);
  }

  function close(reason: OmegaError): void {
    if (closed) return;
    closed = reason;
    failOpen(reason);
    onClosed?.(reason);
  }

  return { request, notify, receive, failOpen, close, dropped: () => dropped };
}

export function isObject(value: unknown): value is Params {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isId(value: unknown): value is Id {
  return typeof value === "string" || typeof value === "number";
}

function metaOf(params: Params | undefined): Params {
  return isObject(params?.["_meta"]) ? params["_meta"] : {};
}

function toRpcError(error: unknown): RpcError {
  if (!isObject(error)) return new RpcError(INTERNAL_ERROR, "an error without a description");
  const code = typeof error["code"] === "number" ? error["code"] : INTERNAL_ERROR;
  const message = typeof error["message"] === "string" && error["message"] !== "" ? error["message"] : `error ${code}`;
  return new RpcError(code, message, error["data"]);
}
