// The answer, written to its file: all of it or nothing. With the modes that the caller's umask gives, for it is the
// caller's file.

import { chmodSync, mkdirSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { OmegaError, systemCode } from "../errors.ts";

export function writeOutput(workdir: string, file: string, text: string): void {
  const path = resolve(workdir, file);
  const whole = text.endsWith("\n") ? text : `${text}\n`;
  const draft = `${path}.${process.pid}.omega`;
  try {
    mkdirSync(dirname(path), { recursive: true });
    const there = statSync(path, { throwIfNoEntry: false });
    // A pipe, or /dev/null: to put a file in its place would break it for everybody.
    if (there && !there.isFile() && !there.isDirectory()) {
      writeFileSync(path, whole);
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
