// events.jsonl: a line for each event, written in the tick in which it comes, so that a killed omega leaves a readable record. Only text waits a
// moment: it comes word by word, and a secret may come in two pieces.

import { closeSync } from "node:fs";
import { mapStrings } from "../redact.ts";
import { openToAppend, write } from "./private-files.ts";
import type { Clean, Store } from "./store.ts";

const TEXT_WAITS_MS = 1_000;
/** A text without a space does not wait for one for ever. */
const LONGEST_WORD = 4_096;

export type LoggedEvent = { type: string } & Record<string, unknown>;

export type EventLog = { event(event: LoggedEvent): void; close(): void };

export function openEventLog(file: string, { clean, store }: { clean: Clean; store: Store }): EventLog {
  let fd = store.attempt(() => openToAppend(file));
  let waiting: { event: LoggedEvent; at: number; text: string } | undefined;
  let timer: NodeJS.Timeout | undefined;
  let lines = "";

  function writeLine(event: LoggedEvent, at: number): void {
    if (fd === undefined) return;
    // An event may have an `at` of its own; a line has but one, in the same form on every line.
    const { at: _, ...rest } = event;
    if (lines === "") setImmediate(writeLines);
    lines += `${JSON.stringify(Object.assign({ at }, mapStrings(rest, clean)))}\n`;
  }

  /** All of one tick in one write, when what the run waits for is on its way. */
  function writeLines(): void {
    const target = fd;
    const text = lines;
    lines = "";
    if (target !== undefined && text !== "") store.attempt(() => write(target, text));
  }

  function addText(event: LoggedEvent, text: string): void {
    if (waiting && !isSameVoice(waiting.event, event)) flush();
    waiting ??= { event, at: Date.now(), text: "" };
    waiting.text += text;
    timer ??= setTimeout(flushWords, TEXT_WAITS_MS);
    timer.unref();
  }

  function flushWords(): void {
    timer = undefined;
    if (!waiting) return;
    const { event, at, text } = waiting;
    const end = endOfWords(text, clean);
    if (end === 0) return;
    writeLine({ ...event, text: text.slice(0, end) }, at);
    waiting = end === text.length ? undefined : { event, at: Date.now(), text: text.slice(end) };
  }

  function flush(): void {
    clearTimeout(timer);
    timer = undefined;
    if (waiting) writeLine({ ...waiting.event, text: waiting.text }, waiting.at);
    waiting = undefined;
  }

  return {
    event(event) {
      if (event.type === "text" && typeof event["text"] === "string") return addText(event, event["text"]);
      flush();
      writeLine(event, Date.now());
    },
    close() {
      flush();
      writeLines();
      if (fd !== undefined) closeSync(fd);
      fd = undefined;
    },
  };
}

function isSameVoice(one: LoggedEvent, other: LoggedEvent): boolean {
  return one["turn"] === other["turn"] && one["agent"] === other["agent"];
}

/** How much can be written before the rest is known: whole words, and no part of a secret that spans several. */
function endOfWords(text: string, clean: Clean): number {
  const space = Math.max(text.lastIndexOf(" "), text.lastIndexOf("\n")) + 1;
  const end = text.length - space > LONGEST_WORD ? text.length : space;
  return clean(text) === clean(text.slice(0, end)) + clean(text.slice(end)) ? end : 0;
}
