// A declared server → a live connection: started, its tools listed, watched while it lives, started again if it may be.
// Whoever opens it owes a dispose.

import { errorResult, type ToolResult } from "../conversation.ts";
import { OmegaError } from "../errors.ts";
import type { Server } from "../manifest/skill.ts";
import { METHOD_NOT_FOUND, type Params, RpcError } from "../mcp/json-rpc.ts";
import type { Exit } from "../processes/child.ts";
import type { ServerTool } from "./discovery.ts";
import { createGate } from "./gate.ts";
import { type Live, type StartOptions, start } from "./live.ts";
import type { Session } from "./session.ts";
import { createToolList } from "./tool-list.ts";
import { parseToolResult } from "./tool-result.ts";

const CONCURRENCY = 16;
/** After a call's deadline the server must answer this soon to a ping, or it hangs. */
const PING_MS = 5_000;
const RESTARTS = 3;
/** Before a restart; each next one waits twice as long. */
const BACK_OFF_MS = 250;
/** Errors of a call that say: the server is gone. */
const isLoss = new Set(["SERVER_DIED", "SERVER_HUNG", "SERVER_START_FAILED"]);

export type ServerState = {
  name: string;
  status: "starting" | "ready" | "failed" | "died" | "hung";
  protocol: string | null;
  tools: number;
  readyMs: number | null;
  exit: Exit | null;
};

/** `answer` is what the server said, word for word; undefined if it said nothing. */
export type CallResult = ToolResult & { answer: unknown };

export type Connection = {
  server: Server;
  /** Grows when the server offers more; never changes otherwise. */
  readonly tools: readonly ServerTool[];
  session(): Session;
  state(): ServerState;
  /** Why the run lacks what it asked this server for: it is gone, and calls were lost. */
  loss(): OmegaError | undefined;
  request(method: string, params: Params | undefined, signal: AbortSignal): Promise<unknown>;
  /** Never throws for what the model can mend: a failed call is an error result. */
  call(tool: string, args: Params, signal: AbortSignal): Promise<CallResult>;
  [Symbol.asyncDispose](): Promise<void>;
};

export type ConnectOptions = Pick<StartOptions, "children" | "cwd" | "signal" | "hurry"> & {
  onState(state: ServerState): void;
  onWarning(message: string): void;
};

export async function connect(server: Server, options: ConnectOptions): Promise<Connection> {
  const label = `server "${server.name}"`;
  const closing = new AbortController();
  const signal = AbortSignal.any([options.signal, closing.signal]);
  let state: ServerState = {
    name: server.name,
    status: "starting",
    protocol: null,
    tools: 0,
    readyMs: null,
    exit: null,
  };
  const update = (change: Partial<ServerState>) => {
    state = { ...state, ...change };
    options.onState(state);
  };
  const toolList = createToolList(label, options.onWarning);
  let death: OmegaError | undefined;
  let lostCalls = 0;
  let restarts = 0;
  let pinging = false;

  async function open(): Promise<Live> {
    const started = performance.now();
    update({ status: "starting" });
    const live = await start(server, { ...options, signal, onRequest: answerServer, onNotification }).catch(
      (error: unknown) => {
        update({ status: "failed" });
        throw error;
      },
    );
    void live.link.exited.then((exit) => update({ exit }));
    void live.link.gone.then((reason) => bury(live, reason));
    toolList.take(live.tools);
    const { protocol } = live.session;
    const readyMs = Math.round(performance.now() - started);
    update({ status: "ready", protocol, tools: toolList.tools.length, readyMs, exit: null });
    death = undefined;
    return live;
  }

  /** Noticed at once: what still lives of it is ended, and it is started again if the manifest says so. */
  async function bury(live: Live, reason: OmegaError): Promise<void> {
    if (closing.signal.aborted) return;
    const isHung = reason.code === "SERVER_HUNG";
    death = reason;
    update({ status: isHung ? "hung" : "died" });
    const ended = live.link.end(isHung);
    if (server.restart === "on-failure" && restarts < RESTARTS) {
      current = ended.then(restart);
      current.catch(() => undefined);
    }
  }

  async function restart(): Promise<Live> {
    await pause(BACK_OFF_MS * 2 ** restarts++, signal);
    options.onWarning(`${death?.message ?? label}; starting it again (${restarts} of ${RESTARTS})`);
    try {
      return await open();
    } catch (error) {
      if (signal.aborted || restarts >= RESTARTS) throw error;
      return await restart();
    }
  }

  function onNotification(method: string): void {
    if (method !== "notifications/tools/list_changed") return;
    void toolList.refresh(async () => {
      const { session } = await current;
      return (method, params) => session.request(method, params, { timeoutMs: server.timeout, signal });
    }, closing.signal);
  }

  async function request(method: string, params: Params | undefined, outer: AbortSignal): Promise<unknown> {
    return await gate(async () => {
      const live = await current;
      outer.throwIfAborted();
      const options = { timeoutMs: server.timeout, signal: outer, progress: true };
      return await live.session.request(method, params, options).catch((error: unknown) => {
        if (error instanceof OmegaError && error.code === "SERVER_TIMEOUT") void checkAlive(live);
        throw error;
      });
    });
  }

  /** Whatever it answers, even an error, it is alive. */
  async function checkAlive({ link, session }: Live): Promise<void> {
    if (pinging) return;
    pinging = true;
    const method = session.era === "modern" ? "server/discover" : "ping";
    const alive = await session.request(method, undefined, { timeoutMs: PING_MS, signal }).then(
      () => true,
      (error: unknown) => error instanceof RpcError || signal.aborted,
    );
    pinging = false;
    if (alive) return;
    lostCalls++;
    link.peer.close(
      new OmegaError("SERVER_HUNG", `${label} hangs: no answer to a call, nor to ${method} after it; it was ended`),
    );
  }

  let current = open();
  await current;
  const gate = createGate(server.concurrency ?? ((await current).session.era === "bare" ? 1 : CONCURRENCY));
  const { session } = await current;

  return {
    server,
    tools: toolList.tools,
    session: () => session,
    state: () => state,
    loss: () => (lostCalls > 0 && state.status !== "ready" ? death : undefined),
    request,
    call: async (tool, args, signal) => {
      try {
        const answer = await request("tools/call", { name: tool, arguments: args }, signal);
        return { ...parseToolResult(answer), answer };
      } catch (error) {
        if (!(error instanceof RpcError || error instanceof OmegaError)) throw error;
        if (error instanceof OmegaError && isLoss.has(error.code)) lostCalls++;
        return { ...errorResult(error.message), answer: undefined };
      }
    },
    async [Symbol.asyncDispose]() {
      closing.abort(new OmegaError("SERVER_DIED", `${label} was closed`));
      const live = await current.catch(() => undefined);
      await live?.link.end();
    },
  };
}

async function answerServer(method: string): Promise<unknown> {
  if (method === "ping") return {};
  throw new RpcError(METHOD_NOT_FOUND, `method not found: ${method}`);
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(done, ms);
    function done() {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      if (signal.aborted) reject(signal.reason);
      else resolve();
    }
    signal.addEventListener("abort", done, { once: true });
    if (signal.aborted) done();
  });
}
