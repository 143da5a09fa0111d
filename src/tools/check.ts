// Values against a server's JSON Schema (2020-12 and draft-07), so that a wrong argument costs no round trip and the model
// learns how to mend it. A schema that cannot be checked is told once and lets everything through. Interpreted, never
// compiled to code: the schema is not ours.

import { isObject, type Params } from "../mcp/json-rpc.ts";
import { surelyFits } from "./quick-check.ts";
import { MAX_MATCHED } from "./safe-pattern.ts";
import { type SafeSchema, safeSchema } from "./safe-schema.ts";
import { strictSchema } from "./strict-schema.ts";

const MAX_VALUE_BYTES = 2_000_000;
const MAX_TOLD = 10;

/** What is wrong with a value, one line each; empty if nothing is. */
export type Check = (value: unknown) => Promise<string[]>;

/** `what` names the schema in the warning: `the input schema of git/log`. */
export function createCheck(schema: Params, what: string, warn: (message: string) => void): Check {
  let isUnsafe = false;
  const withPatterns = once(() => safeSchema(schema, true));
  const withoutPatterns = once(() => safeSchema(schema, false));

  return async (value) => {
    if (isUnsafe || surelyFits(schema, value)) return [];
    try {
      const { depth, size, longest } = measure(value);
      const safe = longest > MAX_MATCHED ? withoutPatterns() : withPatterns();
      if (depth > safe.maxDepth || size > MAX_VALUE_BYTES) return [];
      return await faults(safe, value);
    } catch (error) {
      // A pattern that does not parse, references that run in a circle, a keyword of the wrong type: whatever it is, it is
      // the schema's fault, and no reason to keep the model from its tool.
      isUnsafe = true;
      warn(`${what} cannot be checked: ${error instanceof Error ? error.message : String(error)}`);
      return [];
    }
  };
}

/**
 * For the manifest's own schema, which is a promise: what cannot be checked is not right. Throws where that is the schema
 * itself.
 */
export function createStrictCheck(schema: Params): Check {
  const strict = strictSchema(schema);
  return async (value) => {
    const { depth, size } = measure(value);
    if (depth > strict.maxDepth || size > MAX_VALUE_BYTES) return ["/: is too large, or too deep, to be checked"];
    try {
      return await faults(strict, value);
    } catch (error) {
      return [`/: cannot be checked: ${error instanceof Error ? error.message : String(error)}`];
    }
  };
}

async function faults({ schema }: SafeSchema, value: unknown): Promise<string[]> {
  const { Errors } = loaded ?? (await loadValidator());
  const [, errors] = Errors(schema, withoutPrototypes(value));
  return explain(errors);
}

let loaded: typeof import("typebox/schema") | undefined;

/** Takes milliseconds, and most runs never need it: their values surely fit. Who must not wait then loads it before. */
export async function loadValidator(): Promise<typeof import("typebox/schema")> {
  loaded = await import("typebox/schema");
  return loaded;
}

function once(make: () => SafeSchema): () => SafeSchema {
  let made: SafeSchema | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

type ValidationError = { keyword: string; instancePath: string; schemaPath: string; message: string; params: object };

function explain(errors: readonly ValidationError[]): string[] {
  const lines = errors
    .filter(({ keyword, schemaPath }) => !(keyword === "boolean" && /additional\w+$/.test(schemaPath)))
    .map(({ keyword, instancePath, message, params }) => {
      const names = Object.values(params).flat().slice(0, 20).map(String);
      const details = keyword === "enum" || keyword === "const" || keyword === "additionalProperties" ? names : [];
      const expected = keyword === "boolean" ? "is not allowed" : message;
      return `${instancePath || "/"}: ${expected}${details.length > 0 ? `: ${details.join(", ")}` : ""}`;
    });
  const told = [...new Set(lines)].slice(0, MAX_TOLD);
  return errors.length > 0 && told.length === 0 ? ["/: does not match the schema"] : told;
}

function measure(value: unknown): { depth: number; size: number; longest: number } {
  if (typeof value === "string") return { depth: 0, size: value.length, longest: value.length };
  if (typeof value !== "object" || value === null) return { depth: 0, size: 8, longest: 0 };
  const total = { depth: 0, size: 2, longest: 0 };
  for (const [key, inner] of Object.entries(value)) {
    const { depth, size, longest } = measure(inner);
    total.depth = Math.max(total.depth, depth);
    total.size += size + key.length;
    total.longest = Math.max(total.longest, longest);
    // Keys meet patterns too, and no honest one is so long.
    if (key.length > MAX_MATCHED) total.depth = Number.POSITIVE_INFINITY;
  }
  return { ...total, depth: total.depth + 1 };
}

/** So that a property named `toString` is missing when it is missing. */
function withoutPrototypes(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutPrototypes);
  if (!isObject(value)) return value;
  const copy: Params = Object.create(null);
  for (const [key, inner] of Object.entries(value)) {
    Object.defineProperty(copy, key, { value: withoutPrototypes(inner), enumerable: true });
  }
  return copy;
}
