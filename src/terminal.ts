// Text from servers and models may hold escape sequences; none of them may reach a terminal or a log line.

import { stripVTControlCharacters } from "node:util";

// C0 but tab and line feed, DEL, C1, direction overrides, the invisible "tag" block.
const controls = /[\0-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]|[\u{e0000}-\u{e007f}]/gu;
const invisible = /[\u200b-\u200f\u2060-\u2064\ufeff]/g;

/** Without control sequences; line breaks, tabs and every visible script stay as they are. */
export function plain(text: string): string {
  return stripVTControlCharacters(text).replace(controls, "");
}

/** Without invisible characters too: what is left when any of the functions here, or a terminal, has had the text. */
export function visible(text: string): string {
  return plain(text).replace(invisible, "");
}

/** A label: one line without invisible characters, at most `max` characters. */
export function oneLine(text: string, max = 200): string {
  const looked = text.slice(0, max * 4);
  const line = visible(looked).replace(/\s+/g, " ").trim();
  return line.length <= max && looked === text ? line : `${line.slice(0, max - 1)}…`;
}

/** JSON as it may be printed: what a terminal would act on is escaped, so that no byte of the data is lost. */
export function jsonText(value: unknown): string {
  return printable(JSON.stringify(value, null, 2));
}

/** The same on one line, also for readers that take U+2028 for the end of one. */
export function jsonLine(value: unknown): string {
  const line = printable(JSON.stringify(value));
  // A regular expression would read all of a long line; most have no character beyond Latin 1, and that is known.
  const hasBreaks = line.includes("\u2028") || line.includes("\u2029");
  return hasBreaks ? line.replace(/[\u2028\u2029]/g, escaped) : line;
}

/** JSON has no raw control character outside of its strings but line feeds, which `controls` leaves alone. */
function printable(json: string | undefined): string {
  return json === undefined ? "null" : json.replace(controls, escaped);
}

function escaped(text: string): string {
  return [...Array(text.length).keys()]
    .map((index) => `\\u${text.charCodeAt(index).toString(16).padStart(4, "0")}`)
    .join("");
}
