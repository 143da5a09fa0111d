// A server that is up: its process runs, its era is known, its tools are listed. If any of that fails, it is ended again.

import { asOmegaError, type ErrorCode, OmegaError } from "../errors.ts";
import type { Server } from "../manifest/skill.ts";
import { RpcError } from "../mcp/json-rpc.ts";
import { oneLine } from "../terminal.ts";
import { type Listed, listTools, type ServerTool } from "./discovery.ts";
import { isKnownAsModern, remember } from "./memory.ts";
import { type Deck, onDeck } from "./on-deck.ts";
import { type Ask, openSession, type Session } from "./session.ts";
import { type Link, type LinkOptions, openStdio } from "./stdio.ts";

export type Live = { link: Link; session: Session; tools: Listed<ServerTool> };
/** `deck`: where it is recorded, or played from instead of being started. */
export type StartOptions = LinkOptions & { signal: AbortSignal; deck?: Deck | undefined };

export async function start(server: Server, options: StartOptions): Promise<Live> {
  const until = performance.now() + server.startupTimeout;
  if (server.protocol !== "auto") return await startAs(server.protocol, server, options, until);
  const { player, prefix = "" } = options.deck ?? {};
  if (player ? player.isModern(prefix + server.name) : isKnownAsModern(server)) {
    // Some legacy servers leave, or stay silent, at the question; they get a new process and the other half of the time.
    const half = performance.now() + server.startupTimeout / 2;
    const live = await startAs("modern", server, options, half).catch(() => options.signal.throwIfAborted());
    if (live) return live;
  }
  const live = await startAs("auto", server, options, until);
  if (!player) remember(server, live.session.era === "modern");
  return live;
}

async function startAs(
  protocol: Server["protocol"],
  server: Server,
  options: StartOptions,
  until: number,
): Promise<Live> {
  const { name } = server;
  const label = `server "${name}"`;
  const { signal } = options;
  const link = options.deck ? await onDeck(options.deck, server, options, signal) : await openStdio(server, options);
  const timed = () => ({ timeoutMs: Math.max(1, until - performance.now()), signal });
  try {
    const session = await openSession(link.peer, label, protocol, (method, params) =>
      link.peer.request(method, params, timed()),
    );
    const ask: Ask = (method, params) => session.request(method, params, timed());
    return { link, session, tools: await listTools(ask, label, session) };
  } catch (error) {
    await link.end();
    throw startFailure(error, label, link);
  }
}

/** These are no failures of the server. */
const ends: readonly ErrorCode[] = ["INTERRUPTED", "DIVERGED"];

/** What went wrong while starting, with the server's own last words: that is what the person needs. */
function startFailure(error: unknown, label: string, link: Link): OmegaError {
  if (error instanceof OmegaError && (ends.includes(error.code) || error.code.startsWith("LIMIT_"))) return error;
  const cause =
    error instanceof RpcError ? `answered with an error: ${oneLine(error.message, 500)}` : asOmegaError(error).message;
  const message = cause.startsWith(label) ? cause : `${label} ${cause}`;
  return new OmegaError("SERVER_START_FAILED", message, { hint: link.hint(), cause: error });
}
