// Every event of a run passes here once: it is counted, loses its secrets, is put on record, and goes on to whoever looks.

import { addUsage } from "../conversation.ts";
import { FINISH, type RunEvent } from "../events.ts";
import type { RunRecord } from "../records/record.ts";
import { mapStrings, redactStream, type Secrets } from "../redact.ts";
import type { Envelope, Tally } from "./envelope.ts";

export type Watch = {
  /** What events have to lose; from now on. */
  hide(secrets: Secrets): void;
  /** Where they are kept; those told before as well. */
  keepIn(record: RunRecord): void;
  events<T>(told: AsyncGenerator<RunEvent, T>): AsyncGenerator<RunEvent, T>;
  /** One more, told outside of these. */
  event(event: RunEvent): Generator<RunEvent>;
  /** The last thing of a run: its envelope, as it may be seen, is put on record. `late`: what was said of that. */
  end(envelope: Envelope, file: string | null, late: () => RunEvent[]): AsyncGenerator<RunEvent, Envelope>;
};

const beside: readonly RunEvent["type"][] = ["warning", "debug"];

export function openWatch(tally: Tally): Watch {
  const early: RunEvent[] = [];
  /** Text comes in pieces, and a secret may be cut by them; of each agent its own. */
  const streams = new Map<string | undefined, { turn: number; text: ReturnType<typeof redactStream> }>();
  let secrets: Secrets | undefined;
  let record: RunRecord | undefined;

  function* told(event: RunEvent): Generator<RunEvent> {
    if (!secrets) yield event;
    else if (event.type === "text") yield* toldText(event, secrets);
    else {
      // What comes from beside, at any moment, does not end a text: it would cut a secret in two.
      if (!beside.includes(event.type)) yield* restOfText(event.agent);
      yield mapStrings(event, secrets.redact);
    }
  }

  function* toldText(event: Extract<RunEvent, { type: "text" }>, secrets: Secrets): Generator<RunEvent> {
    const stream = streams.get(event.agent) ?? { turn: event.turn, text: redactStream(secrets) };
    streams.set(event.agent, stream);
    stream.turn = event.turn;
    const text = stream.text.push(event.text);
    if (text !== "") yield { ...event, text };
  }

  function* restOfText(agent: string | undefined): Generator<RunEvent> {
    const stream = streams.get(agent);
    const text = stream?.text.flush() ?? "";
    if (stream && text !== "") yield { type: "text", turn: stream.turn, text, ...(agent !== undefined && { agent }) };
  }

  function* event(event: RunEvent): Generator<RunEvent> {
    count(event, tally);
    for (const each of told(event)) {
      if (record) record.event(each);
      else early.push(each);
      yield each;
    }
  }

  const shown = (envelope: Envelope) => (secrets ? mapStrings(envelope, secrets.redact) : envelope);

  return {
    event,
    hide(found) {
      secrets = found;
    },
    keepIn(opened) {
      record = opened;
      for (const event of early.splice(0)) opened.event(event);
    },
    async *events<T>(events: AsyncGenerator<RunEvent, T>) {
      try {
        for (let next = await events.next(); ; next = await events.next()) {
          if (next.done) return next.value;
          yield* event(next.value);
        }
      } finally {
        await events.return(undefined as T);
      }
    },
    async *end(envelope, file, late) {
      await record?.end(shown(envelope), file);
      // What has broken just now is told as well.
      for (const each of late()) yield* event(each);
      // A path must be found again: it stays as it is.
      return { ...shown({ ...envelope, warnings: tally.warnings }), record: tally.record() };
    },
  };
}

function count(event: RunEvent, tally: Tally): void {
  if (event.type === "turn") tally.turns++;
  else if (event.type === "call" && event.tool !== FINISH) tally.toolCalls++;
  else if (event.type === "usage") {
    tally.usage = addUsage(tally.usage, event.usage);
    tally.cost = tally.cost === null || event.cost === null ? null : tally.cost + event.cost;
  } else if (event.type === "warning") tally.warnings.push(event.message);
  else if (event.type === "fallback") tally.warnings.push(`went on with ${event.model}: ${event.reason}`);
  if (event.agent !== undefined) return;
  if (event.type === "answer") {
    tally.text = event.text;
    tally.output = event.output ?? null;
  } else if (event.type === "check") {
    const { check, ok, found } = event;
    tally.checks.push({ check, ok, found });
  } else if (event.type === "fallback") tally.model = event.model;
}
