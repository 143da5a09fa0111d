// The manifest's own schema → the same, fit to be checked in full: a keyword that the checker would pass over for its wrong
// type, and a pattern that is wrong or could run for hours, are errors.

import { isObject, type Params } from "../mcp/json-rpc.ts";
import { isSafePattern } from "./safe-pattern.ts";
import { boundedSchema, type SafeSchema, UnsafeSchema } from "./safe-schema.ts";

type Kind = { is(value: unknown): boolean; what: string };

const isSchema = (value: unknown) => isObject(value) || typeof value === "boolean";
const number: Kind = { is: (value) => typeof value === "number", what: "a number" };
const text: Kind = { is: (value) => typeof value === "string", what: "a string" };
const flag: Kind = { is: (value) => typeof value === "boolean", what: "true or false" };
const list: Kind = { is: Array.isArray, what: "a list" };
const map: Kind = { is: isObject, what: "an object" };
const schema: Kind = { is: isSchema, what: "a schema" };
const schemas: Kind = { is: (value) => Array.isArray(value) && value.every(isSchema), what: "a list of schemas" };
const names: Kind = {
  is: (value) => Array.isArray(value) && value.every((name) => typeof name === "string"),
  what: "a list of names",
};

const kinds: Record<string, Kind> = Object.fromEntries(
  (
    [
      ["minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minLength maxLength minItems maxItems", number],
      ["minProperties maxProperties minContains maxContains", number],
      ["pattern format", text],
      ["uniqueItems", flag],
      ["enum", list],
      ["required", names],
      ["properties patternProperties dependentSchemas dependentRequired dependencies $defs definitions", map],
      ["additionalProperties additionalItems unevaluatedProperties unevaluatedItems contains propertyNames", schema],
      ["not if then else", schema],
      ["allOf anyOf oneOf prefixItems", schemas],
    ] as const
  ).flatMap(([keywords, kind]) => keywords.split(" ").map((keyword) => [keyword, kind])),
);

export function strictSchema(root: Params): SafeSchema {
  return boundedSchema(root, (key, value) => {
    const kind = Object.hasOwn(kinds, key) ? kinds[key] : undefined;
    if (kind && !kind.is(value)) throw new UnsafeSchema(`${key} must be ${kind.what}, not ${JSON.stringify(value)}`);
    return key === "pattern" ? [["~refine", [matching(String(value))]]] : undefined;
  });
}

/** A pattern as the checker takes a condition of one's own: of a string that it would take too long for, nothing is known. */
function matching(pattern: string) {
  if (!isSafePattern(pattern)) {
    throw new UnsafeSchema(
      `the pattern ${pattern} could take too long: write it without lookarounds and nested repeats`,
    );
  }
  const expression = compiled(pattern);
  const isShort = (value: string) => isSafePattern(pattern, value.length);
  return {
    check: (value: unknown) => typeof value !== "string" || (isShort(value) && expression.test(value)),
    error: (value: unknown) =>
      typeof value === "string" && !isShort(value)
        ? `is too long to be matched with the pattern "${pattern}"`
        : `must match pattern "${pattern}"`,
  };
}

function compiled(pattern: string): RegExp {
  try {
    return new RegExp(pattern, "u");
  } catch (cause) {
    throw new UnsafeSchema(`the pattern ${pattern} is wrong: ${cause instanceof Error ? cause.message : cause}`);
  }
}
