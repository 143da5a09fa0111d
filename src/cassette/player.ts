// Plays a tape in the place of the model and the servers. What is asked must be what was asked then; where it is not, the
// run departs from the tape, and that is said with the line of the tape. The first departure ends the run, whoever met it.

import type { Model, ModelEvent, ModelRequest } from "../conversation.ts";
import { OmegaError } from "../errors.ts";
import { type Params, type Peer, RpcError } from "../mcp/json-rpc.ts";
import { type Difference, describe, firstDifference } from "./difference.ts";
import { type Entry, openOrder } from "./order.ts";
import { askOf, isNegotiation, START, withoutKnownTools, withoutMeta } from "./recorder.ts";
import {
  type Ask,
  type End,
  type Failure,
  type Kind,
  type Line,
  type LineOf,
  type Placed,
  type Tape,
  toError,
} from "./tape.ts";
import { askingOrder, byLine, headLine, lastLine, nameOf, offeredTools, voiceOf, words } from "./tape-lines.ts";

export type Exit = LineOf<"exit">["exit"];

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
  link(
    server: string,
    onNotification: (method: string, params: Params) => void,
    signal: AbortSignal,
  ): Promise<PlayedLink>;
  /** The next start of this server begins by asking it in the modern era. */
  isModern(server: string): boolean;
  /** What a person said then. */
  reply(question: object, signal: AbortSignal): Promise<LineOf<"reply">["reply"]>;
  /** What was seen then, for what cannot be seen without the servers. */
  check(name: string): { ok: boolean; found: string };
  /** What is seen now must have been seen then. */
  checked(check: LineOf<"check">): void;
  /** Why the run is not what the tape tells; `end`: how it came to an end of its own, if it did. */
  departure(end: End | undefined): OmegaError | undefined;
  /** The tape of this run: lines that stay as they are, by their number, and others. */
  updated(end: End): (number | Line)[];
};

export type PlayerOptions = {
  /** What is asked may have changed: the answer of then is given all the same. */
  isLenient: boolean;
  /** As the tape has it: without secrets, and without what JSON does not have. */
  asTaped<T>(value: T): T;
  /** The time was up then, or a signal came: so it does now. Told before the request fails. */
  onTimeUp(reason: OmegaError, signal: AbortSignal): void;
};

