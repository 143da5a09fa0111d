// A child process that speaks MCP on its stdin and stdout → a peer that can be asked. Noise on its stdout is skipped and
// counted; a line over the limit fails what is waiting, for its answer may have been that line.

import { OmegaError } from "../errors.ts";
import { createPeer, type Peer, type PeerOptions } from "../mcp/json-rpc.ts";
import { parseLine, readLines } from "../mcp/lines.ts";
import type { Child } from "../processes/child.ts";

/** A server ends and closes its output in either order; this long we wait for the second to tell the true reason. */
const LAST_WORDS_MS = 100;

export type StdioOptions = { label: string; maxMessage: number } & Pick<PeerOptions, "onRequest" | "onNotification">;

export function speakStdio(child: Child, options: StdioOptions): Peer {
  const { label, maxMessage } = options;
  const peer = createPeer({
    ...options,
    send(message) {
      // Only a server that has stopped reading lets this grow; what it will never read must not fill our memory.
      if (child.stdin.writableLength > maxMessage) {
        throw new OmegaError("SERVER_TIMEOUT", `${label} does not read its input`);
      }
      child.stdin.write(`${JSON.stringify(message)}\n`);
    },
  });
  let outputEnded = false;
  let timer: NodeJS.Timeout | undefined;

  function partlyGone(): void {
    if (outputEnded && child.exit()) close();
    else timer ??= setTimeout(close, LAST_WORDS_MS);
  }

  function close(): void {
    clearTimeout(timer);
    peer.close(child.exit() ? deathOf(child, label) : new OmegaError("SERVER_DIED", `${label} closed its output`));
  }

  readLines(child.stdout, {
    maxBytes: maxMessage,
    onLine: (line) => peer.receive(parseLine(line)),
    onTooLong() {
      peer.failOpen(new OmegaError("SERVER_DIED", `${label} sent a message of more than ${maxMessage} bytes`));
    },
    onEnd() {
      outputEnded = true;
      partlyGone();
    },
  });
  void child.exited.then(partlyGone);
  return peer;
}

/** `server "git" exited with code 1: its last stderr line`. */
function deathOf(child: Child, label: string): OmegaError {
  const exit = child.exit();
  const how = exit?.signal ? `was ended by ${exit.signal}` : `exited with code ${exit?.code}`;
  const [words] = child.lastWords(1);
  return new OmegaError("SERVER_DIED", `${label} ${how}${words ? `: ${words}` : ""}`);
}
