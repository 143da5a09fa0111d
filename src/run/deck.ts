// What a run is recorded to, always, and what it is played from, if it is.

import { resolve } from "node:path";
import { namePlaces } from "../cassette/places.ts";
import { openPlayer, type Player } from "../cassette/player.ts";
import { openRecorder, type Recorder } from "../cassette/recorder.ts";
import { type End, type Head, type Line, parseTape, type Tape, VERSION } from "../cassette/tape.ts";
import type { Model } from "../conversation.ts";
import type { OmegaError } from "../errors.ts";
import { type Clock, type PlayedClock, playClock, startClock } from "../loop/clock.ts";
import { readSource } from "../manifest/files.ts";
import type { AskPerson } from "../permissions/permits.ts";
import { mapStrings } from "../redact.ts";
import { jsonLine } from "../terminal.ts";
import type { Envelope } from "./envelope.ts";
import type { Prepared } from "./prepare.ts";
import type { PermissionFlags } from "./rules.ts";

export type PlayedTape = { tape: Tape; isLenient: boolean };
export type RunDeck = {
  recorder: Recorder;
  player: Player | undefined;
  /** The model that is played. */
  played(): Model;
  /** Who is asked: a person, or what a person said then. */
  asking(ask: AskPerson | undefined): AskPerson | undefined;
  /** Played time stands still until the tape says that it is up. */
  clock(ms: number, outer: AbortSignal): Clock & Disposable;
  /** Records the end; where it was played, why the run as a whole is another, and the tape as it would be now. */
  end(envelope: Envelope): Played | undefined;
};
export type Played = {
  departure: OmegaError | undefined;
  /** The text of the cassette; undefined if the run did not come to an end of its own. */
  updated: string | undefined;
};

const MAX_TAPE_BYTES = 200_000_000;

/** `workdir`: what `{{ workdir }}` stands for, if not for the folder of then. */
export function readTape(file: string, { isLenient = false, workdir }: { isLenient?: boolean; workdir?: string } = {}) {
  const { text } = readSource(resolve(file), MAX_TAPE_BYTES);
  const tape = parseTape(text, file, workdir === undefined ? {} : { workdir: resolve(workdir) });
  return { tape, isLenient };
}

export type DeckOptions = {
  skill: Prepared;
  played: PlayedTape | undefined;
  redact(text: string): string;
  /** A line of JSON, without secrets and folders. */
  write(line: string): void;
};

export function openDeck({ skill, played, redact, write }: DeckOptions): RunDeck {
  const folders = mapStrings(skill.folders, redact);
  const { hide } = namePlaces(folders);
  const textOf = (line: Line) => {
    const clean = mapStrings(line, redact);
    // The folders that stand for the names, in the one place where they are told.
    return "omega" in clean ? headText(clean, hide) : hide(jsonLine(clean));
  };
  const recorder = openRecorder((line) => write(textOf(line)));
  const clocks = new Set<PlayedClock>();
  const player =
    played &&
    openPlayer(played.tape, {
      ...played,
      asTaped: (value) => inJson(mapStrings(value, redact)),
      onTimeUp(reason, signal) {
        const open = [...clocks].filter((clock) => reason.code === "INTERRUPTED" || clock.isReason(reason));
        const own = open.filter(({ work, end }) => work === signal || end === signal);
        for (const clock of own.length > 0 ? own : open) clock.runOut(reason);
      },
    });
  return {
    recorder,
    player,
    played() {
      if (!player) throw new Error("no model was chosen, and none is played");
      return player.model;
    },
    asking(ask) {
      if (player) return played.tape.head.attended ? player.reply : undefined;
      return (
        ask &&
        (async (question, signal) => {
          const reply = await ask(question, signal);
          recorder.replied(question, reply);
          return reply;
        })
      );
    },
    clock(ms, outer) {
      if (!player) return startClock(ms, outer);
      const clock = playClock(ms, outer);
      clocks.add(clock);
      return { ...clock, [Symbol.dispose]: () => void clocks.delete(clock) };
    },
    end(envelope) {
      const end = endOf(envelope);
      recorder.end(end);
      if (!player) return undefined;
      const cameToEnd = !without.includes(envelope.outcome);
      const departure = player.departure(cameToEnd ? end : undefined);
      const text = (line: number | Line) => (typeof line === "number" ? played.tape.source[line - 1] : textOf(line));
      const updated = cameToEnd && !departure ? player.updated(end).map((line) => `${text(line)}\n`) : undefined;
      return { departure, updated: updated?.join("") };
    },
  };
}

/** What kept a run from coming to an end of its own is the thing to tell. */
const without: readonly string[] = ["invalid", "internal", "storage"];

function headText(head: Head, hide: (json: string) => string): string {
  const { folders, ...rest } = head;
  const hidden: Omit<Head, "folders"> = JSON.parse(hide(JSON.stringify(rest)));
  const { omega, skill, model, run, startedAt, ...more } = hidden;
  return jsonLine({ omega, skill, model, run, startedAt, folders, ...more });
}

/** As it will be read again: without what JSON does not have. */
function inJson<T>(value: T): T {
  return value === undefined ? value : JSON.parse(JSON.stringify(value));
}

export type HeadOptions = Record<"run" | "startedAt" | "model", string> & {
  flags: PermissionFlags & { limits: object };
  isAttended: boolean;
  leftOfDay: number | undefined;
};

export function headOf(skill: Prepared, { run, startedAt, model, flags, isAttended, leftOfDay }: HeadOptions): Head {
  const inputs = skill.inputs.filter(({ secret }) => !secret).map(({ name, value }) => [name, value]);
  const { name, words, folders, now } = skill;
  const { allow, deny, yes, limits } = flags;
  const given = {
    ...(allow.length > 0 && { allow: [...allow] }),
    ...(deny.length > 0 && { deny: [...deny] }),
    ...(yes && { yes }),
    ...(Object.keys(limits).length > 0 && { limits: { ...limits } }),
  };
  return {
    ...{ omega: VERSION, skill: name, model, run, startedAt },
    ...(now !== undefined && { now }),
    ...{ folders, inputs: Object.fromEntries(inputs), words: [...words] },
    ...(Object.keys(given).length > 0 && { given }),
    ...(isAttended && { attended: true }),
    ...(leftOfDay !== undefined && { leftOfDay }),
  };
}

function endOf({ outcome, code, text, output, turns, toolCalls, usage }: Envelope): End {
  return { outcome, code, text, output, turns, toolCalls, usage };
}
