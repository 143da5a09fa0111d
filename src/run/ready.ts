// Readiness: all servers start together, and no token is spent until each required one is connected and its tools are listed.

import { asOmegaError } from "../errors.ts";
import type { Server } from "../manifest/skill.ts";
import { type Connection, type ConnectOptions, connect } from "../servers/connection.ts";

export type Servers = { connections: readonly Connection[]; [Symbol.asyncDispose](): Promise<void> };

export async function connectAll(servers: readonly Server[], options: ConnectOptions): Promise<Servers> {
  // The first required one that fails makes the others give up at once instead of starting for nothing.
  const giveUp = new AbortController();
  const signal = AbortSignal.any([options.signal, giveUp.signal]);
  const opened = await Promise.all(
    servers.map((server) =>
      connect(server, { ...options, signal }).catch((error: unknown) => {
        if (server.required || signal.aborted) giveUp.abort(error);
        else options.onWarning(`going on without a server: ${asOmegaError(error).message}`);
      }),
    ),
  );
  const connections = opened.filter((connection) => connection !== undefined);
  const dispose = async () => {
    await Promise.all(connections.map((connection) => connection[Symbol.asyncDispose]()));
  };
  if (giveUp.signal.aborted) {
    await dispose();
    throw giveUp.signal.reason;
  }
  return { connections, [Symbol.asyncDispose]: dispose };
}
