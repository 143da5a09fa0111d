// The tests of a skill: the cassettes in its folder `tests/`. One holds if the run, played from it, asks what was asked then
// and ends as it ended then.

import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { asOmegaError, OmegaError, systemCode } from "../errors.ts";
import { findSkill, MARKDOWN, manifestNames } from "../manifest/files.ts";
import { isRunId, runFolder, runsFolder } from "../records/home.ts";
import { CASSETTE } from "../records/record.ts";
import { type Played, type PlayedTape, readTape } from "./deck.ts";
import type { Envelope } from "./envelope.ts";
import { type RunOptions, run } from "./run.ts";

const FOLDER = "tests";
const LAST = "last";

export type Tested = {
  skill: string;
  cassette: string;
  ok: boolean;
  /** How the run ended, and must end. */
  outcome: string;
  /** Why it does not hold, and what to do about it. */
  reason: string | null;
  hint: string | null;
  ms: number;
  /** It was changed to what the run does now. */
  updated: boolean;
};

export type TestOptions = { isUpdate: boolean; signal: AbortSignal; hurry: AbortSignal };

/** The cassettes of a skill, in the order of their names. */
export function cassettesOf(skill: string): string[] {
  const { manifest, markdown } = findSkill(skill);
  const folder = join(dirname(manifest ?? markdown ?? skill), FOLDER);
  if (!existsSync(folder)) return [];
  const names = readdirSync(folder).filter((name) => name.endsWith(".jsonl"));
  return names.sort().map((name) => join(folder, name));
}

export async function testCassette(skill: string, cassette: string, options: TestOptions): Promise<Tested> {
  const started = performance.now();
  const result = await verdictOf(skill, cassette, options).catch((error: unknown) => {
    // A cassette that cannot be read is a test that fails, not the end of the others.
    const { outcome, message, hint = null } = asOmegaError(error);
    return { ok: false, outcome, reason: message, hint, updated: false };
  });
  return { skill, cassette, ...result, ms: Math.round(performance.now() - started) };
}

async function verdictOf(skill: string, cassette: string, options: TestOptions) {
  const tape = readTape(cassette, { isLenient: options.isUpdate });
  const { envelope, played } = await play(skill, tape, options);
  const { outcome, code, reason, hint } = envelope;
  const then = tape.tape.end?.value.end;
  const isAsThen = then?.outcome === outcome && then.code === code;
  const ok = played !== undefined && !played.departure && (options.isUpdate ? played.updated !== undefined : isAsThen);
  const updated = options.isUpdate && ok && replaceIfChanged(cassette, played.updated ?? "");
  return { ok, outcome, reason: ok ? null : (reason ?? outcome), hint: ok ? null : hint, updated };
}

async function play(skill: string, tape: PlayedTape, { signal, hurry }: TestOptions) {
  let played: Played | undefined;
  const given: RunOptions = {
    ...{ skill, words: [], inputs: [], allow: [], deny: [], yes: false, limits: {} },
    ...{ model: undefined, output: undefined, signal, hurry },
    played: tape,
    leavesRecord: false,
    onPlayed(how) {
      played = how;
    },
  };
  const events = run(given);
  let next = await events.next();
  while (!next.done) next = await events.next();
  return { envelope: next.value satisfies Envelope, played: played as Played | undefined };
}

function replaceIfChanged(file: string, text: string): boolean {
  if (readFileSync(file, "utf8") === text) return false;
  writeFileSync(`${file}.new`, text);
  renameSync(`${file}.new`, file);
  return true;
}

/** A run of the records, `last` for the newest, becomes a test of its skill; gives back the skill and the new cassette. */
export function cassetteFrom(name: string): { skill: string; cassette: string } {
  const id = name === LAST ? newestRun() : name;
  const taken = join(runFolder(id), CASSETTE);
  if (!isRunId(id) || !existsSync(taken))
    throw new OmegaError("USAGE", `there is no recorded run ${id}`, {
      hint: `a run is named as in ${runsFolder()}, or ${LAST}`,
    });
  const { tape } = readTape(taken);
  if (!tape.end)
    throw new OmegaError("USAGE", `run ${id} has no end: it was killed, is still on, or was too long to be kept`);
  const skill = skillOf(id);
  const folder = join(dirname(skill), FOLDER);
  const cassette = join(folder, `${tape.end.value.end.outcome}-${id}.jsonl`);
  try {
    mkdirSync(folder, { recursive: true });
    copyFileSync(taken, cassette);
  } catch (cause) {
    throw new OmegaError("USAGE", `cannot write ${cassette} (${systemCode(cause)})`, { cause });
  }
  // A manifest beside a SKILL.md is only half of the skill.
  const isOfFolder = [...manifestNames, MARKDOWN].includes(basename(skill));
  return { skill: isOfFolder ? dirname(skill) : skill, cassette };
}

/** An id tells the second, and two runs of one second differ by chance: the file tells more. */
function newestRun(): string {
  const ids = existsSync(runsFolder()) ? readdirSync(runsFolder()).filter(isRunId) : [];
  const recorded = ids.flatMap((id) => {
    const found = statSync(join(runFolder(id), CASSETTE), { throwIfNoEntry: false });
    return found ? [{ id, second: id.slice(0, "20260901-060000".length), at: found.mtimeMs }] : [];
  });
  const [newest] = recorded.sort((a, b) => b.second.localeCompare(a.second) || b.at - a.at);
  if (!newest) throw new OmegaError("USAGE", `there is no recorded run in ${runsFolder()}`);
  return newest.id;
}

/** The manifest of a run, as its first event tells. */
function skillOf(id: string): string {
  const lines = readFileSync(join(runFolder(id), "events.jsonl"), "utf8").split("\n");
  const start = lines.find((line) => line.includes('"type":"start"'));
  const file: unknown = start === undefined ? undefined : JSON.parse(start).file;
  if (typeof file !== "string" || !existsSync(file)) {
    throw new OmegaError("USAGE", `the skill of run ${id} is not where it was: ${file ?? "nobody knows where"}`);
  }
  return file;
}
