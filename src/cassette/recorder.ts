// Records what passes: the model's answers and the servers', each when it is whole.

import {
  type Image,
  type Message,
  type Model,
  type ModelEvent,
  type ModelRequest,
  type Text,
  textOf,
} from "../conversation.ts";
import { OmegaError } from "../errors.ts";
import { type Params, type Peer, RpcError } from "../mcp/json-rpc.ts";
import { firstDifference } from "./difference.ts";
import type { Ask, End, Failure, Head, Line, LineOf } from "./tape.ts";

export type Recorder = {
  begin(head: Head): void;
  model(model: Model): Model;
  peer(server: string, peer: Peer): Peer;
  notified(server: string, method: string, params: Params): void;
  /** It did not even come to talk. */
  notStarted(server: string, error: unknown): void;
  lost(server: string, reason: OmegaError): void;
  exited(server: string, exit: LineOf<"exit">["exit"]): void;
  hinted(server: string, hint: string): void;
  replied(question: object, reply: LineOf<"reply">["reply"]): void;
  checked(check: LineOf<"check">): void;
  end(end: End): void;
};

export function openRecorder(write: (line: Line) => void): Recorder {
  const { add, place, close } = inOrder(write);
  const open = new Map<string, Asked[]>();
  const inShortest = withoutKnownTools();

  return {
    begin: write,
    model: ({ name, stream }) => ({
      name,
      async *stream(request, signal) {
        const ask = inShortest(askOf(request));
        const answer: Answer = [];
        let fill: ((line: Line | undefined) => void) | undefined;
        let line: LineOf<"ask"> | undefined;
        try {
          for await (const event of stream(request, signal)) {
            note(answer, event);
            // From here on calls are made: their answers come after this one, which is not yet whole.
            if (event.type === "call") fill ??= place();
            yield event;
          }
          line = { ask, answer };
        } catch (error) {
          line = { ask, ...(answer.length > 0 && { answer }), failed: failureOf(error) };
          throw error;
        } finally {
          if (fill) fill(line);
          else if (line) add(line);
        }
      },
    }),
    peer: (server, peer) => ({
      ...peer,
      async request(method, params, options) {
        const asked: Asked = { method, params: isNegotiation(method) ? undefined : withoutMeta(params) };
        const others = open.get(server) ?? [];
        open.set(server, others);
        others.push(asked);
        const answered = (how: Pick<LineOf<"method">, "result" | "error" | "failed">) => {
          const overtook = leave(others, asked);
          add({ server, ...asked, ...(overtook > 0 && { overtook }), ...how });
        };
        try {
          const result = await peer.request(method, params, options);
          answered({ result });
          return result;
        } catch (error) {
          answered(error instanceof RpcError ? { error: plain(error) } : { failed: failureOf(error) });
          throw error;
        }
      },
    }),
    notified: (server, method, params) => add({ server, notify: method, params }),
    notStarted: (server, error) => add({ server, method: START, failed: failureOf(error) }),
    lost: (server, reason) => add({ server, lost: failureOf(reason) }),
    exited: (server, exit) => add({ server, exit }),
    hinted: (server, hint) => add({ server, hint }),
    replied: (question, reply) => add({ question, reply }),
    checked: ({ check, ok, found }) => add({ check, ok, found }),
    end(end) {
      close();
      write({ end });
    },
  };
}

/** A line may have its place before it is whole: what comes after it waits. */
function inOrder(write: (line: Line) => void) {
  const waiting: { line: Line | undefined; isWhole: boolean }[] = [];
  const drain = () => {
    while (waiting[0]?.isWhole) {
      const line = waiting.shift()?.line;
      if (line) write(line);
    }
  };
  return {
    add(line: Line) {
      if (waiting.length === 0) write(line);
      else waiting.push({ line, isWhole: true });
    },
    place() {
      const slot: (typeof waiting)[number] = { line: undefined, isWhole: false };
      waiting.push(slot);
      return (line: Line | undefined) => {
        slot.line = line;
        slot.isWhole = true;
        drain();
      };
    },
    /** What is not whole by now will never be. */
    close() {
      for (const slot of waiting) slot.isWhole = true;
      drain();
    },
  };
}

