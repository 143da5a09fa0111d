// Plays a tape in the place of the model and the servers. What is asked must be what was asked then; where it is not, the
// run departs from the tape, and that is said with the line of the tape.

import type { Model, ModelEvent, ModelRequest } from "../conversation.ts";
import { type ErrorCode, isErrorCode, OmegaError } from "../errors.ts";
import { type Params, type Peer, RpcError } from "../mcp/json-rpc.ts";
import { describe, firstDifference } from "./difference.ts";
import type { Places } from "./places.ts";
import { askOf, isNegotiation, START, withoutMeta } from "./recorder.ts";
import type { EndLine, Placed, ServerLine, Tape } from "./tape.ts";

export type Exit = { code: number | null; signal: string | null };

/** A server that is played: the same shape as one that runs. */
export type PlayedLink = {
  peer: Peer;
  gone: Promise<OmegaError>;
  exited: Promise<Exit>;
  hint(): string;
  end(): Promise<void>;
};

export type Player = {
  model: Model;
  /** Throws what kept it from starting. */
  link(server: string, onNotification: (method: string, params: Params) => void): PlayedLink;
  isModern(server: string): boolean;
  /** What was seen then, for what cannot be seen without the servers. */
  check(name: string): { ok: boolean; found: string };
  /** Why the run as a whole is not what the tape tells. */
  departure(end: EndLine["end"]): OmegaError | undefined;
};

export type PlayerOptions = {
  file: string;
  /** What is asked may have changed: the answer of then is given all the same. */
  isLenient: boolean;
  /** As the tape has it: without secrets, without the folders of this machine. */
  asTaped<T>(value: T): T;
  show: Places["show"];
};

export function openPlayer(tape: Tape, { file, isLenient, asTaped, show }: PlayerOptions): Player {
  const played = new Set<number>();
  const diverged = (line: number, message: string) =>
    new OmegaError("DIVERGED", `the run departs from the tape (${file}:${line}): ${message}`, {
      hint: "if the change is meant, record the cassette again, or accept it: omega test --update",
    });
  const take = <T extends { line: number }>(found: T): T => {
    played.add(found.line);
    return found;
  };
  const unplayed = <T extends { line: number }>(lines: readonly T[]) => lines.filter(({ line }) => !played.has(line));

  function findAnswer(request: ModelRequest) {
    const asked = asTaped(askOf(request));
    const open = unplayed(tape.model);
    const differences = open.map((found) => ({ found, difference: firstDifference(found.ask, asked) }));
    const same = differences.find(({ difference }) => !difference);
    if (same) return take(same.found);
    const nearest = differences.find(({ found }) => found.ask.turn === asked.turn) ?? differences[0];
    if (!nearest?.difference) throw diverged(lastLine(tape), `the model is asked once more (turn ${asked.turn + 1})`);
    if (isLenient) return take(nearest.found);
    throw diverged(nearest.found.line, `turn ${asked.turn + 1}: ${describe(nearest.difference)}`);
  }

  function findReply(server: string, method: string, params: Params | undefined): Placed<ServerLine> {
    const asked = isNegotiation(method) ? undefined : asTaped(withoutMeta(params));
    const open = unplayed(tape.servers).filter((found) => found.server === server && found.method === method);
    const differences = open.map((found) => ({ found, difference: firstDifference(found.params, asked) }));
    const same = differences.find(({ difference }) => !difference);
    if (same) return take(same.found);
    const what = `server "${server}" is asked ${method}`;
    const [nearest] = differences;
    if (!nearest?.difference) throw diverged(lastLine(tape), `${what}, which the tape does not have`);
    if (isLenient) return take(nearest.found);
    throw diverged(nearest.found.line, `${what}: ${describe(nearest.difference)}`);
  }

  return {
    model: {
      name: tape.head.model,
      async *stream(request, signal) {
        signal.throwIfAborted();
        const { answer, failed, line } = findAnswer(request);
        if (failed) throw failureOf(show(failed));
        if (!answer) throw diverged(line, "the answer is missing");
        yield* show(answer) as ModelEvent[];
      },
    },
    isModern: (server) => tape.servers.find((found) => found.server === server)?.method === "server/discover",
    link(server, onNotification) {
      const gone = Promise.withResolvers<OmegaError>();
      const exited = Promise.withResolvers<Exit>();
      const start = tape.servers.find((found) => found.server === server && found.method === START);
      if (start?.failed) throw failureOf(show(take(start).failed ?? start.failed));
      const peer: Peer = {
        async request(method, params, { signal }) {
          const reply = findReply(server, method, params);
          // An answer never comes in the moment of the question.
          await new Promise((resolve) => setImmediate(resolve));
          signal.throwIfAborted();
          for (const note of unplayed(tape.notes)) {
            if (note.server !== server || note.line > reply.line) continue;
            take(note);
            onNotification(note.notify, (show(note.params) ?? {}) as Params);
          }
          const { result, error, failed } = show(reply);
          if (error) throw new RpcError(error.code, error.message, error.data);
          if (!failed) return result ?? null;
          const failure = failureOf(failed);
          if (lost.includes(failure.code)) gone.resolve(failure);
          throw failure;
        },
        notify: () => undefined,
        receive: () => undefined,
        failOpen: () => undefined,
        close: (reason) => gone.resolve(reason),
        dropped: () => 0,
      };
      return {
        peer,
        gone: gone.promise,
        exited: exited.promise,
        hint: () => `it was played from ${file}`,
        async end() {
          const exit = unplayed(tape.exits).find((found) => found.server === server);
          exited.resolve(exit ? take(exit).exit : { code: null, signal: null });
        },
      };
    },
    check(name) {
      const found = unplayed(tape.checks).find(({ check }) => check === asTaped(name));
      if (!found) throw diverged(lastLine(tape), `the check "${name}" was not made then`);
      return { ok: take(found).ok, found: show(found.found) };
    },
    departure(end) {
      if (isLenient) return undefined;
      if (!tape.end) return diverged(lastLine(tape), "the tape has no end: it was cut off");
      const { line, end: taped } = tape.end;
      const difference = firstDifference(taped, asTaped(end));
      if (difference) return diverged(line, `the end: ${describe(difference)}`);
      const [left] = unplayed([...tape.model, ...tape.servers]);
      if (!left) return undefined;
      const what =
        "ask" in left ? `turn ${left.ask.turn + 1} of the model` : `${left.method} of server "${left.server}"`;
      return diverged(left.line, `${what} is on the tape and was not asked for`);
    },
  };
}

/** Errors that say: the server is gone. */
const lost: readonly string[] = ["SERVER_DIED", "SERVER_HUNG"];

function lastLine({ model, servers, end }: Tape): number {
  return end?.line ?? Math.max(1, ...[...model, ...servers].map(({ line }) => line));
}

function failureOf({ code, message }: { code: string; message: string }): OmegaError {
  const known: ErrorCode = isErrorCode(code) ? code : "INTERNAL";
  return new OmegaError(known, message);
}
