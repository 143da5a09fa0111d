// What is wrong with a file, and where: `file:line:column: message`, the line itself, a caret.

import { OmegaError } from "../errors.ts";

const MAX_SHOWN = 50;
const MAX_WIDTH = 120;

export type Source = { file: string; text: string };
export type Place = { source: Source; offset: number };
/** `hidden`: the line may hold a secret and is not shown. Lines within fields of secrets are hidden anyway. */
export type Problem = Place & { message: string; hidden?: boolean };

export function invalid(problems: readonly Problem[]): OmegaError {
  const sorted = [...problems].sort((a, b) => a.source.file.localeCompare(b.source.file) || a.offset - b.offset);
  const shown = sorted.slice(0, MAX_SHOWN).map(describe);
  const more = sorted.length > MAX_SHOWN ? [`… and ${sorted.length - MAX_SHOWN} more`] : [];
  return new OmegaError("MANIFEST_INVALID", [...shown, ...more].join("\n"));
}

export function position({ source, offset }: Place): { line: number; column: number; text: string } {
  const start = source.text.lastIndexOf("\n", offset - 1) + 1;
  const end = source.text.indexOf("\n", offset);
  const text = source.text.slice(start, end === -1 ? undefined : end).replace(/\r$/, "");
  return { line: source.text.slice(0, start).split("\n").length, column: offset - start + 1, text };
}

const secretField = /(?:^|[\s{,"'])(?:headers|apiKey|auth|env)["']?\s*:/;

/**
 * Told by the text alone, for where the syntax is broken there are no fields: the line names a field of secrets, or is
 * indented beneath one. `env` of an input is a name.
 */
export function mayHoldSecret(place: Place): boolean {
  const { line, text } = position(place);
  const lines = place.source.text.split("\n", line - 1);
  const enclosing = [text];
  let indent = indentOf(text);
  for (const above of lines.reverse()) {
    if (indent === 0) break;
    if (above.trim() === "" || indentOf(above) >= indent) continue;
    indent = indentOf(above);
    enclosing.push(above);
  }
  return !/^\s*["']?inputs["']?\s*:/.test(enclosing.at(-1) ?? "") && enclosing.some((each) => secretField.test(each));
}

const indentOf = (line: string) => line.length - line.trimStart().length;

function describe(problem: Problem): string {
  const { line, column, text } = position(problem);
  const message = `${problem.source.file}:${line}:${column}: ${problem.message}`;
  if (problem.hidden || text.trim() === "" || mayHoldSecret(problem)) return message;
  // A long line is cut to a window around the fault.
  const from = Math.max(0, column - MAX_WIDTH / 2);
  const window = text.slice(from, from + MAX_WIDTH);
  const indent = text.slice(from, column - 1).replace(/[^\t]/g, " ");
  return `${message}\n    ${window}\n    ${indent}^`;
}