export function openPlayer(tape: Tape, { isLenient, asTaped, onTimeUp }: PlayerOptions): Player {
  const { lines, file } = tape;
  const taken = new Set<number>();
  const changes = new Map<number, Line>();
  const newChecks: Line[] = [];
  const links = new Map<string, Opened[]>();
  const rank = askingOrder(lines.method);
  const toolsThen = offeredTools(lines.ask);
  let departed: OmegaError | undefined;

  const free = <K extends Kind>(placed: readonly Placed<K>[]) => placed.filter(({ line }) => !taken.has(line));
  const take = <T extends { line: number }>(found: T): T => {
    taken.add(found.line);
    return found;
  };

  function diverged(line: number, message: string): OmegaError {
    departed ??= new OmegaError("DIVERGED", `the run departs from the tape (${file}:${line}): ${message}`, {
      hint: "if the change is meant, record the cassette again, or accept it: omega test --update",
    });
    order.stop(departed);
    return departed;
  }

  const order = openOrder(
    [
      ...[...lines.ask, ...lines.method, ...lines.reply].map(({ line }): Entry => ({ line })),
      ...lines.notify.map(
        ({ line, value }): Entry => ({
          line,
          happens() {
            const params = (value.params ?? {}) as Params;
            for (const { onNotification } of links.get(value.server) ?? []) onNotification(value.notify, params);
          },
        }),
      ),
      ...lines.lost.map(
        ({ line, value }): Entry => ({
          line,
          // Not one that was started after it.
          happens: () => {
            const lost = links.get(value.server)?.find(({ since }) => since < line);
            lost?.lose(toError(value.lost));
          },
        }),
      ),
    ].sort((a, b) => a.line - b.line),
    (line) => {
      const left = describeLeft(line);
      if (!isLenient && left !== undefined) diverged(line, `${left} is on the tape and is not asked for`);
    },
  );

  /** Undefined for what may be missing: an answer that nobody waited for. */
  function describeLeft(line: number): string | undefined {
    const ask = lines.ask.find((found) => found.line === line);
    if (ask) return `turn ${ask.value.ask.turn + 1} of ${voiceOf(ask.value.ask)}`;
    const request = lines.method.find((found) => found.line === line)?.value;
    if (request) {
      const mayBeMissing = request.failed || request.method === RELISTED;
      return mayBeMissing ? undefined : `${nameOf(request)} of server "${request.server}"`;
    }
    return "the answer of a person";
  }

  function nothingLeft(what: string): OmegaError {
    if (!tape.end)
      return diverged(
        lastLine(tape),
        `${what}, and the tape ends here: its run was killed, is still on, or was too long to be kept`,
      );
    return diverged(lastLine(tape), `${what}, which the tape does not have`);
  }

  /** Of those that are the same the first; else, with its difference, the one that was meant. */
  function find<K extends Kind>(
    candidates: readonly Placed<K>[],
    differ: (value: LineOf<K>) => ReturnType<typeof firstDifference>,
    isMeant: (value: LineOf<K>) => boolean,
  ) {
    const compared = candidates.map((found) => ({ found, difference: differ(found.value) }));
    return (
      compared.find(({ difference }) => !difference) ??
      compared.find(({ found }) => isMeant(found.value)) ??
      compared[0]
    );
  }

  function findAnswer(request: ModelRequest): { found: Placed<"ask">; asked: Ask } {
    const asked = asTaped(askOf(request));
    const isOwn = ({ ask }: LineOf<"ask">) => ask.agent === asked.agent;
    // Two agents may ask the same: each has its own answer.
    const open = free(lines.ask).sort((a, b) => Number(isOwn(b.value)) - Number(isOwn(a.value)) || a.line - b.line);
    const differ = ({ ask }: LineOf<"ask">) => firstDifference(words(ask), words(asked));
    const best = find(open, differ, (value) => isOwn(value) && value.ask.turn === asked.turn);
    if (!best) throw nothingLeft(`turn ${asked.turn + 1} of ${voiceOf(asked)} is asked for`);
    const { found, difference } = best;
    take(found);
    if (!difference) return { found, asked };
    if (!isLenient) throw departedAt(found.line, asked, difference);
    changes.set(found.line, { ...found.value, ask: asked });
    return { found, asked };
  }

  function departedAt(line: number, asked: Ask, difference: Difference): OmegaError {
    return diverged(line, `turn ${asked.turn + 1} of ${voiceOf(asked)}: ${describe(difference)}`);
  }

  /** Whether a tool had come when this was asked is a matter of moments: it must be so at one before the answer. */
  async function awaitTurn(
    { found, asked }: ReturnType<typeof findAnswer>,
    { tools, toolsNow = () => tools }: ModelRequest,
    signal: AbortSignal,
  ): Promise<void> {
    const then = { tools: toolsThen.get(found.line) };
    const compare = () => firstDifference(then, asTaped({ tools: toolsNow().map(({ name }) => name) }));
    let difference = firstDifference(then, { tools: asked.tools });
    const look = () => {
      difference &&= compare();
    };
    await order.turn(found.line, signal, look);
    look();
    if (!difference) return;
    if (!isLenient) throw departedAt(found.line, asked, difference);
    changes.set(found.line, { ...found.value, ask: asked });
  }

  function findResult(server: string, method: string, params: Params | undefined): Placed<"method"> | undefined {
    const asked = { method, params: isNegotiation(method) ? undefined : asTaped(withoutMeta(params)) };
    const open = free(lines.method)
      .filter(({ value }) => value.server === server && value.method === method)
      .sort((a, b) => (rank.get(a.line) ?? 0) - (rank.get(b.line) ?? 0) || a.line - b.line);
    const best = find(
      open,
      (value) => firstDifference(value.params, asked.params),
      (value) => nameOf(value) === nameOf(asked),
    );
    if (!best) return undefined;
    const { found, difference } = best;
    if (!difference) return take(found);
    if (!isLenient) throw diverged(found.line, `${nameOf(asked)} of server "${server}": ${describe(difference)}`);
    changes.set(found.line, { ...found.value, params: asked.params });
    return take(found);
  }

  async function failWith(failure: Failure, signal: AbortSignal): Promise<never> {
    const error = toError(failure);
    if (["LIMIT_TIME", "INTERRUPTED"].includes(error.code)) onTimeUp(error, signal);
    throw error;
  }

  return {
    model: {
      name: tape.head.model,
      async *stream(request, signal) {
        signal.throwIfAborted();
        if (departed) throw departed;
        const answer = findAnswer(request);
        await awaitTurn(answer, request, signal);
        const { line, value } = answer.found;
        yield* (value.answer ?? []) as ModelEvent[];
        if (value.failed) await failWith(value.failed, signal);
        if (!value.answer) throw diverged(line, "there is neither an answer nor how it failed");
      },
    },
    isModern: (server) => nextStart(server)?.value.method === "server/discover",
    async link(server, onNotification, signal) {
      if (departed) throw departed;
      const start = nextStart(server);
      if (start?.value.method === START && start.value.failed) {
        await order.turn(take(start).line, signal);
        await failWith(start.value.failed, signal);
      }
      const gone = Promise.withResolvers<OmegaError>();
      const exited = Promise.withResolvers<Exit>();
      const siblings = links.get(server) ?? [];
      const opened: Opened = { since: start?.line ?? 0, onNotification, lose: gone.resolve };
      links.set(server, [...siblings, opened]);
      return {
        peer: {
          async request(method, params, { signal, progress }) {
            if (departed) throw departed;
            signal.throwIfAborted();
            const found = findResult(server, method, params);
            if (!found && method === RELISTED && progress) return await never(signal);
            if (!found) throw nothingLeft(`${nameOf({ method, params })} of server "${server}" is asked for`);
            await order.turn(found.line, signal);
            const { result, error, failed } = found.value;
            if (error) throw new RpcError(error.code, error.message, error.data);
            return failed ? await failWith(failed, signal) : (result ?? null);
          },
          notify: () => undefined,
          receive: () => undefined,
          failOpen: () => undefined,
          close: gone.resolve,
          dropped: () => 0,
        },
        gone: gone.promise,
        exited: exited.promise,
        hint() {
          const [next] = free(lines.hint).filter(({ value }) => value.server === server);
          return next ? take(next).value.hint : `it was played from ${file}`;
        },
        async end() {
          const [next] = free(lines.exit).filter(({ value }) => value.server === server);
          exited.resolve(next ? take(next).value.exit : { code: null, signal: null });
          links.set(server, links.get(server)?.filter((other) => other !== opened) ?? []);
        },
      };
    },
    async reply(question, signal) {
      if (departed) throw departed;
      const asked = asTaped(question);
      const best = find(
        free(lines.reply),
        ({ question }) => firstDifference(question, asked),
        () => true,
      );
      if (!best) throw nothingLeft("a person is asked");
      const { found, difference } = best;
      if (difference && !isLenient) throw diverged(found.line, `the question to a person: ${describe(difference)}`);
      if (difference) changes.set(found.line, { ...found.value, question: asked });
      await order.turn(take(found).line, signal);
      return found.value.reply;
    },
    check(name) {
      const [found] = free(lines.check).filter(({ value }) => value.check === asTaped(name));
      if (!found) throw diverged(lastLine(tape), `the check "${name}" was not made then`);
      const { ok, found: seen } = take(found).value;
      return { ok, found: seen };
    },
    checked({ check, ok, found }) {
      const seen = asTaped({ check, ok, found });
      const [then] = free(lines.check).filter(({ value }) => value.check === seen.check);
      if (!then) {
        if (!isLenient) throw diverged(lastLine(tape), `the check "${check}" was not made then`);
        newChecks.push(seen);
        return;
      }
      const difference = firstDifference(take(then).value, seen);
      if (difference && !isLenient) throw diverged(then.line, `the check "${check}": ${describe(difference)}`);
      if (difference) changes.set(then.line, seen);
    },
    departure(end) {
      if (departed || isLenient || !end) return departed;
      if (!tape.end)
        return diverged(
          lastLine(tape),
          "the tape has no end: its run was killed, is still on, or was too long to be kept",
        );
      for (const { line } of byLine([...free(lines.ask), ...free(lines.method), ...free(lines.reply)])) {
        const left = describeLeft(line);
        if (left !== undefined) return diverged(line, `${left} is on the tape and was not asked for`);
      }
      const [check] = free(lines.check);
      if (check) return diverged(check.line, `the check "${check.value.check}" is on the tape and was not made`);
      const difference = firstDifference(tape.end.value.end, asTaped(end));
      return difference && diverged(tape.end.line, `the end: ${describe(difference)}`);
    },
    updated(end) {
      const inShortest = withoutKnownTools();
      const kept = (line: number) => {
        const ask = lines.ask.find((found) => found.line === line)?.value;
        const changed = changes.get(line);
        if (!ask) return changed ?? line;
        const now = { ...ask, ask: inShortest(changed && "ask" in changed ? changed.ask : withTools(ask.ask, line)) };
        return firstDifference(ask, now) ? now : line;
      };
      const withTools = (ask: Ask, line: number): Ask => ({ ...ask, tools: toolsThen.get(line) });
      const isPlayed = ({ line }: { line: number }) => taken.has(line) || describeLeft(line) === undefined;
      const traffic = [...lines.ask, ...lines.method, ...lines.reply].filter(isPlayed);
      const beside = [...lines.notify, ...lines.lost, ...lines.exit, ...lines.hint];
      const checks = lines.check.filter(({ line }) => taken.has(line));
      const isSame = tape.end && !firstDifference(tape.end.value.end, asTaped(end));
      const told = byLine([...traffic, ...beside, ...checks]).map(({ line }) => line);
      // New checks stand where others stood, or at least before the servers leave.
      const [gone] = free(lines.check);
      const leave = lines.exit.find(({ line }) => traffic.every((other) => other.line < line));
      const from = gone?.line ?? leave?.line ?? Number.POSITIVE_INFINITY;
      return [
        headLine(tape),
        ...told.filter((line) => line < from).map(kept),
        ...newChecks,
        ...told.filter((line) => line >= from).map(kept),
        isSame && tape.end ? tape.end.line : { end },
      ];
    },
  };

  function nextStart(server: string): Placed<"method"> | undefined {
    return free(lines.method).find(
      ({ value }) => value.server === server && (value.method === START || isNegotiation(value.method)),
    );
  }
}

/** `since`: the line with which it began. */
type Opened = {
  since: number;
  onNotification(method: string, params: Params): void;
  lose(reason: OmegaError): void;
};

/** A list is looked at again when a server says that it has changed; whether there was time for it is chance. */
const RELISTED = "tools/list";

function never(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
}
