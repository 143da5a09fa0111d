// The file of `--cassette`: opened at once, so that a path that cannot be written is told before anything starts, and emptied
// when there is something to put in: a run that is refused leaves the cassette that was there.

import { fstatSync, ftruncateSync, mkdirSync, openSync, writeSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { OmegaError, systemCode } from "../errors.ts";

export function openCassette(file: string, warn: (message: string) => void): (line: string) => void {
  const fd = opened(file);
  let isBegun = false;
  let isBroken = false;
  return (line) => {
    if (isBroken) return;
    try {
      if (!isBegun && fstatSync(fd).isFile()) ftruncateSync(fd);
      isBegun = true;
      const bytes = Buffer.from(`${line}\n`);
      for (let done = 0; done < bytes.length; ) done += writeSync(fd, bytes, done);
    } catch (error) {
      if (systemCode(error) === undefined) throw error;
      isBroken = true;
      warn(`--cassette: cannot go on writing ${file} (${systemCode(error)}): it has no end`);
    }
  };
}

/** `given`: what `--replay` and `--model` say. */
export function refuseSameFile(cassette: string | undefined, given: Record<string, string | undefined>): void {
  for (const [flag, file] of Object.entries(given)) {
    if (cassette === undefined || file === undefined || resolve(file) !== resolve(cassette)) continue;
    throw new OmegaError("USAGE", `--cassette would write over ${file}, which ${flag} plays`);
  }
}

function opened(file: string): number {
  try {
    mkdirSync(dirname(resolve(file)), { recursive: true });
    return openSync(file, "a");
  } catch (cause) {
    throw new OmegaError("USAGE", `--cassette: cannot write ${file} (${systemCode(cause)})`, { cause });
  }
}
