// What `{{ … }}` and `${…}` may refer to, and what stands for it in this run. `check` knows the names alone, so that a
// manifest can be checked where no input is given and no secret is set.

import { readFileSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { systemCode } from "../errors.ts";
import { didYouMean } from "../nearest.ts";
import type { Secrets } from "../redact.ts";
import { MAX_BYTES } from "./files.ts";
import { asText, type ResolvedInput } from "./inputs.ts";
import type { Input } from "./schema.ts";
import { Unfilled } from "./template.ts";

export type LookUp = (reference: string) => string;

export const runValues = ["today", "now", "run.id", "skill.dir", "workdir"] as const;
/** Looked up when it is asked for: to know the time zone costs milliseconds. */
export type RunValues = Partial<Record<(typeof runValues)[number], () => string>>;

const secretName = /KEY|TOKEN|SECRET|PASS|CRED|AUTH|DSN/i;
export const isSecretName = (name: string) => secretName.test(name);

/** Refuses what is no name at all; `forModel` also refuses secrets, for what a model is told is told to its provider. */
export function checkValue(inputs: Record<string, Input>, known: readonly string[], forModel: boolean): LookUp {
  return (reference) => {
    const input = /^inputs\.(.+)$/.exec(reference)?.[1];
    if (input !== undefined && Object.hasOwn(inputs, input)) {
      if (forModel && inputs[input]?.secret) {
        throw new Unfilled(`input "${input}" is secret and must not be told to the model; give it to a server's env`);
      }
      return "";
    }
    if (known.includes(reference)) return "";
    const names = [...Object.keys(inputs).map((name) => `inputs.${name}`), ...known];
    const near = didYouMean(reference, names);
    throw new Unfilled(`nothing is called ${reference || "that"} here${near || `; known: ${names.join(", ")}`}`);
  };
}

export function checkVariable(reference: string): string {
  parseVariable(reference);
  return "";
}

export function findValue(inputs: readonly ResolvedInput[], values: RunValues): LookUp {
  const known = new Map<string, () => string>(Object.entries(values));
  for (const { name, value } of inputs) known.set(`inputs.${name}`, () => asText(value));
  return (reference) => {
    const found = known.get(reference)?.();
    if (found === undefined) throw new Unfilled(`nothing is called ${reference} here`);
    return found;
  };
}

export type Variables = {
  environment: NodeJS.ProcessEnv;
  dir: string;
  secrets: Secrets;
  sourceOf(name: string): string;
  /** Nothing will be started: each has its name in its place, whether it is there or not. */
  isPlayed?: boolean | undefined;
};

export function findVariable({ environment, dir, secrets, sourceOf, isPlayed }: Variables): LookUp {
  return (reference) => {
    const variable = parseVariable(reference);
    if (isPlayed) return `‹${"file" in variable ? variable.file : variable.name}›`;
    if ("file" in variable) {
      const value = readSecret(resolve(dir, variable.file));
      secrets.add({ name: variable.file, value, source: `file ${variable.file}` });
      return value;
    }
    const { name, fallback } = variable;
    const value = environment[name];
    if (value === undefined || (value === "" && fallback !== undefined)) {
      if (fallback !== undefined) return fallback;
      throw new Unfilled(`${name} is not set; export it, put it in an env file, or write \${${name}:-default}`);
    }
    if (isSecretName(name)) secrets.add({ name, value, source: sourceOf(name) });
    return value;
  };
}

function parseVariable(reference: string): { file: string } | { name: string; fallback: string | undefined } {
  const file = /^file:(.+)$/.exec(reference)?.[1];
  if (file !== undefined) return { file };
  const [, name, fallback] = /^([A-Za-z_][A-Za-z0-9_]*)(?::-(.*))?$/.exec(reference) ?? [];
  if (name !== undefined) return { name, fallback };
  throw new Unfilled("expected ${NAME}, ${NAME:-default} or ${file:/path}");
}

/** A file of a secret ends with a line break more often than its secret does. */
function readSecret(path: string): string {
  try {
    const found = statSync(path);
    // A pipe or a device could keep us waiting for ever.
    if (!found.isFile()) throw new Unfilled(`${path} is not a regular file`);
    if (found.size > MAX_BYTES) throw new Unfilled(`${path} is larger than 1 MB`);
    return readFileSync(path)
      .toString("utf8")
      .replace(/\r?\n$/, "");
  } catch (error) {
    if (error instanceof Unfilled) throw error;
    throw new Unfilled(`cannot read ${path} (${systemCode(error)})`);
  }
}
