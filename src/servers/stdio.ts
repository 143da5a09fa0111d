// A declared stdio server → a started child and a peer that can be asked. Noise on its stdout is skipped and counted; a line
// over the limit fails what is waiting, for its answer may have been that line.

import { resolve } from "node:path";
import { asOmegaError, OmegaError } from "../errors.ts";
import type { Server } from "../manifest/skill.ts";
import { createPeer, type Peer, type PeerOptions } from "../mcp/json-rpc.ts";
import { readLines } from "../mcp/lines.ts";
import { parseLine } from "../mcp/parse-line.ts";
import { writeLines } from "../mcp/write-lines.ts";
import type { Child, Exit } from "../processes/child.ts";
import type { Children } from "../processes/children.ts";
import { oneLine } from "../terminal.ts";

/** A server ends and closes its pipes in any order; this long we wait for its exit to tell the true reason. */
const LAST_WORDS_MS = 100;

/** A way to a server, whatever carries it. */
export type Link = {
  peer: Peer;
  /** Settles when the other side is gone, with the reason; from then on every request fails with it. */
  gone: Promise<OmegaError>;
  exited: Promise<Exit>;
  /** What a person who must mend it should see: its last words, and how to run it by hand. */
  hint(): string;
  /** Ends it, once. A server that hangs gets no time to leave by itself. */
  end(hangs?: boolean): Promise<void>;
};

export type LinkOptions = Pick<PeerOptions, "onRequest" | "onNotification"> & {
  children: Children;
  cwd: string;
  hurry: AbortSignal;
  /** What is kept of a process's stderr, when it has ended. */
  onStderr?(server: string, text: string): void;
};

export async function openStdio(server: Server, options: LinkOptions): Promise<Link> {
  const label = `server "${server.name}"`;
  const cwd = resolve(options.cwd, server.cwd ?? ".");
  const child = await options.children.start({ ...server, cwd }).catch((error: unknown) => {
    const { code, message, hint } = asOmegaError(error);
    throw new OmegaError(code, `${label}: ${message}`, { ...(hint && { hint }), cause: error });
  });
  let ending: Promise<void> | undefined;
  const end = async (graceMs: number) => {
    await child.end({ graceMs, hurry: options.hurry });
    const words = child.lastWords(Number.POSITIVE_INFINITY);
    if (words.length > 0) options.onStderr?.(server.name, words.join("\n"));
  };
  return {
    ...speak(child, label, server.maxMessage, options),
    exited: child.exited,
    hint() {
      const words = child.lastWords(5).map((line) => oneLine(line, 300));
      const byHand = `run it by hand: ${[server.command, ...server.args].join(" ")}`;
      return words.length === 0 ? byHand : `${byHand}\nits last words:\n  ${words.join("\n  ")}`;
    },
    end(hangs = false) {
      ending ??= end(hangs ? 0 : server.stopGrace);
      return ending;
    },
  };
}

function speak(child: Child, label: string, maxMessage: number, options: LinkOptions): Pick<Link, "peer" | "gone"> {
  const gone = Promise.withResolvers<OmegaError>();
  const input = writeLines(child.stdin);
  const peer = createPeer({
    ...options,
    label,
    onClosed: gone.resolve,
    send(message) {
      // Only a server that has stopped reading lets this grow; what it will never read must not fill our memory.
      if (input.unsent() > maxMessage) throw new OmegaError("SERVER_TIMEOUT", `${label} does not read its input`);
      input.write(JSON.stringify(message));
    },
  });
  let outputEnded = false;
  let timer: NodeJS.Timeout | undefined;

  function partlyGone(what: string): void {
    if (outputEnded && child.exit()) close(what);
    else timer ??= setTimeout(close, LAST_WORDS_MS, what);
  }

  function close(what: string): void {
    clearTimeout(timer);
    peer.close(child.exit() ? deathOf(child, label) : new OmegaError("SERVER_DIED", `${label} ${what}`));
  }

  readLines(child.stdout, {
    maxBytes: maxMessage,
    onLine(line) {
      if (line.trim() !== "") peer.receive(parseLine(line));
    },
    onTooLong() {
      peer.failOpen(new OmegaError("SERVER_MESSAGE", `${label} sent a message of more than ${maxMessage} bytes`));
    },
    onEnd() {
      outputEnded = true;
      partlyGone("closed its output");
    },
  });
  child.stdin.on("error", () => partlyGone("closed its input"));
  void child.exited.then(() => partlyGone("ended"));
  return { peer, gone: gone.promise };
}

/** `server "git" exited with code 1: its last stderr line`. */
function deathOf(child: Child, label: string): OmegaError {
  const exit = child.exit();
  const how = exit?.signal ? `was ended by ${exit.signal}` : `exited with code ${exit?.code}`;
  const [words] = child.lastWords(1);
  return new OmegaError("SERVER_DIED", `${label} ${how}${words ? `: ${oneLine(words, 300)}` : ""}`);
}
