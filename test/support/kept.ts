// What omega has left on disk, file by file, as bytes: no word of its own is taken for it.

import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";

export type Kept = { name: string; isFolder: boolean; mode: number; bytes: Buffer };

/** Every file and folder under it, itself included; none if it is not there. */
export function keptIn(folder: string): Kept[] {
  if (!existsSync(folder)) return [];
  return [".", ...readdirSync(folder, { recursive: true, encoding: "utf8" })].map((name) => {
    const path = join(folder, name);
    const stat = statSync(path);
    const isFolder = stat.isDirectory();
    return { name, isFolder, mode: stat.mode & 0o777, bytes: isFolder ? Buffer.alloc(0) : readFileSync(path) };
  });
}

/** C0 but tab and line feed, DEL, and C1 as UTF-8 has it. */
export const controlCharacter = /[\0-\x08\x0b-\x1f\x7f-\x9f]/;

/** Databases hold bytes of every kind. */
export const isText = ({ name, isFolder }: Kept) => !isFolder && !/\.db(-wal|-shm|-journal)?$/.test(name);
