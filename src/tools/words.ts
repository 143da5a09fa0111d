// Words of a command line → the arguments of a tool: `k=v` read by the type that the tool's schema declares, or JSON.

import { OmegaError } from "../errors.ts";
import { isObject, type Params } from "../mcp/json-rpc.ts";

/** Each word is `k=v` or a JSON object; what comes later wins. */
export function argumentsFromWords(words: readonly string[], schema: Params): Params {
  return Object.fromEntries(words.flatMap((word) => entriesOf(word, schema)));
}

function entriesOf(word: string, schema: Params): [string, unknown][] {
  if (word.trimStart().startsWith("{")) {
    const value = parse(word);
    if (!isObject(value)) throw new OmegaError("USAGE", `the arguments are not a JSON object: ${word.slice(0, 80)}`);
    return Object.entries(value);
  }
  const [key = "", value] = word.split(/=(.*)/s);
  if (value === undefined || key === "") {
    throw new OmegaError("USAGE", `expected name=value or a JSON object, got "${word.slice(0, 80)}"`);
  }
  const properties = isObject(schema["properties"]) ? schema["properties"] : {};
  const property = Object.hasOwn(properties, key) ? properties[key] : undefined;
  return [[key, typed(value, isObject(property) ? property : {})]];
}

/** Text stays text unless the schema wants something else and the text is that. */
function typed(text: string, { type, enum: allowed }: Params): unknown {
  const types = [type].flat();
  const value = parse(text);
  if (types.includes("string") || value === undefined) return text;
  if (Array.isArray(allowed) && allowed.includes(text)) return text;
  return value;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof RangeError) return undefined;
    throw error;
  }
}
