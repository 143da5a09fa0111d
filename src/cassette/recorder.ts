// Records what passes: the model's answers and the servers', each when it is whole.

import { type Message, type Model, type ModelEvent, type ModelRequest, textOf } from "../conversation.ts";
import { OmegaError } from "../errors.ts";
import { isObject, type Params, type Peer, RpcError } from "../mcp/json-rpc.ts";
import type { EndLine, Head, Line } from "./tape.ts";

export type Recorder = {
  begin(head: Head): void;
  model(model: Model): Model;
  peer(server: string, peer: Peer): Peer;
  notified(server: string, method: string, params: Params): void;
  /** It did not even come to talk. */
  notStarted(server: string, error: unknown): void;
  exited(server: string, exit: { code: number | null; signal: string | null }): void;
  checked(check: { check: string; ok: boolean; found: string }): void;
  end(end: EndLine["end"]): void;
};

export function openRecorder(write: (line: Line) => void): Recorder {
  return {
    begin: write,
    model: ({ name, stream }) => ({
      name,
      async *stream(request, signal) {
        const ask = askOf(request);
        const events: ModelEvent[] = [];
        try {
          for await (const event of stream(request, signal)) {
            note(events, event);
            yield event;
          }
          write({ ask, answer: events });
        } catch (error) {
          write({ ask, failed: failureOf(error) });
          throw error;
        }
      },
    }),
    peer: (server, peer) => ({
      ...peer,
      async request(method, params, options) {
        const line = { server, method, ...(isNegotiation(method) ? {} : { params: withoutMeta(params) }) };
        try {
          const result = await peer.request(method, params, options);
          write({ ...line, result });
          return result;
        } catch (error) {
          write({ ...line, ...(error instanceof RpcError ? { error: plain(error) } : { failed: failureOf(error) }) });
          throw error;
        }
      },
    }),
    notified: (server, method, params) => write({ server, notify: method, params }),
    notStarted: (server, error) => write({ server, method: START, failed: failureOf(error) }),
    exited: (server, exit) => write({ server, exit }),
    checked: (check) => write(check),
    end: (end) => write({ end }),
  };
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

export function askOf({ system, tools, messages }: ModelRequest) {
  const last = messages.findLastIndex(({ role }) => role === "assistant");
  const turn = messages.filter(({ role }) => role === "assistant").length;
  return {
    turn,
    ...(turn === 0 && system !== undefined && { system }),
    tools: tools.map(({ name }) => name),
    messages: messages.slice(last + 1).map(readable),
  };
}

/** A conversation is read more often than it is compared: one line of text is one text. */
function readable(message: Message): object {
  if (message.role === "tool") {
    const { content, isError } = message.result;
    const isText = content.every(({ type }) => type === "text");
    return {
      result: message.callId,
      ...(isError && { isError }),
      ...(isText ? { text: textOf(content) } : { content }),
    };
  }
  const isText = message.content.every(({ type }) => type === "text");
  return isText ? { [message.role]: textOf(message.content) } : { role: message.role, content: message.content };
}

/** Text in one piece; what was retried did not happen; a provider's own blocks are of no use without it. */
function note(events: ModelEvent[], event: ModelEvent): void {
  const last = events.at(-1);
  if (event.type === "debug") return;
  if (event.type === "retry") events.length = 0;
  else if (event.type === "text" && last?.type === "text")
    events[events.length - 1] = { ...last, text: last.text + event.text };
  else if (event.type === "end") {
    const { raw: _, ...rest } = event;
    events.push(rest);
  } else events.push(event);
}

function failureOf(error: unknown): { code: string; message: string } {
  const message = error instanceof Error ? error.message : String(error);
  return { code: error instanceof OmegaError ? error.code : "INTERNAL", message };
}

function plain({ code, message, data }: RpcError) {
  return { code, message, ...(isObject(data) && { data }) };
}
