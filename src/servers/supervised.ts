// One declared server over a run: started, watched, buried when it dies, started again if the manifest says so.

import { OmegaError } from "../errors.ts";
import type { Server } from "../manifest/skill.ts";
import type { PeerOptions } from "../mcp/json-rpc.ts";
import type { Exit } from "../processes/child.ts";
import { type Live, type StartOptions, start } from "./live.ts";

const RESTARTS = 3;
/** Before a restart; each next one waits twice as long. */
const BACK_OFF_MS = 250;

export type ServerState = {
  name: string;
  status: "starting" | "ready" | "failed" | "died" | "hung";
  protocol: string | null;
  tools: number;
  readyMs: number | null;
  exit: Exit | null;
};

export type SuperviseOptions = Pick<StartOptions, "children" | "cwd" | "signal" | "hurry" | "deck" | "onStderr"> & {
  onState(state: ServerState): void;
  onWarning(message: string): void;
};

export type Supervised = {
  /** The one that is up, or the one that is about to be. */
  live(): Promise<Live>;
  state(): ServerState;
  /** Why the last one is gone, while there is no other. */
  death(): OmegaError | undefined;
  /** Aborted when the run is over, or this server's part in it. */
  closing: AbortSignal;
  [Symbol.asyncDispose](): Promise<void>;
};

export async function supervise(
  server: Server,
  options: SuperviseOptions & Pick<PeerOptions, "onRequest" | "onNotification"> & { onLive(live: Live): void },
): Promise<Supervised> {
  const label = `server "${server.name}"`;
  const closing = new AbortController();
  const signal = AbortSignal.any([options.signal, closing.signal]);
  const blank = { status: "starting", protocol: null, tools: 0, readyMs: null, exit: null } as const;
  let state: ServerState = { name: server.name, ...blank };
  let death: OmegaError | undefined;
  let restarts = 0;

  function update(change: Partial<ServerState>): void {
    state = { ...state, ...change };
    options.onState(state);
  }

  async function open(): Promise<Live> {
    const started = performance.now();
    update(blank);
    const live = await start(server, { ...options, signal }).catch((error: unknown) => {
      update({ status: "failed" });
      throw error;
    });
    const readyMs = Math.round(performance.now() - started);
    update({ status: "ready", protocol: live.session.protocol, tools: live.tools.entries.length, readyMs });
    death = undefined;
    options.onLive(live);
    void live.link.exited.then((exit) => update({ exit }));
    void live.link.gone.then((reason) => bury(live, reason));
    return live;
  }

  /** What still lives of a lost server is ended; nobody will talk to it again. */
  function bury({ link }: Live, reason: OmegaError): void {
    if (closing.signal.aborted) return;
    const isHung = reason.code === "SERVER_HUNG";
    death = reason;
    update({ status: isHung ? "hung" : "died" });
    const ended = link.end(isHung);
    if (server.restart === "never" || restarts === RESTARTS) return;
    current = ended.then(restart);
    current.catch(() => undefined);
  }

  async function restart(): Promise<Live> {
    await pause(BACK_OFF_MS * 2 ** restarts++, signal);
    options.onWarning(`${death?.message ?? label}; starting it again (${restarts} of ${RESTARTS})`);
    try {
      return await open();
    } catch (error) {
      if (signal.aborted || restarts === RESTARTS) throw error;
      return await restart();
    }
  }

  let current = open();
  await current;
  return {
    live: () => current,
    state: () => state,
    death: () => death,
    closing: signal,
    async [Symbol.asyncDispose]() {
      closing.abort(new OmegaError("SERVER_DIED", `${label} was closed`));
      const live = await current.catch(() => undefined);
      await live?.link.end();
    },
  };
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
    signal.addEventListener("abort", done);
    if (signal.aborted) done();
  });
}
