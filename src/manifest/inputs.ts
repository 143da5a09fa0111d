// What a run is given: `--input` > `--input-file` > env > default. All that is wrong is told at once.

import { OmegaError } from "../errors.ts";
import { didYouMean } from "../nearest.ts";
import { isValues, type Values } from "./document.ts";
import type { Input } from "./schema.ts";
import { unlike } from "./units.ts";

export type GivenInputs = {
  /** `name=value`, as written on the command line; the last of a name counts. */
  flags: readonly string[];
  file: { name: string; values: Values } | undefined;
  environment: NodeJS.ProcessEnv;
  isPlayed: boolean;
};

export type ResolvedInput = { name: string; value: unknown; secret: boolean; source: string };

export function resolveInputs(declared: Record<string, Input>, given: GivenInputs): ResolvedInput[] {
  const flags = new Map(given.flags.map(splitFlag));
  const problems = [
    ...unknown([...flags.keys()], declared, "--input"),
    ...unknown(Object.keys(given.file?.values ?? {}), declared, given.file?.name ?? ""),
  ];
  const resolved = Object.entries(declared).flatMap(([name, input]) => {
    const found = placeholder(name, input, given) ?? find(name, input, flags, given);
    if (!found) {
      problems.push(
        `input "${name}" is missing${input.description ? ` (${input.description})` : ""}; ${howToGive(name, input)}`,
      );
      return [];
    }
    const shown = input.secret ? "another value" : undefined;
    if (input.secret && found.source === PLAYED) return [{ name, secret: true, ...found }];
    if (!isOfType(found.value, input.type)) {
      problems.push(`input "${name}" from ${found.source}: ${wrongType(input, found.value, shown)}`);
    } else if (input.enum && !input.enum.includes(found.value)) {
      problems.push(
        `input "${name}" from ${found.source}: expected ${oneOfEnum(input)}, got ${shown ?? JSON.stringify(found.value)}`,
      );
    }
    return [{ name, secret: input.secret, ...found }];
  });
  if (problems.length > 0) throw new OmegaError("INPUT_INVALID", problems.join("\n"));
  return resolved;
}

/** As it stands in a text: a string is itself, all else is JSON. */
export function asText(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

export function isOfType(value: unknown, type: Input["type"]): boolean {
  switch (type) {
    case "integer":
      return Number.isSafeInteger(value);
    case "number":
      return Number.isFinite(value);
    case "array":
      return Array.isArray(value);
    case "object":
      return isValues(value);
    default:
      return typeof value === type;
  }
}

/** The values of a secret are secrets too. */
export function oneOfEnum(input: Input): string {
  return input.secret ? "a value of its enum" : `one of ${input.enum?.join(", ")}`;
}

function splitFlag(word: string): [string, string] {
  const at = word.indexOf("=");
  if (at > 0) return [word.slice(0, at), word.slice(at + 1)];
  throw new OmegaError("USAGE", `--input takes name=value, not "${at === 0 ? "=…" : word}"`);
}

function unknown(names: string[], declared: Record<string, Input>, source: string): string[] {
  const known = Object.keys(declared);
  return names
    .filter((name) => !Object.hasOwn(declared, name))
    .map((name) => {
      const list = known.length === 0 ? "; this skill takes none" : `; it takes: ${known.join(", ")}`;
      return `no input "${name}" (${source})${didYouMean(name, known) || list}`;
    });
}

function find(
  name: string,
  input: Input,
  flags: ReadonlyMap<string, string>,
  { file, environment }: GivenInputs,
): { value: unknown; source: string } | undefined {
  const flag = flags.get(name);
  if (flag !== undefined) return { value: fromText(flag, input.type), source: "--input" };
  if (file && Object.hasOwn(file.values, name)) return { value: file.values[name], source: file.name };
  const variable = input.env === undefined ? undefined : environment[input.env];
  if (variable !== undefined) return { value: fromText(variable, input.type), source: `$${input.env}` };
  return input.default === undefined ? undefined : { value: input.default, source: "default" };
}

const PLAYED = "the cassette";

/** A cassette has no secrets, only their names. */
function placeholder(name: string, { secret }: Input, { isPlayed }: GivenInputs) {
  return isPlayed && secret ? { value: `‹${name}›`, source: PLAYED } : undefined;
}

/** Words are text; where the input is something else they must spell it. What they do not spell stays text, and is refused. */
function fromText(text: string, type: Input["type"]): unknown {
  if (type === "string") return text;
  if ((type === "number" || type === "integer") && !/^-?\d/.test(text)) return text;
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return text;
    throw error;
  }
}

function wrongType(input: Input, value: unknown, shown: string | undefined): string {
  const expected = {
    array: "a JSON list",
    object: "a JSON object",
    boolean: "true or false",
    integer: "a whole number",
  };
  const words = input.type in expected ? Reflect.get(expected, input.type) : `a ${input.type}`;
  return shown ? `expected ${words}, got ${shown}` : unlike(words, value);
}

function howToGive(name: string, input: Input): string {
  return `give --input ${name}=…${input.env ? ` or set ${input.env}` : ""}`;
}
