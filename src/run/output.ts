// The answer, written to its file: all of it or nothing. With the modes that the caller's umask gives, for it is the
// caller's file.

import {
  chmodSync,
  closeSync,
  constants,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { dirname, resolve } from "node:path";
import { OmegaError, systemCode } from "../errors.ts";
import { randomWord } from "./envelope.ts";

export function writeOutput(workdir: string, file: string, text: string): void {
  const path = resolve(workdir, file);
  const whole = text.endsWith("\n") ? text : `${text}\n`;
  const draft = `${path}.${randomWord()}.omega`;
  try {
    mkdirSync(dirname(path), { recursive: true });
    const there = statSync(path, { throwIfNoEntry: false });
    // A pipe, or /dev/null: to put a file in its place would break it for everybody.
    if (there && !there.isFile() && !there.isDirectory()) {
      writeTo(path, whole);
      return;
    }
    writeFileSync(draft, whole, { flag: "wx", ...(there && { mode: there.mode }) });
    // The umask has taken from it what the file before had.
    if (there) chmodSync(draft, there.mode);
    renameSync(draft, path);
  } catch (cause) {
    const code = systemCode(cause);
    if (code === undefined) throw cause;
    if (code !== "EEXIST") rmSync(draft, { force: true });
    throw new OmegaError("OUTPUT_FILE", `the answer could not be written to ${path} (${code})`, {
      hint: "check output.file and the rights of its folder; the answer is in the envelope and in the record",
      cause,
    });
  }
}

/** A pipe that nobody reads must not hold the run: without a reader, or when it is full, this fails. */
function writeTo(path: string, text: string): void {
  const fd = openSync(path, constants.O_WRONLY | constants.O_NONBLOCK);
  try {
    const bytes = Buffer.from(text);
    for (let done = 0; done < bytes.length; ) done += writeSync(fd, bytes, done);
  } finally {
    closeSync(fd);
  }
}
