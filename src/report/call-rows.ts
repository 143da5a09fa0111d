// A call of a tool as rows: while it runs, and when its result is there.

import type { RunEvent } from "../events.ts";
import { oneLine, plain } from "../terminal.ts";
import { bad, dim, good, measures, refused, spinner } from "./marks.ts";
import type { CallEvent, Running } from "./progress.ts";
import type { Row, Span } from "./rows.ts";
import { duration, elapsed, size } from "./units.ts";

type Result = Extract<RunEvent, { type: "result" }>;

/** What a failed call says is shown so far, what a good one says only with -v. */
const SHOWN_LINES = 3;
/** At most so much of one argument; the rest of the line cuts what does not fit. */
const LONGEST_ARGUMENT = 80;
const LONGEST_NAME = 64;

export function runningRow({ event, since }: Running, head: Span[], now: number): Row {
  const time = now - since < 1_000 ? "" : elapsed(now - since);
  return { head: [...head, spinner(now)], body: named(event), tail: measures(time) };
}

export function stoppedRow({ event }: Running, head: Span[]): Row {
  return { head: [...head, refused], body: named(event), tail: measures("stopped") };
}

export function callRows({ event }: Running, result: Result, head: Span[], verbose: boolean): Row[] {
  const { denied, isError, ms, text } = result;
  const mark = denied ? refused : isError ? bad : good;
  const tail = denied ? measures("refused") : measures(duration(ms), size(Buffer.byteLength(text)));
  const row: Row = { head: [...head, mark], body: named(event), tail };
  if (!verbose && (!isError || denied)) return [row];
  const shown = plain(text).trim();
  if (shown === "") return [row];
  // As far in as the name above it.
  const indent = head.reduce((sum, { text }) => sum + text.length, 0) + 2;
  const inner: Span[] = [{ text: " ".repeat(indent) }];
  return [row, { head: inner, text: shown, style: isError && !denied ? "bad" : "dim", first: SHOWN_LINES }];
}

export const nameOf = ({ origin }: CallEvent) => oneLine(origin, LONGEST_NAME);

const named = (event: CallEvent): Span[] => [{ text: nameOf(event) }, dim(`  ${argumentWords(event.arguments)}`)];

/** As they would be given to `omega call`: `path=package.json depth=2`. */
export function argumentWords(json: string): string {
  const given = parsed(json);
  if (given === undefined) return oneLine(json, LONGEST_ARGUMENT);
  return Object.entries(given)
    .map(([name, value]) => `${oneLine(name, LONGEST_ARGUMENT)}=${oneLine(word(value), LONGEST_ARGUMENT)}`)
    .join(" ");
}

function word(value: unknown): string {
  return typeof value === "string" && /^[^\s"'{}[\]]+$/.test(value) ? value : JSON.stringify(value);
}

function parsed(json: string): object | undefined {
  try {
    const value: unknown = JSON.parse(json.trim() || "{}");
    return typeof value === "object" && value !== null && !Array.isArray(value) ? value : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
