// What a run is recorded to, always, and what it is played from, if it is.

import { resolve } from "node:path";
import { namePlaces } from "../cassette/places.ts";
import { openPlayer, type Player } from "../cassette/player.ts";
import { openRecorder, type Recorder } from "../cassette/recorder.ts";
import { type EndLine, type Head, type Line, parseTape, type Tape, VERSION } from "../cassette/tape.ts";
import type { Model } from "../conversation.ts";
import type { OmegaError } from "../errors.ts";
import { readSource } from "../manifest/files.ts";
import { mapStrings } from "../redact.ts";
import type { Envelope } from "./envelope.ts";
import type { Prepared } from "./prepare.ts";

export type PlayedTape = { tape: Tape; file: string; isLenient: boolean };
export type RunDeck = {
  recorder: Recorder;
  player: Player | undefined;
  /** The model that is played. */
  played(): Model;
  /** Records the end; where it was played, why the run as a whole is another. */
  end(envelope: Envelope): OmegaError | undefined;
};

const MAX_TAPE_BYTES = 200_000_000;

export function readTape(file: string, isLenient = false): PlayedTape {
  const { text } = readSource(resolve(file), MAX_TAPE_BYTES);
  return { tape: parseTape(text, file), file, isLenient };
}

export type DeckOptions = {
  skill: Prepared;
  played: PlayedTape | undefined;
  clean(text: string): string;
  write(line: Line): void;
};

export function openDeck({ skill, played, clean, write }: DeckOptions): RunDeck {
  const { hide, show } = namePlaces({ workdir: skill.workdir, "skill.dir": skill.dir });
  const asTaped = <T>(value: T): T => hide(mapStrings(value, clean));
  const recorder = openRecorder((line) => write(asTaped(line)));
  // The folders of this machine may be one and the same, or `/`: then they are told apart no more, on the tape neither.
  const tape = played && hide(show(played.tape));
  const player = tape && openPlayer(tape, { ...played, asTaped: (value) => inJson(asTaped(value)), show });
  return {
    recorder,
    player,
    played() {
      if (!player) throw new Error("no model was chosen, and none is played");
      return player.model;
    },
    end(envelope) {
      const end = endOf(envelope);
      recorder.end(end);
      return isComparable(envelope) ? player?.departure(end) : undefined;
    },
  };
}

/** What kept a run from coming to an end of its own is the thing to tell. */
function isComparable({ outcome, code }: Envelope): boolean {
  return !["invalid", "internal", "interrupted", "storage"].includes(outcome) && code !== "diverged";
}

/** As it will be read again: without what JSON does not have. */
function inJson<T>(value: T): T {
  return value === undefined ? value : JSON.parse(JSON.stringify(value));
}

export function headOf(skill: Prepared, { run, model }: Record<"run" | "model", string>): Head {
  const inputs = skill.inputs.filter(({ secret }) => !secret).map(({ name, value }) => [name, value]);
  const { name, words, now: startedAt } = skill;
  return { omega: VERSION, skill: name, model, run, startedAt, inputs: Object.fromEntries(inputs), words: [...words] };
}

function endOf({ outcome, code, text, output, turns, toolCalls, usage }: Envelope): EndLine["end"] {
  return { outcome, code, text, output, turns, toolCalls, usage };
}