type Asked = { method: string; params: Params | undefined };

/** How many just like it were asked earlier, and are still open. */
function leave(open: Asked[], asked: Asked): number {
  const at = open.indexOf(asked);
  open.splice(at, 1);
  return open.slice(0, at).filter((other) => firstDifference(other, asked) === undefined).length;
}

/** Stands for the start of a server that failed. */
export const START = "start";

/** What a request says of who we are changes with every version of omega. */
export function isNegotiation(method: string): boolean {
  return method === "initialize" || method === "server/discover";
}

export function withoutMeta(params: Params | undefined): Params | undefined {
  if (!params) return undefined;
  const { _meta: _, ...rest } = params;
  return Object.keys(rest).length === 0 ? undefined : rest;
}

/** What is new in a request, for the conversation that it belongs to. */
export function askOf({ agent, system, tools, messages }: ModelRequest): Ask & { tools: string[] } {
  const last = messages.findLastIndex(({ role }) => role === "assistant");
  const turn = messages.filter(({ role }) => role === "assistant").length;
  return {
    ...(agent !== undefined && { agent }),
    turn,
    ...(turn === 0 && system !== undefined && { system }),
    tools: tools.map(({ name }) => name),
    messages: messages.slice(last + 1).map(readable),
  };
}

/** Tools are told where they are others than those that the conversation had before. */
export function withoutKnownTools(): (ask: Ask) => Ask {
  const known = new Map<string | undefined, string>();
  return ({ tools, ...ask }) => {
    const names = tools?.join() ?? known.get(ask.agent) ?? "";
    const isKnown = known.get(ask.agent) === names;
    known.set(ask.agent, names);
    const { messages, ...rest } = ask;
    return isKnown ? ask : { ...rest, ...(tools && { tools }), messages };
  };
}

/** A cassette is read more often than it is played: one line of text is one text, and a picture stands there once. */
function readable(message: Message): object {
  if (message.role === "tool") {
    const { content, isError } = message.result;
    const isText = content.every(({ type }) => type === "text");
    return {
      result: message.callId,
      ...(isError && { isError }),
      ...(isText ? { text: textOf(content) } : { content: content.map(inShort) }),
    };
  }
  const isText = message.content.every(({ type }) => type === "text");
  return isText ? { [message.role]: textOf(message.content) } : { role: message.role, content: message.content };
}

const PICTURE_SHOWN = 40;

function inShort(part: Text | Image): object {
  if (part.type === "text") return part;
  const { type, mimeType, data } = part;
  return { type, mimeType, data: `${data.slice(0, PICTURE_SHOWN)}… (${data.length} characters)` };
}

type Answer = NonNullable<LineOf<"ask">["answer"]>;

/** Text in one piece; what was retried did not happen; a provider's own blocks are of no use without it. */
function note(answer: Answer, event: ModelEvent): void {
  const last = answer.at(-1);
  if (event.type === "debug") return;
  if (event.type === "retry") keepFallbacks(answer);
  else if (event.type === "fallback") {
    keepFallbacks(answer);
    answer.push(event);
  } else if (event.type === "text" && last?.type === "text") last.text += event.text;
  else if (event.type === "end") {
    const { raw: _, ...rest } = event;
    answer.push(rest);
  } else answer.push({ ...event });
}

function keepFallbacks(answer: Answer): void {
  answer.splice(0, answer.length, ...answer.filter(({ type }) => type === "fallback"));
}

function failureOf(error: unknown): Failure {
  if (!(error instanceof OmegaError)) {
    return { code: "INTERNAL", message: error instanceof Error ? error.message : String(error) };
  }
  const { code, message, hint, retryAfterMs, signal } = error;
  return {
    ...{ code, message },
    ...(hint !== undefined && { hint }),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
    ...(signal !== undefined && { signal }),
  };
}

function plain({ code, message, data }: RpcError) {
  return { code, message, ...(data !== undefined && { data }) };
}
