// Readiness: all servers start together, and no token is spent until each required one is connected and its tools are listed.

import { asOmegaError, type OmegaError } from "../errors.ts";
import type { Server } from "../manifest/skill.ts";
import { type Connection, type ConnectOptions, connect } from "../servers/connection.ts";

export type Servers = { connections: readonly Connection[]; [Symbol.asyncDispose](): Promise<void> };

export type ReadyOptions = ConnectOptions & {
  onReady?(connection: Connection): void;
  /** Not told of those that were given up because another one failed. */
  onNotReady?(server: Server, error: OmegaError): void;
};

export async function connectAll(servers: readonly Server[], options: ReadyOptions): Promise<Servers> {
  // The first required one that fails makes the others give up at once instead of starting for nothing.
  const giveUp = new AbortController();
  const signal = AbortSignal.any([options.signal, giveUp.signal]);
  const opened = await Promise.all(
    servers.map(async (server) => {
      try {
        const connection = await connect(server, { ...options, signal });
        options.onReady?.(connection);
        return connection;
      } catch (error) {
        const known = asOmegaError(error);
        if (!signal.aborted) options.onNotReady?.(server, known);
        if (server.required || signal.aborted) giveUp.abort(error);
        else options.onWarning(`going on without a server: ${known.message}`);
        return undefined;
      }
    }),
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
