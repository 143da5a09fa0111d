// The answer, written to its file: all of it or nothing. With the modes that the caller's umask gives, for it is the
// caller's file.

import {
  chmodSync,
  closeSync,
  constants,
  existsSync,
  mkdirSync,
  openSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { dirname, join, resolve } from "node:path";
import { OmegaError, systemCode } from "../errors.ts";
import { randomWord } from "./envelope.ts";

export function writeOutput(workdir: string, file: string, text: string): void {
  const path = resolve(workdir, file);
  try {
    mkdirSync(dirname(path), { recursive: true });
    replace(path, text.endsWith("\n") ? text : `${text}\n`);
  } catch (cause) {
    if (cause instanceof OmegaError) throw cause;
    const code = systemCode(cause);
    if (code === undefined) throw cause;
    throw unwritten(path, code, cause);
  }
}

/** What is there keeps its modes, and a link keeps its place. What is no file (/dev/null, a pipe) would be gone for everybody. */
function replace(path: string, text: string): void {
  const old = statSync(path, { throwIfNoEntry: false });
  if (old?.isDirectory()) throw unwritten(path, "it is a folder");
  if (old && !old.isFile()) {
    writeTo(path, text);
    return;
  }
  const target = old ? realpathSync(path) : path;
  const draft = join(dirname(target), `.${randomWord()}.omega`);
  try {
    writeFileSync(draft, text, { flag: "wx" });
    if (old) chmodSync(draft, old.mode & 0o7777);
    renameSync(draft, target);
  } finally {
    if (existsSync(draft)) rmSync(draft);
  }
}

function unwritten(path: string, why: string, cause?: unknown): OmegaError {
  return new OmegaError("OUTPUT_FILE", `the answer could not be written to ${path} (${why})`, {
    hint: "check output.file and the rights of its folder; the answer is in the envelope and in the record",
    cause,
  });
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
