// Most schemas of tools say no more than which fields there are and of what type. Whether a value fits one of those can be
// seen at once; whatever else a schema says is for the real checker, which costs milliseconds to load.

import { isObject, type Params } from "../mcp/json-rpc.ts";

const annotations = new Set(
  "description title default examples format deprecated readOnly writeOnly $comment".split(" "),
);
const MAX_DEPTH = 16;

/** True if the value surely fits; false if it does not, or if only the real checker can tell. */
export function surelyFits(schema: unknown, value: unknown, depth = 0): boolean {
  if (!isObject(schema) || depth > MAX_DEPTH) return false;
  const { type, properties, items, required, additionalProperties, enum: allowed, $schema, ...rest } = schema;
  if ($schema !== undefined && depth > 0) return false;
  if (!Object.keys(rest).every((keyword) => annotations.has(keyword))) return false;
  if (type !== undefined && !isOfType(type, value)) return false;
  if (allowed !== undefined && !isOneOf(allowed, value)) return false;
  if (items !== undefined && !fitsItems(items, value, depth)) return false;
  if (!isObject(value)) return true;
  return hasRequired(required, value) && fitsProperties(properties, additionalProperties, value, depth);
}

function isOfType(type: unknown, value: unknown): boolean {
  switch (type) {
    case "object":
      return isObject(value);
    case "array":
      return Array.isArray(value);
    case "integer":
      return Number.isInteger(value);
    case "null":
      return value === null;
    case "string":
    case "number":
    case "boolean":
      return typeof value === type;
    default:
      return false;
  }
}

function isOneOf(allowed: unknown, value: unknown): boolean {
  return typeof value !== "object" && Array.isArray(allowed) && allowed.includes(value);
}

function fitsItems(items: unknown, value: unknown, depth: number): boolean {
  return !Array.isArray(value) || value.every((item) => surelyFits(items, item, depth + 1));
}

function hasRequired(required: unknown, value: Params): boolean {
  if (required === undefined) return true;
  return Array.isArray(required) && required.every((name) => typeof name === "string" && Object.hasOwn(value, name));
}

function fitsProperties(properties: unknown, additional: unknown, value: Params, depth: number): boolean {
  if (properties !== undefined && !isObject(properties)) return false;
  if (additional !== undefined && typeof additional !== "boolean") return false;
  const known: Params = properties ?? {};
  return Object.entries(value).every(([name, inner]) =>
    Object.hasOwn(known, name) ? surelyFits(known[name], inner, depth + 1) : additional !== false,
  );
}
