// A row of the live view → lines of a terminal with so many columns. What a row is made of has no control sequences; colour
// comes last.

import { cut, widthOf, wrap } from "./width.ts";

export type Style = "dim" | "bold" | "good" | "bad" | "odd" | "busy";
export type Span = { text: string; style?: Style | undefined };

/**
 * `head` stands whole, `body` is cut to the room there is, `tail` is on the right; its last parts go where it is narrow.
 * `inParts`: the parts of the body after the first stand whole or not at all.
 */
export type Line = { head?: readonly Span[]; body: readonly Span[]; tail?: readonly Span[]; inParts?: true };
/** A text over several lines, each as far in as the head is wide; `first` or `last`: only so many of them. */
export type Paragraph = { head?: readonly Span[]; text: string; style?: Style; first?: number; last?: number };
/** To be copied: neither cut nor broken, however narrow it is. */
export type Whole = { head?: readonly Span[]; whole: string };
export type Row = Line | Paragraph | Whole;

export const blank: Row = { body: [] };

/** Beyond this the eye would lose the way from a name to its numbers. */
const WIDEST = 100;
/** The tail gives way to this much of the body. */
const LEAST_BODY = 20;

/** The last column stays free: some terminals go to the next line there. */
export function fit(row: Row, columns: number): Span[][] {
  const width = Math.max(Math.min(columns - 1, WIDEST), 1);
  if ("whole" in row) return [[...(row.head ?? []), { text: row.whole }]];
  return ("text" in row ? fitParagraph(row, width) : [fitLine(row, width)]).map((line) => trimmed(within(line, width)));
}

function fitLine({ head = [], body, tail = [], inParts }: Line, width: number): Span[] {
  const shown = [...tail];
  const room = () => width - spansWidth(head) - spansWidth(shown);
  while (shown.length > 0 && room() - 1 < LEAST_BODY) shown.pop();
  if (shown.length === 0) return [...head, ...within(body, room())];
  const left = within(inParts ? wholeParts(body, room() - 1) : body, room() - 1);
  return [...head, ...left, { text: " ".repeat(room() - spansWidth(left)) }, ...shown];
}

function wholeParts(parts: readonly Span[], width: number): readonly Span[] {
  return parts.filter((_, index) => index === 0 || spansWidth(parts.slice(0, index + 1)) <= width);
}

function fitParagraph({ head = [], text, style, first, last }: Paragraph, width: number): Span[][] {
  const indent = spansWidth(head);
  const room = Math.max(width - indent, 1);
  // What the last lines do not need is not even looked at: such a text grows while it is shown.
  const all = wrap(last === undefined ? text : text.slice(-last * room * 2), room);
  const shown = last === undefined ? firstOf(all, first, room) : lastOf(all, last);
  return shown.map((line, index) => [...(index === 0 ? head : [{ text: " ".repeat(indent) }]), { text: line, style }]);
}

function firstOf(lines: readonly string[], most = lines.length, width: number): string[] {
  const shown = lines.slice(0, most);
  const end = shown.pop();
  if (end === undefined) return [];
  return [...shown, most < lines.length ? cut(`${end} …`, width) : end];
}

const lastOf = (lines: readonly string[], most: number) =>
  lines.length <= most ? lines : ["…", ...lines.slice(1 - most)];

function within(spans: readonly Span[], width: number): Span[] {
  let left = width;
  return spans.flatMap(({ text, style }) => {
    const shown = cut(text, left);
    left -= shown === text ? widthOf(text) : left;
    return shown === "" ? [] : [{ text: shown, style }];
  });
}

function trimmed(spans: readonly Span[]): Span[] {
  const end = spans.findLastIndex(({ text }) => text.trim() !== "");
  return spans.slice(0, end + 1).map((span, index) => (index === end ? { ...span, text: span.text.trimEnd() } : span));
}

export const spansWidth = (spans: readonly Span[]) => spans.reduce((sum, { text }) => sum + widthOf(text), 0);

const codes: Record<Style, [on: number, off: number]> = {
  ...{ dim: [2, 22], bold: [1, 22] },
  ...{ good: [32, 39], bad: [31, 39], odd: [33, 39], busy: [36, 39] },
};

export function paint(line: readonly Span[]): string {
  return line
    .map(({ text, style }) => {
      if (!style) return text;
      const [on, off] = codes[style];
      return `\x1b[${on}m${text}\x1b[${off}m`;
    })
    .join("");
}
