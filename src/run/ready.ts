// Readiness: all servers start together, and no token is spent until each is connected and its tools are listed.

import type { Server } from "../manifest/skill.ts";
import { type Connection, type ConnectOptions, connect } from "../servers/connection.ts";
import type { Tally } from "./envelope.ts";

export type Servers = { connections: readonly Connection[]; [Symbol.asyncDispose](): Promise<void> };

export async function connectAll(
  servers: readonly Server[],
  options: Omit<ConnectOptions, "onState"> & { tally: Tally },
): Promise<Servers> {
  // The first that fails makes the others give up at once instead of starting for nothing.
  const giveUp = new AbortController();
  const signal = AbortSignal.any([options.signal, giveUp.signal]);
  const settled = await Promise.allSettled(
    servers.map((server) => {
      const onState: ConnectOptions["onState"] = (state) => options.tally.servers.set(server.name, state);
      return connect(server, { ...options, signal, onState }).catch((error: unknown) => {
        giveUp.abort(error);
        throw error;
      });
    }),
  );
  const connections = settled.flatMap((result) => (result.status === "fulfilled" ? [result.value] : []));
  const dispose = async () => {
    await Promise.all(connections.map((connection) => connection[Symbol.asyncDispose]()));
  };
  if (connections.length < servers.length) {
    await dispose();
    throw giveUp.signal.reason;
  }
  return { connections, [Symbol.asyncDispose]: dispose };
}
