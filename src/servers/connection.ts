// A declared server → a connection that tools can be called on, whatever becomes of the process behind it. Whoever opens it
// owes a dispose.

import { errorResult, type ToolResult } from "../conversation.ts";
import { type ErrorCode, OmegaError } from "../errors.ts";
import type { Server } from "../manifest/skill.ts";
import { isObject, METHOD_NOT_FOUND, type Params, RpcError } from "../mcp/json-rpc.ts";
import type { Audit, AuditEntry } from "../records/audit.ts";
import type { ServerTool } from "./discovery.ts";
import { createGate } from "./gate.ts";
import type { Live } from "./live.ts";
import type { Ask, Session } from "./session.ts";
import { type ServerState, type SuperviseOptions, supervise } from "./supervised.ts";
import { createToolList } from "./tool-list.ts";
import { parseToolResult } from "./tool-result.ts";

const CONCURRENCY = 16;
/** After a call's deadline the server must answer a ping this soon, or it hangs. */
const PING_MS = 5_000;
/** Errors that the model cannot mend: the run ends with them. */
const ends: readonly ErrorCode[] = ["STORAGE_AUDIT", "DIVERGED"];
/** Errors of a call that say: the server is gone. */
const losses: readonly ErrorCode[] = ["SERVER_DIED", "SERVER_HUNG", "SERVER_START_FAILED"];
/** Requests that act or read. */
const audited = ["tools/call", "resources/read", "prompts/get"];

/** `answer` is what the server said, word for word; undefined if it said nothing. */
export type CallResult = ToolResult & { answer: unknown };
export type ConnectOptions = SuperviseOptions & { audit?: Audit | undefined };
export type { ServerState };

export type Connection = {
  server: Server;
  /** Grows when the server offers more; what is in it does not change. */
  tools: readonly ServerTool[];
  session: Session;
  state(): ServerState;
  /** When it is known whether a server that did not answer a call hangs. */
  settled(): Promise<void>;
  /** Why the run lacks what it asked this server for: it is gone, and calls were lost. */
  loss(): OmegaError | undefined;
  request(method: string, params: Params | undefined, signal: AbortSignal): Promise<unknown>;
  /** Never throws for what the model can mend: a failed call is an error result. */
  call(tool: string, args: Params, signal: AbortSignal): Promise<CallResult>;
  [Symbol.asyncDispose](): Promise<void>;
};

export async function connect(server: Server, options: ConnectOptions): Promise<Connection> {
  const label = `server "${server.name}"`;
  const toolList = createToolList(label, options.onWarning);
  let lostCalls = 0;
  let pinging: Promise<void> | undefined;
  let changedWhileStarting = false;
  let onToolsChanged = () => {
    changedWhileStarting = true;
  };

  const supervised = await supervise(server, {
    ...options,
    onRequest: answerServer,
    onNotification(method) {
      if (method === "notifications/tools/list_changed") onToolsChanged();
    },
    onLive({ link, tools }) {
      toolList.take(tools);
      const noise = link.peer.dropped();
      if (noise > 0) options.onWarning(`${label}: ${noise} lines on its stdout are no MCP messages; they were skipped`);
    },
  });
  const { session } = await supervised.live();
  const gate = createGate(server.concurrency ?? (session.era === "bare" ? 1 : CONCURRENCY));
  const ask: Ask = (method, params) => request(method, params, supervised.closing);
  onToolsChanged = () => void toolList.refresh(ask, supervised.closing);
  if (changedWhileStarting) onToolsChanged();

  async function request(method: string, params: Params | undefined, signal: AbortSignal): Promise<unknown> {
    await gate.enter();
    let live: Live | undefined;
    try {
      live = await supervised.live();
      const { session } = live;
      signal.throwIfAborted();
      const requestOptions = { timeoutMs: server.timeout, signal, progress: true };
      return await told({ server: server.name, method, params }, options.audit, () =>
        session.request(method, params, requestOptions),
      );
    } catch (error) {
      if (live && error instanceof OmegaError && error.code === "SERVER_TIMEOUT") pinging ??= checkAlive(live);
      throw error;
    } finally {
      gate.leave();
    }
  }

  /** Whatever it answers, even an error, it is alive. */
  async function checkAlive({ link, session }: Live): Promise<void> {
    const { closing } = supervised;
    const method = session.era === "modern" ? "server/discover" : "ping";
    const isAlive = await session.request(method, undefined, { timeoutMs: PING_MS, signal: closing }).then(
      () => true,
      (error: unknown) => error instanceof RpcError || closing.aborted,
    );
    pinging = undefined;
    if (isAlive) return;
    lostCalls++;
    const message = `${label} hangs: no answer to a call, nor to ${method} after it; it was ended`;
    link.peer.close(new OmegaError("SERVER_HUNG", message));
  }

  return {
    server,
    tools: toolList.tools,
    session,
    state: supervised.state,
    settled: async () => pinging,
    loss: () => (lostCalls > 0 && supervised.state().status !== "ready" ? supervised.death() : undefined),
    request,
    async call(tool, args, signal) {
      try {
        const answer = await request("tools/call", { name: tool, arguments: args }, signal);
        const { content, isError } = parseToolResult(answer);
        return { content, isError, answer };
      } catch (error) {
        if (!(error instanceof RpcError || error instanceof OmegaError)) throw error;
        // No model can mend it, and nothing more may be done without it.
        if (error instanceof OmegaError && ends.includes(error.code)) throw error;
        if (error instanceof OmegaError && losses.includes(error.code)) lostCalls++;
        return { ...errorResult(error.message), answer: undefined };
      }
    },
    [Symbol.asyncDispose]: () => supervised[Symbol.asyncDispose](),
  };
}

/** The audit has a line before the request is sent, and one when it has ended. */
async function told(entry: AuditEntry, audit: Audit | undefined, send: () => Promise<unknown>): Promise<unknown> {
  if (!audit || !audited.includes(entry.method)) return await send();
  const end = audit.begin(entry);
  let answer: unknown;
  try {
    answer = await send();
  } catch (error) {
    end("failed", error instanceof Error ? error.message : String(error));
    throw error;
  }
  end(isObject(answer) && answer["isError"] === true ? "tool-error" : "answered");
  return answer;
}

async function answerServer(method: string): Promise<unknown> {
  if (method === "ping") return {};
  throw new RpcError(METHOD_NOT_FOUND, `method not found: ${method}`);
}
