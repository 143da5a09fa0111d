// What one run leaves on disk: runs/<id>/ with its events as they come, the outputs it kept, what its servers said on
// stderr, and at the end its result; and a row in the history. Nothing of it can stop the run.

import { join } from "node:path";
import { systemCode } from "../errors.ts";
import { mapStrings } from "../redact.ts";
import { type LoggedEvent, openEventLog } from "./event-log.ts";
import { addRun, historyFile } from "./history.ts";
import { runFolder } from "./home.ts";
import { openLines } from "./lines.ts";
import { openOutputs, type Page } from "./outputs.ts";
import { makeFolder, replaceFile, writeFile } from "./private-files.ts";
import { prune } from "./prune.ts";
import { type RecordedEnvelope, rowOf } from "./result.ts";
import type { Clean, Store } from "./store.ts";

export const CASSETTE = "cassette.jsonl";
/** Every run is recorded: large answers must not fill the disk. One that is cut cannot be played to its end. */
const MAX_TAPE_BYTES = 50_000_000;

/** A file name has at most 255 bytes. */
const LONGEST_NAME = 200;

export type RunRecord = {
  /** Its folder; null where nothing could be written, or writing broke: what is there is then not whole. */
  folder(): string | null;
  /** Adds a line to events.jsonl. Pieces of text that follow each other become one line. */
  event(event: LoggedEvent): void;
  /** Adds a line to cassette.jsonl, as it is: who tells it has taken out what must not be there. */
  tape(line: string): void;
  /** Keeps a text and gives back its id; undefined if it could not be kept. */
  keepOutput(text: string): string | undefined;
  /** A page of a kept output, by bytes; never half a character. undefined: no such id. */
  readOutput(id: string, offset: number, length: number): Page | undefined;
  /** What a server said on stderr. */
  stderr(server: string, text: string): void;
  /** Writes the result and the row of the history, and makes room. `file`: the real path of the manifest. Never throws. */
  end(envelope: RecordedEnvelope, file: string | null): Promise<void>;
};

/** `redact`: without secrets, and nothing else changed. What a model reads on must be what it began to read. */
export type RecordOptions = {
  clean: Clean;
  redact: Clean;
  store: Store;
  /** It was played: it has cost nothing. */
  isPlayed?: boolean;
  /** A place of its own for a run that is not to be listed. */
  unlisted?: string | undefined;
};

export function openRecord(run: string, { clean, redact, store, isPlayed, unlisted }: RecordOptions): RunRecord {
  const folder = unlisted ?? runFolder(run);
  store.attempt(() => makeFolder(folder));
  const log = openEventLog(join(folder, "events.jsonl"), { clean, store });
  const tape = openLines(join(folder, CASSETTE), store, MAX_TAPE_BYTES);
  const outputs = openOutputs(join(folder, "outputs"), { redact, store });
  return {
    folder: () => (store.isBroken() ? null : folder),
    event: log.event,
    tape: tape.addText,
    keepOutput: outputs.keep,
    readOutput: outputs.read,
    stderr(server, text) {
      store.attempt(() => {
        const words = clean(text);
        makeFolder(join(folder, "stderr"));
        writeFile(join(folder, "stderr", `${fileName(server)}.log`), words.endsWith("\n") ? words : `${words}\n`, "a");
      });
    },
    async end(envelope, file) {
      log.close();
      tape.close();
      const result = mapStrings(envelope, clean);
      store.attempt(() => replaceFile(join(folder, "result.json"), `${JSON.stringify(result, null, 2)}\n`));
      if (store.isBroken() || unlisted !== undefined) return;
      try {
        const row = rowOf(result, { file, record: folder });
        await addRun(isPlayed ? { ...row, cost: 0 } : row);
      } catch (error) {
        const reason = systemCode(error) === "ERR_SQLITE_ERROR" && error instanceof Error ? error.message : error;
        store.tell(
          `cannot write to ${historyFile()} (${reason}): this run is not listed; if it is broken, move it away`,
        );
      }
      prune(run);
    },
  };
}

/** Any name makes a file name of its own, in the folder where it belongs. */
function fileName(server: string): string {
  return encodeURIComponent(server.toWellFormed()).slice(0, LONGEST_NAME);
}
