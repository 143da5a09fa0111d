// What a person gives a run on the command line → the skill of this run. Nothing has started yet.

import { resolve } from "node:path";
import { OmegaError } from "../errors.ts";
import { parseFields, type Values } from "../manifest/document.ts";
import { decode, MAX_BYTES, readSource } from "../manifest/files.ts";
import { loadSkill } from "../manifest/load.ts";
import type { Skill } from "../manifest/skill.ts";
import { readStdin } from "./stdin.ts";

export type Given = {
  /** A skill, or with `match` a folder of skills. */
  skill: string;
  match?: string | undefined;
  /** Words after the skill, appended to its prompt; `-` stands for what stdin says. */
  words: readonly string[];
  inputs: readonly string[];
  inputFile?: string | undefined;
  envFile?: string | undefined;
  workdir?: string | undefined;
};

/** `words`: those that were added to the prompt, as they were read. `now`: the moment that was filled in. */
export type Prepared = Skill & { words: readonly string[]; now: string };

/** What a cassette tells of the run that it was made of. */
export type Taped = { inputs: Values; words: readonly string[] };

export async function prepare(
  given: Given,
  run: { run: string; now: string },
  signal: AbortSignal,
  taped?: Taped,
): Promise<Prepared> {
  refuseTwoClaims(given);
  const path = given.match === undefined ? given.skill : await matching(given.match, given.skill);
  const { inputFile, envFile, workdir } = given;
  const file =
    inputFile === undefined
      ? taped && { name: "the cassette", values: taped.inputs }
      : { name: inputFile, values: await readInputs(inputFile, signal) };
  const skill = await loadSkill(path, {
    ...run,
    cwd: process.cwd(),
    environment: process.env,
    inputs: { flags: given.inputs, file },
    envFile,
    workdir,
    isPlayed: taped !== undefined,
  });
  const words: string[] = [];
  for (const word of given.words.length > 0 ? given.words : (taped?.words ?? []))
    words.push(word === "-" ? await textOfStdin(signal) : word);
  return { ...skill, words, now: run.now, prompt: [skill.prompt, ...words].join(" ") };
}

function refuseTwoClaims({ words, inputFile }: Given): void {
  const claims = words.filter((word) => word === "-").length + (inputFile === "-" ? 1 : 0);
  if (claims > 1) throw new OmegaError("USAGE", "stdin can be read only once, and more than one - asks for it");
}

async function matching(text: string, folder: string): Promise<string> {
  const { matchSkill } = await import("../manifest/match.ts");
  return matchSkill(text, folder);
}

async function readInputs(name: string, signal: AbortSignal): Promise<Values> {
  const source =
    name === "-" ? { file: "stdin", text: await textOfStdin(signal) } : readSource(resolve(process.cwd(), name));
  return parseFields({ ...source, isSecret: true }).values;
}

async function textOfStdin(signal: AbortSignal): Promise<string> {
  return decode(await readStdin(signal, MAX_BYTES), "stdin").replace(/\n$/, "");
}
