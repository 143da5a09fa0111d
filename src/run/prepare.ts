// What a person gives a run on the command line → the skill of this run. Nothing has started yet.

import { relative, resolve } from "node:path";
import type { Folders } from "../cassette/places.ts";
import type { Head } from "../cassette/tape.ts";
import { OmegaError } from "../errors.ts";
import { localTime } from "../manifest/clock.ts";
import { parseFields, type Values } from "../manifest/document.ts";
import { decode, MAX_BYTES, readSource } from "../manifest/files.ts";
import { loadSkill } from "../manifest/load.ts";
import type { Playing } from "../manifest/resolve.ts";
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

export type Prepared = Skill & {
  /** Those that were added to the prompt, as they were read. */
  words: readonly string[];
  /** What its texts say of its folders: those of then, where it is played. */
  folders: Folders;
  playing: Playing | undefined;
};

export async function prepare(
  given: Given,
  run: { run: string; now: Date },
  signal: AbortSignal,
  taped?: Head,
): Promise<Prepared> {
  refuseTwoClaims(given);
  const path = given.match === undefined ? given.skill : await matching(given.match, given.skill);
  const { inputFile, envFile, workdir } = given;
  const file =
    inputFile === undefined
      ? taped && { name: "the cassette", values: taped.inputs }
      : { name: inputFile, values: await readInputs(inputFile, signal) };
  const playing = taped && playingOf(taped, given);
  const skill = await loadSkill(path, {
    ...run,
    cwd: process.cwd(),
    environment: process.env,
    inputs: { flags: given.inputs, file },
    envFile,
    workdir,
    played: playing,
  });
  const words: string[] = [];
  for (const word of given.words.length > 0 ? given.words : (taped?.words ?? []))
    words.push(word === "-" ? await textOfStdin(signal) : word);
  const folders = { workdir: skill.workdir, "skill.dir": playing?.skillDir(skill.dir) ?? skill.dir };
  // Whether a sub-skill tells the time is known only when it is called, and then the cassette is begun.
  const now = skill.now ?? (skill.skills.length > 0 ? (taped?.now ?? localTime(run.now)) : undefined);
  return { ...skill, now, words, folders, playing, prompt: [skill.prompt, ...words].join(" ") };
}

function playingOf({ folders, now }: Head, { workdir }: Given): Playing {
  let top: string | undefined;
  return {
    workdir: resolve(workdir ?? folders.workdir),
    // The first that asks is the skill itself; those within it follow.
    skillDir(dir) {
      top ??= dir;
      return resolve(folders["skill.dir"], relative(top, dir));
    },
    now,
  };
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
