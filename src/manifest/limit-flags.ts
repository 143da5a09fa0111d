// `--limit k=v`: one of the manifest's limits, by the same rules.

import * as v from "valibot";
import { OmegaError } from "../errors.ts";
import { didYouMean } from "../nearest.ts";
import { Limits } from "./schema.ts";

export function parseLimits(words: readonly string[]): Partial<Limits> {
  return Object.fromEntries(words.map(parseLimit));
}

function parseLimit(word: string): [string, unknown] {
  const [name = "", text] = word.split(/=(.*)/s);
  const known = Object.keys(Limits.entries);
  if (!known.includes(name)) {
    throw new OmegaError("USAGE", `no limit "${name}"${didYouMean(name, known)}`, {
      hint: `known: ${known.join(", ")}`,
    });
  }
  if (text === undefined) throw new OmegaError("USAGE", `--limit takes name=value, not "${word}"`);
  // As YAML would read it: digits are a number.
  const value = /^\d+(\.\d+)?$/.test(text) ? Number(text) : text;
  const result = v.safeParse(v.partial(Limits), { [name]: value });
  if (!result.success) throw new OmegaError("USAGE", `--limit ${name}: ${result.issues[0].message}`);
  return [name, Reflect.get(result.output, name)];
}
