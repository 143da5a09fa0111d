// Files and folders that only their owner may look into. A umask can only take away, even from the owner: hence the chmod.

import {
  chmodSync,
  closeSync,
  existsSync,
  fchmodSync,
  fstatSync,
  mkdirSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  writeSync,
} from "node:fs";
import { dirname } from "node:path";

const FOLDER = 0o700;
const FILE = 0o600;

/** With the folders above it. One that is there already stays as it is. */
export function makeFolder(path: string): void {
  if (existsSync(path)) return;
  makeFolder(dirname(path));
  // Recursive only because another omega may make it at the same moment.
  mkdirSync(path, { recursive: true, mode: FOLDER });
  chmodSync(path, FOLDER);
}

/** A descriptor whose writes all go to the end of the file. */
export function openToAppend(file: string): number {
  return openPrivate(file, "a");
}

/** `writeSync` may take only a part. */
export function write(fd: number, text: string): void {
  const bytes = Buffer.from(text);
  for (let done = 0; done < bytes.length; ) done += writeSync(fd, bytes, done);
}

export function writeFile(file: string, text: string, how: "a" | "w" | "wx" = "w"): void {
  const fd = openPrivate(file, how);
  try {
    write(fd, text);
  } finally {
    closeSync(fd);
  }
}

/** All or nothing: whoever looks finds the old file or the new one. */
export function replaceFile(file: string, text: string): void {
  const draft = `${file}.${process.pid}`;
  try {
    writeFile(draft, text);
    renameSync(draft, file);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
}

/** As many as there are; `readSync` may give only a part. */
export function readBytes(fd: number, position: number, length: number): Buffer {
  const bytes = Buffer.alloc(length);
  for (let done = 0; done < length; ) {
    const read = readSync(fd, bytes, done, length - done, position + done);
    if (read === 0) return bytes.subarray(0, done);
    done += read;
  }
  return bytes;
}

function openPrivate(file: string, how: string): number {
  const fd = openSync(file, how, FILE);
  if (fstatSync(fd).size === 0) fchmodSync(fd, FILE);
  return fd;
}
