// The fields of a manifest against the schema: all that is wrong, each with its place. valibot stops at the first unknown
// field of a map, so those are found by a walk of our own over the same schema.

import * as v from "valibot";
import { didYouMean } from "../nearest.ts";
import type { Fields, Path } from "./document.ts";
import { isValues } from "./document.ts";
import { inputProblems } from "./input-checks.ts";
import { notSupported } from "./not-supported.ts";
import { invalid, type Problem } from "./problem.ts";
import { Manifest } from "./schema.ts";
import { foreignTransport } from "./server-schema.ts";

export function checkFields(fields: Fields): Manifest {
  const result = v.safeParse(Manifest, fields.values);
  const problems = [
    ...[...presentFields(Manifest, fields.values, [])].flatMap((found) => refuse(found, fields)),
    ...(result.issues ?? []).filter((issue) => !isUnknownField(issue)).map((issue) => explain(issue, fields)),
    ...(result.success ? inputProblems(result.output, fields) : []),
  ];
  if (problems.length > 0 || !result.success) throw invalid(problems);
  return result.output;
}

type Schema = v.GenericSchema & {
  entries?: Record<string, Schema>;
  item?: Schema;
  value?: Schema;
  wrapped?: Schema;
  getter?: (input: unknown) => Schema;
};
type Found = { path: Path; parent: unknown; known: readonly string[] };

/** Every field that is there, with the names that could stand in its place. */
function* presentFields(schema: Schema, value: unknown, path: Path): Generator<Found> {
  if (schema.wrapped) yield* presentFields(schema.wrapped, value, path);
  else if (schema.getter) yield* presentFields(schema.getter(value), value, path);
  else if (Array.isArray(value)) {
    for (const [index, inner] of value.entries()) {
      if (schema.item) yield* presentFields(schema.item, inner, [...path, index]);
    }
  } else if (isValues(value)) {
    for (const [name, inner] of Object.entries(value)) {
      const here = [...path, name];
      if (schema.entries) yield { path: here, parent: value, known: Object.keys(schema.entries) };
      const next = schema.entries ? ownEntry(schema.entries, name) : schema.value;
      if (next) yield* presentFields(next, inner, here);
    }
  }
}

function ownEntry(entries: Record<string, Schema>, name: string): Schema | undefined {
  return Object.hasOwn(entries, name) ? entries[name] : undefined;
}

function refuse({ path, known }: Found, fields: Fields): Problem[] {
  const name = String(path.at(-1));
  const at = path.join(".");
  const problem = (message: string) => [{ ...fields.locate(path, "key"), message: `${at}: ${message}` }];
  if (known.includes(name)) {
    const pattern = at.replace(/^servers\.[^.]+\./, "servers.*.");
    return notSupported.includes(pattern) ? problem("not supported by this version") : [];
  }
  if (name === "<<") return problem("merge keys are not read; an anchor and its alias on a whole value are");
  const transport = path[0] === "servers" && path.length === 3 ? foreignTransport(name) : undefined;
  if (transport) {
    const has = known.includes("command") ? "command (stdio)" : known.includes("url") ? "url (HTTP)" : "inherit";
    return problem(`belongs to a server with ${transport}, and this one has ${has}; keep one of them`);
  }
  return problem(`unknown field${didYouMean(name, known)}${known.length <= 12 ? `; known: ${known.join(", ")}` : ""}`);
}

function isUnknownField(issue: v.BaseIssue<unknown>): boolean {
  return issue.type === "strict_object" && issue.expected === "never";
}

function explain(issue: v.BaseIssue<unknown>, fields: Fields): Problem {
  const path = (issue.path ?? []).map(({ key }) => (typeof key === "number" ? key : String(key)));
  const isMissing = issue.type === "strict_object" && issue.expected !== "Object";
  const isKey = !isMissing && issue.path?.at(-1)?.origin === "key";
  const place = fields.locate(isMissing ? path.slice(0, -1) : path, isKey ? "key" : "value");
  const at = path.join(".");
  const message = isMissing ? missing(path) : `${at}: ${issue.message}${braces(place.source.text, place.offset)}`;
  return { ...place, message, hidden: path.some((key) => ["headers", "apiKey", "auth", "env"].includes(String(key))) };
}

function missing(path: readonly (string | number)[]): string {
  const at = path.join(".");
  if (path[0] !== "servers" || path.length !== 3) return `${at}: this field is required`;
  const server = path.slice(0, 2).join(".");
  return path[2] === "command"
    ? `${server}: expected command (stdio), url (HTTP) or inherit: true`
    : `${at}: this field is required`;
}

/** YAML reads an unquoted {{ x }} as a map in a map. */
function braces(text: string, offset: number): string {
  const expression = /^\{\{[^}\n]*\}\}/.exec(text.slice(offset, offset + 200))?.[0];
  return expression ? `; {{ … }} must be quoted: "${expression}"` : "";
}
