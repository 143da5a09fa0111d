// A declared stdio server → a live connection: started, greeted, its tools listed. Whoever opens it owes a dispose.

import { errorResult, type ToolResult } from "../conversation.ts";
import { asOmegaError, OmegaError } from "../errors.ts";
import type { Server } from "../manifest/skill.ts";
import { METHOD_NOT_FOUND, type Params, type Peer, RpcError } from "../mcp/json-rpc.ts";
import type { Child, Exit } from "../processes/child.ts";
import type { Children } from "../processes/children.ts";
import { listTools, type ServerTool } from "./discovery.ts";
import { greet } from "./greeting.ts";
import { speakStdio } from "./stdio.ts";
import { parseToolResult } from "./tool-result.ts";

export type ServerState = {
  name: string;
  status: "starting" | "ready" | "failed" | "died";
  protocol: string | null;
  tools: number;
  readyMs: number | null;
  exit: Exit | null;
};

export type Connection = {
  server: Server;
  tools: readonly ServerTool[];
  warnings: readonly string[];
  state(): ServerState;
  /** Never throws for what the model can mend: a failed call is an error result. */
  call(tool: string, args: Params, signal: AbortSignal): Promise<ToolResult>;
  [Symbol.asyncDispose](): Promise<void>;
};

export type ConnectOptions = {
  children: Children;
  cwd: string;
  signal: AbortSignal;
  /** Aborted by a second Ctrl-C: skip the waits. */
  hurry: AbortSignal;
  onState(state: ServerState): void;
};

export async function connect(server: Server, options: ConnectOptions): Promise<Connection> {
  const { name } = server;
  const started = performance.now();
  let state: ServerState = { name, status: "starting", protocol: null, tools: 0, readyMs: null, exit: null };
  const update = (change: Partial<ServerState>) => {
    state = { ...state, ...change };
    options.onState(state);
  };
  let closing = false;
  update({});

  const child = await options.children.start({ ...server, cwd: options.cwd }).catch((error: unknown) => {
    update({ status: "failed" });
    throw named(error, name);
  });
  void child.exited.then((exit) => update({ exit, ...(state.status === "ready" && !closing && { status: "died" }) }));
  const end = () => child.end({ graceMs: server.stopGrace, hurry: options.hurry });

  try {
    const label = `server "${name}"`;
    const peer = speakStdio(child, { label, maxMessage: server.maxMessage, onRequest: answerServer });
    const request = { timeoutMs: server.startupTimeout, signal: options.signal };
    const protocol = await greet(peer, label, request);
    const { tools, malformed, duplicates } = await listTools(peer, label, request);
    update({ status: "ready", protocol, tools: tools.length, readyMs: Math.round(performance.now() - started) });
    return {
      server,
      tools,
      warnings: [
        ...(malformed > 0 ? [`${label}: ${malformed} malformed tools skipped`] : []),
        ...(duplicates > 0 ? [`${label}: ${duplicates} tools with a name that was already taken skipped`] : []),
      ],
      state: () => state,
      call: (tool, args, signal) => callTool(peer, tool, args, { timeoutMs: server.timeout, signal }),
      async [Symbol.asyncDispose]() {
        closing = true;
        await end();
      },
    };
  } catch (error) {
    update({ status: "failed" });
    await end();
    throw startFailure(error, server, child);
  }
}

async function callTool(
  peer: Peer,
  tool: string,
  args: Params,
  options: { timeoutMs: number; signal: AbortSignal },
): Promise<ToolResult> {
  try {
    const answer = await peer.request("tools/call", { name: tool, arguments: args }, { ...options, progress: true });
    return parseToolResult(answer);
  } catch (error) {
    if (error instanceof RpcError || error instanceof OmegaError) return errorResult(error.message);
    throw error;
  }
}

async function answerServer(method: string): Promise<unknown> {
  if (method === "ping") return {};
  throw new RpcError(METHOD_NOT_FOUND, `method not found: ${method}`);
}

/** What went wrong while starting, with the server's own last words: that is what the person needs. */
function startFailure(error: unknown, server: Server, child: Child): OmegaError {
  const cause = error instanceof RpcError ? `answered with an error: ${error.message}` : asOmegaError(error).message;
  if (error instanceof OmegaError && (error.code === "INTERRUPTED" || error.code.startsWith("LIMIT_"))) return error;
  const label = `server "${server.name}"`;
  const words = child.lastWords(5);
  const message = cause.startsWith(label) ? cause : `${label} ${cause}`;
  return new OmegaError("SERVER_START_FAILED", message, {
    hint: `run it by hand: ${[server.command, ...server.args].join(" ")}${words.length > 0 ? `\nits last words:\n  ${words.join("\n  ")}` : ""}`,
    cause: error,
  });
}

function named(error: unknown, name: string): OmegaError {
  const { code, message, hint } = asOmegaError(error);
  return new OmegaError(code, `server "${name}": ${message}`, { ...(hint && { hint }), cause: error });
}
