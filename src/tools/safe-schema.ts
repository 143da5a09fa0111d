// A schema from a server is foreign text that will be interpreted. This makes a copy that is safe to check values against:
// bounded in depth and in work, with nothing to fetch, and without patterns that could run for hours. `format` only
// annotates, so it is left out. The manifest's own schema is bounded in the same way, and nothing of it is left out.

import { isObject, type Params } from "../mcp/json-rpc.ts";
import { isSafePattern } from "./safe-pattern.ts";

const MAX_DEPTH = 64;
/** Subschemas to visit for one value, references followed. */
const MAX_WORK = 200_000;

const typeNames = new Set(["null", "boolean", "object", "array", "number", "integer", "string"]);
const schemaMaps = new Set("properties patternProperties $defs definitions dependentSchemas dependencies".split(" "));
const schemas = new Set(
  "items prefixItems additionalItems additionalProperties unevaluatedItems unevaluatedProperties contains propertyNames not if then else allOf anyOf oneOf".split(
    " ",
  ),
);

export type SafeSchema = {
  schema: Params;
  /** A schema that refers to itself can multiply work with each level of a value; deeper ones are not checked. */
  maxDepth: number;
};

export class UnsafeSchema extends Error {
  override readonly name = "UnsafeSchema";
}

export function safeSchema(root: Params, keepPatterns: boolean): SafeSchema {
  return boundedSchema(root, (key, value) => {
    if (key === "pattern" && keepPatterns && typeof value === "string" && isSafePattern(value)) return undefined;
    return key === "format" || key === "pattern" ? [] : undefined;
  });
}

/** `change`: what stands for a keyword; undefined: the keyword itself. Throws an UnsafeSchema. */
export function boundedSchema(
  root: Params,
  change: (key: string, value: unknown) => [string, unknown][] | undefined,
): SafeSchema {
  function copy(value: unknown, depth: number): unknown {
    if (depth > MAX_DEPTH) throw new UnsafeSchema(`it is nested more than ${MAX_DEPTH} levels deep`);
    if (Array.isArray(value)) return value.map((item) => copy(item, depth + 1));
    if (!isObject(value)) return value;
    const fields = Object.entries(value).flatMap(([key, inner]) => copyKeyword(key, inner, depth));
    return Object.fromEntries(fields);
  }

  function copyKeyword(key: string, value: unknown, depth: number): [string, unknown][] {
    const changed = change(key, value);
    if (changed) return changed;
    if (key === "type") checkTypes(value);
    if ((key === "$ref" || key === "$dynamicRef") && !isLocal(value))
      throw new UnsafeSchema(`it refers to ${JSON.stringify(value)}`);
    if (key === "patternProperties" && isObject(value) && !Object.keys(value).every(isSafePattern)) {
      throw new UnsafeSchema("it has a pattern that could take too long");
    }
    if (schemaMaps.has(key) && isObject(value)) {
      return [[key, Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, copy(inner, depth + 1)]))]];
    }
    return [[key, schemas.has(key) ? copy(value, depth) : value]];
  }

  const schema = copy(root, 0);
  if (!isObject(schema)) throw new UnsafeSchema("it is not an object");
  return { schema, maxDepth: depthFor(countLoops(schema)) };
}

function checkTypes(value: unknown): void {
  for (const name of [value].flat()) {
    if (typeof name !== "string" || !typeNames.has(name)) {
      throw new UnsafeSchema(`it has an unknown type ${JSON.stringify(name)}`);
    }
  }
}

function isLocal(reference: unknown): reference is string {
  return typeof reference === "string" && reference.startsWith("#");
}

/** Follows every reference as a check would; a reference to where we already are is a loop. */
function countLoops(root: Params): number {
  let work = 0;
  let loops = 0;
  const visit = (value: unknown, inside: ReadonlySet<string>): void => {
    if (++work > MAX_WORK) throw new UnsafeSchema("it would take too long to check");
    if (Array.isArray(value)) for (const item of value) visit(item, inside);
    if (!isObject(value)) return;
    for (const inner of Object.values(value)) visit(inner, inside);
    const reference = value["$ref"] ?? value["$dynamicRef"];
    if (!isLocal(reference)) return;
    if (inside.has(reference) || reference === "#") loops++;
    else visit(targetOf(root, reference), new Set([...inside, reference]));
  };
  visit(root, new Set());
  return loops;
}

function targetOf(root: Params, reference: string): unknown {
  let value: unknown = root;
  for (const part of reference.slice(1).split("/").slice(1)) {
    const key = decode(part).replaceAll("~1", "/").replaceAll("~0", "~");
    value =
      isObject(value) && Object.hasOwn(value, key) ? value[key] : Array.isArray(value) ? value[Number(key)] : undefined;
  }
  // An anchor (`#name`) is found by the checker; what is nowhere would make every value wrong.
  if (value === undefined) throw new UnsafeSchema(`it refers to ${reference}, which is not there`);
  return value;
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch (error) {
    if (error instanceof URIError) return part;
    throw error;
  }
}

function depthFor(loops: number): number {
  if (loops === 0) return Number.POSITIVE_INFINITY;
  return Math.floor(Math.log(MAX_WORK) / Math.log(Math.max(1.5, loops)));
}
