// citty takes any flag, any `--no-` and a missing value in silence; a runner that nobody watches must not. Checked here,
// against the same definitions, before citty sees the words.

import type { ArgsDef } from "citty";
import { OmegaError } from "../errors.ts";
import { didYouMean } from "../nearest.ts";

export function checkFlags(command: string, words: readonly string[], args: ArgsDef): void {
  const known = new Map<string, { takesValue: boolean; options: readonly string[] }>();
  for (const [name, arg] of Object.entries(args)) {
    if (arg.type === "positional") continue;
    const options = "options" in arg ? (arg.options ?? []) : [];
    const flag = { takesValue: arg.type === "string" || arg.type === "enum", options };
    known.set(`--${name}`, flag);
    for (const alias of "alias" in arg ? [arg.alias ?? []].flat() : []) known.set(`-${alias}`, flag);
  }
  const fail = (message: string) => new OmegaError("USAGE", message, { hint: `omega ${command} --help` });

  for (let index = 0; index < words.length; index++) {
    const word = words[index] ?? "";
    if (word === "--") return;
    if (!word.startsWith("-") || word === "-") continue;
    const [name = "", value] = word.split(/=(.*)/s);
    const flag = known.get(name);
    if (!flag) throw fail(`no flag ${name}${didYouMean(name, [...known.keys()])}`);
    if (!flag.takesValue) {
      if (value !== undefined) throw fail(`${name} takes no value`);
      continue;
    }
    const given = value ?? words[++index];
    if (given === undefined || (value === undefined && known.has(given))) throw fail(`${name} needs a value`);
    if (flag.options.length > 0 && !flag.options.includes(given)) {
      throw fail(`${name} takes ${flag.options.join(", ")}, not "${given}"${didYouMean(given, flag.options)}`);
    }
  }
}

/** All values of a flag that may be repeated; citty keeps the last alone. */
export function valuesOf(flag: string, words: readonly string[]): string[] {
  const end = words.indexOf("--");
  const before = end === -1 ? words : words.slice(0, end);
  return before.flatMap((word, index) => {
    if (word.startsWith(`${flag}=`)) return [word.slice(flag.length + 1)];
    const value = before[index + 1];
    return word === flag && value !== undefined ? [value] : [];
  });
}
