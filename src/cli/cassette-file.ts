// The file of `--cassette`: begun at once, so that a path that cannot be written is told before anything starts.

import { mkdirSync, openSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import { OmegaError, systemCode } from "../errors.ts";

export function openCassette(file: string): (line: object) => void {
  const fd = opened(file);
  return (line) => void writeSync(fd, `${JSON.stringify(line)}\n`);
}

function opened(file: string): number {
  try {
    // The first test of a skill has no folder yet.
    mkdirSync(dirname(file), { recursive: true });
    return openSync(file, "w");
  } catch (cause) {
    throw new OmegaError("USAGE", `--cassette: cannot write ${file} (${systemCode(cause)})`, { cause });
  }
}
