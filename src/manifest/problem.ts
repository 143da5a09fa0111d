// What is wrong with a file, and where: `file:line:column: message`, the line itself, a caret.

import { OmegaError } from "../errors.ts";

const MAX_SHOWN = 50;
const MAX_WIDTH = 120;

/** `isSecret`: no line of it is ever shown. */
export type Source = { file: string; text: string; isSecret?: boolean };
export type Place = { source: Source; offset: number };
/** `hidden`: the line may hold a secret and is not shown. Lines within fields of secrets are hidden anyway. */
export type Problem = Place & { message: string | (() => string); hidden?: boolean };

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

/** Also fields that were meant to be such ones; `tokens` are counted. */
const secretField = /(?:header|key|auth|env|secret|token(?!s)|passw|cred)[\w-]*["']?\s*:/i;
const inputSecret = /(?:default|enum)["']?\s*:/;

/**
 * Told by the text alone, for where the syntax is broken there are no fields: the line names a field of secrets, is
 * indented beneath one, or follows one that has no value on its own line. `env` of an input is a name; its default is
 * no secret unless an input is `secret: true`.
 */
export function mayHoldSecret(place: Place): boolean {
  if (place.source.isSecret) return true;
  const { line, text } = position(place);
  const above = place.source.text.split("\n", line - 1).filter((each) => each.trim() !== "");
  const enclosing = [text, ...above.slice(-1).filter((each) => /:\s*$/.test(each))];
  let indent = indentOf(text);
  for (const each of above.reverse()) {
    if (indent === 0) break;
    if (indentOf(each) >= indent) continue;
    indent = indentOf(each);
    enclosing.push(each);
  }
  const hasSecretInput = /secret["']?\s*:\s*true/.test(place.source.text);
  const isInput = /^["']?inputs["']?\s*:/.test(enclosing.at(-1) ?? "");
  return enclosing.some((each) => (hasSecretInput && inputSecret.test(each)) || (!isInput && secretField.test(each)));
}

const indentOf = (line: string) => line.length - line.trimStart().length;

function describe(problem: Problem): string {
  const { line, column, text } = position(problem);
  const said = typeof problem.message === "string" ? problem.message : problem.message();
  const message = `${problem.source.file}:${line}:${column}: ${said}`;
  if (problem.hidden || text.trim() === "" || mayHoldSecret(problem)) return message;
  // A long line is cut to a window around the fault.
  const from = Math.max(0, column - MAX_WIDTH / 2);
  const window = text.slice(from, from + MAX_WIDTH);
  const indent = text.slice(from, column - 1).replace(/[^\t]/g, " ");
  return `${message}\n    ${window}\n    ${indent}^`;
}
