// How much room a text takes at a terminal, and making it take less. For text without control sequences.

import stringWidth from "string-width";

/** Printable ASCII, by far the most of it, needs no tables. */
const simple = /^[\x20-\x7e]*$/;
const segmenter = new Intl.Segmenter();

export function widthOf(text: string): number {
  return simple.test(text) ? text.length : stringWidth(text);
}

/** At most `width` columns; what was cut ends in `…`. */
export function cut(text: string, width: number): string {
  if (widthOf(text) <= width) return text;
  return width < 1 ? "" : `${beginning(text, width - 1).trimEnd()}…`;
}

/** Lines of at most `width` columns, broken between words where that is possible. */
export function wrap(text: string, width: number): string[] {
  return text.split("\n").flatMap((line) => wrapLine(line.replaceAll("\t", "  ").trimEnd(), Math.max(width, 1)));
}

function wrapLine(line: string, width: number): string[] {
  const lines: string[] = [];
  let current = "";
  for (const piece of line.split(/(?<=\s)(?=\S)/)) {
    if (widthOf(current + piece.trimEnd()) <= width) {
      current += piece;
      continue;
    }
    if (current !== "") lines.push(current.trimEnd());
    current = piece;
    while (widthOf(current.trimEnd()) > width) {
      const start = beginning(current, width) || firstOf(current);
      lines.push(start);
      current = current.slice(start.length);
    }
  }
  return current === "" && lines.length > 0 ? lines : [...lines, current.trimEnd()];
}

function beginning(text: string, width: number): string {
  let end = 0;
  let used = 0;
  for (const { segment } of segmenter.segment(text)) {
    used += widthOf(segment);
    if (used > width) break;
    end += segment.length;
  }
  return text.slice(0, end);
}

/** A character that is wider than all the room there is. */
function firstOf(text: string): string {
  for (const { segment } of segmenter.segment(text)) return segment;
  return "";
}
