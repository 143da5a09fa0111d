// A line of a stdio server → the JSON value it holds, or undefined for noise. Nothing but `{…}` and `[…]` is parsed.

import { isObject } from "./json-rpc.ts";

/** Deeper values can be parsed, but not written again: that would overflow the stack, here or in whoever walks them. */
const MAX_NESTING = 1_000;

export function parseLine(line: string): unknown {
  const text = line.replace(/^[\ufeff\0\s]+/, "");
  if (text[0] !== "{" && text[0] !== "[") return undefined;
  const value = parse(text);
  return isTooDeep(text) ? refusal(value) : value;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    // Noise may begin with a bracket ("[INFO] …").
    if (error instanceof SyntaxError || error instanceof RangeError) return undefined;
    throw error;
  }
}

/** Who waits for an answer hears at once that there is none to be had. */
function refusal(value: unknown): unknown {
  if (!isObject(value) || value["method"] !== undefined) return undefined;
  const message = `the answer is nested more than ${MAX_NESTING} levels deep`;
  return { jsonrpc: "2.0", id: value["id"], error: { code: -32603, message } };
}

function isTooDeep(text: string): boolean {
  if (text.length < 2 * MAX_NESTING) return false;
  let depth = 0;
  for (let index = 0; index < text.length && depth <= MAX_NESTING; index++) {
    const character = text.charCodeAt(index);
    if (character === QUOTE) index = endOfString(text, index);
    else if (character === OPEN_BRACE || character === OPEN_BRACKET) depth++;
    else if (character === CLOSE_BRACE || character === CLOSE_BRACKET) depth--;
  }
  return depth > MAX_NESTING;
}

const [QUOTE, BACKSLASH] = [0x22, 0x5c];
const [OPEN_BRACE, CLOSE_BRACE, OPEN_BRACKET, CLOSE_BRACKET] = [0x7b, 0x7d, 0x5b, 0x5d];

function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let escapes = 0;
    while (text.charCodeAt(end - 1 - escapes) === BACKSLASH) escapes++;
    if (escapes % 2 === 0) return end;
  }
  return text.length;
}
