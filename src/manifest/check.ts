// The fields of a manifest against the schema: all that is wrong, each with its place. valibot stops at the first unknown
// field of a map, so those are found by a walk of our own over the same schema.

import * as v from "valibot";
import { nearest } from "../nearest.ts";
import type { Fields, Path } from "./document.ts";
import { isOfSecrets, isValues } from "./document.ts";
import { inputProblems } from "./input-checks.ts";
import { notSupported } from "./not-supported.ts";
import { invalid, mayHoldSecret, type Place, type Problem } from "./problem.ts";
import { Manifest } from "./schema.ts";
import { foreignTransport } from "./server-schema.ts";

type Told = Problem & { message: string };

export function checkFields(fields: Fields): Manifest {
  const result = v.safeParse(Manifest, fields.values);
  const refused = [...presentFields(Manifest, fields.values, [])].flatMap((found) => refuse(found, fields));
  const told = new Set(refused.flatMap(({ covers }) => covers ?? []));
  const problems: Told[] = [
    ...refused,
    ...(result.issues ?? []).flatMap((issue) => explain(issue, fields, told)),
    ...(result.success ? inputProblems(result.output, fields) : []),
  ];
  if (problems.length > 0 || !result.success) throw invalid(unquotedBraces(problems));
  return result.output;
}

/** YAML reads an unquoted {{ x }} as a map in a map, and all kinds of things are wrong with that; one of them is meant. */
function unquotedBraces(problems: Told[]): Problem[] {
  const braces = new Map<number, Problem>();
  const others = problems.filter((problem) => {
    const { source, offset, message } = problem;
    const expression = /^\{\{[^}\n]*\}\}/.exec(source.text.slice(offset, offset + 200))?.[0];
    if (!expression) return true;
    const field = message.slice(0, message.indexOf(":")).replace(/\.(\{.*|server|name)$/, "");
    const example = () => (problem.hidden || mayHoldSecret(problem) ? "" : `: "${expression}"`);
    braces.set(offset, { ...problem, message: () => `${field}: {{ … }} must be quoted${example()}` });
    return false;
  });
  return [...others, ...braces.values()];
}

type Schema = v.GenericSchema & {
  entries?: Record<string, Schema>;
  item?: Schema;
  value?: Schema;
  wrapped?: Schema;
  getter?: (input: unknown) => Schema;
};
/** `known`: the names that could stand in a field's place; none where a list stands for a map. */
type Found = { path: Path; known?: readonly string[] };

/** Every field that is there, and every list where a map should be: valibot takes it for one whose names are numbers. */
function* presentFields(schema: Schema, value: unknown, path: Path): Generator<Found> {
  if (schema.wrapped) yield* presentFields(schema.wrapped, value, path);
  else if (schema.getter) yield* presentFields(schema.getter(value), value, path);
  else if (Array.isArray(value)) {
    if (schema.entries || schema.value) yield { path };
    for (const [index, inner] of value.entries()) {
      if (schema.item) yield* presentFields(schema.item, inner, [...path, index]);
    }
  } else if (isValues(value)) {
    for (const [name, inner] of Object.entries(value)) {
      const here = [...path, name];
      if (schema.entries) yield { path: here, known: Object.keys(schema.entries) };
      const next = schema.entries ? ownEntry(schema.entries, name) : schema.value;
      if (next) yield* presentFields(next, inner, here);
    }
  }
}

function ownEntry(entries: Record<string, Schema>, name: string): Schema | undefined {
  return Object.hasOwn(entries, name) ? entries[name] : undefined;
}

/** `covers`: a path of which nothing more needs to be said, such as the field that was probably meant. */
function refuse({ path, known }: Found, fields: Fields): (Told & { covers?: string })[] {
  const name = String(path.at(-1));
  const at = path.join(".");
  const problem = (message: string) => ({ ...fields.locate(path, "key"), message: `${at}: ${message}` });
  if (!known) {
    return [{ ...fields.locate(path), message: `${at}: expected names and values, got a list`, covers: at }];
  }
  if (known.includes(name)) {
    const pattern = at.replace(/^servers\.[^.]+\./, "servers.*.");
    return notSupported.includes(pattern) ? [problem("not supported by this version")] : [];
  }
  if (name === "<<") return [problem("merge keys are not read; an anchor and its alias on a whole value are")];
  const transport = path[0] === "servers" && path.length === 3 ? foreignTransport(name) : undefined;
  if (transport) {
    const has = known.includes("command") ? "command (stdio)" : known.includes("url") ? "url (HTTP)" : "inherit";
    return [problem(`belongs to a server with ${transport}, and this one has ${has}; keep one of them`)];
  }
  const near = nearest(name, known);
  const help = near ? `; did you mean "${near}"?` : known.length <= 12 ? `; known: ${known.join(", ")}` : "";
  return [{ ...problem(`unknown field${help}`), ...(near && { covers: [...path.slice(0, -1), near].join(".") }) }];
}

function explain(issue: v.BaseIssue<unknown>, fields: Fields, told: ReadonlySet<string>): Told[] {
  if (issue.type === "strict_object" && issue.expected === "never") return [];
  const path = (issue.path ?? []).map(({ key }) => (typeof key === "number" ? key : String(key)));
  if (path.some((_, index) => told.has(path.slice(0, index + 1).join(".")))) return [];
  const at = path.join(".");
  if (issue.type === "strict_object" && issue.expected !== "Object") {
    return [{ ...fields.locate(path.slice(0, -1)), message: missing(path), hidden: isOfSecrets(path) }];
  }
  const place = fields.locate(path, issue.path?.at(-1)?.origin === "key" ? "key" : "value");
  const hidden = isOfSecrets(path) || (path[0] === "inputs" && mayHoldSecret(place));
  const said = hidden ? withoutValue(issue) : `${issue.message}${quoteIt(issue, place)}`;
  return [{ ...place, message: `${at}: ${said}`, hidden }];
}

function missing(path: readonly (string | number)[]): string {
  const isTransport = path[0] === "servers" && path.length === 3 && path[2] === "command";
  return isTransport
    ? `${path.slice(0, 2).join(".")}: expected command (stdio), url (HTTP) or inherit: true`
    : `${path.join(".")}: this field is required`;
}

function withoutValue({ message, input }: v.BaseIssue<unknown>): string {
  const isScalar = typeof input === "number" || typeof input === "boolean";
  return `${message.replace(/, got .*$/s, "")}${isScalar && message.startsWith("expected text") ? "; quote it" : ""}`;
}

/** YAML reads 1.0 and true as what they are; only quotes make them text. */
function quoteIt({ message, input }: v.BaseIssue<unknown>, { source, offset }: Place): string {
  if (!message.startsWith("expected text") || (typeof input !== "number" && typeof input !== "boolean")) return "";
  const written = /^[\w.+-]+/.exec(source.text.slice(offset, offset + 60))?.[0];
  return written ? `; quote it: "${written}"` : "";
}
