// The tests of a skill: the cassettes in its folder `tests/`. One holds if the run, played from it, asks what was asked then
// and ends as it ended then.

import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Line } from "../cassette/tape.ts";
import { OmegaError, systemCode } from "../errors.ts";
import { findSkill } from "../manifest/files.ts";
import { isRunId, runFolder } from "../records/home.ts";
import { CASSETTE } from "../records/record.ts";
import { readTape } from "./deck.ts";
import { type RunOptions, run } from "./run.ts";

const FOLDER = "tests";

export type Tested = {
  skill: string;
  cassette: string;
  ok: boolean;
  /** How the run ended, and must end. */
  outcome: string;
  reason: string | null;
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
  const { isUpdate, signal, hurry } = options;
  const started = performance.now();
  const played = readTape(cassette, isUpdate);
  const lines: Line[] = [];
  const given: RunOptions = {
    ...{ skill, words: [], inputs: [], allow: [], deny: [], yes: false, limits: {} },
    ...{ model: undefined, output: undefined, signal, hurry },
    played,
    leavesRecord: false,
    onTape: (line) => lines.push(line),
  };
  const events = run(given);
  let next = await events.next();
  while (!next.done) next = await events.next();
  const { outcome, code, reason } = next.value;
  const taped = played.tape.end?.end;
  const ok = isUpdate
    ? code !== "diverged" && outcome !== "invalid"
    : taped?.outcome === outcome && taped.code === code;
  const updated = isUpdate && ok && replaceIfChanged(cassette, lines);
  const ms = Math.round(performance.now() - started);
  return { skill, cassette, ok, outcome, reason: ok ? null : reason, ms, updated };
}

function replaceIfChanged(file: string, lines: readonly Line[]): boolean {
  const text = lines.map((line) => `${JSON.stringify(line)}\n`).join("");
  if (readFileSync(file, "utf8") === text) return false;
  writeFileSync(`${file}.new`, text);
  renameSync(`${file}.new`, file);
  return true;
}

/** A run of the records becomes a test of its skill; gives back the skill and the new cassette. */
export function cassetteFrom(id: string): { skill: string; cassette: string } {
  const taken = join(runFolder(id), CASSETTE);
  if (!isRunId(id) || !existsSync(taken))
    throw new OmegaError("USAGE", `there is no recorded run ${id}`, { hint: `looked for ${taken}` });
  const { tape } = readTape(taken);
  if (!tape.end) throw new OmegaError("USAGE", `run ${id} has no end: it was killed, or is still on`);
  const skill = skillOf(id);
  const folder = join(dirname(skill), FOLDER);
  const cassette = join(folder, `${tape.end.end.outcome}-${id}.jsonl`);
  try {
    mkdirSync(folder, { recursive: true });
    copyFileSync(taken, cassette);
  } catch (cause) {
    throw new OmegaError("USAGE", `cannot write ${cassette} (${systemCode(cause)})`, { cause });
  }
  return { skill, cassette };
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
