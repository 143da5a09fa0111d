// Outputs too long for a model, kept whole, and read again page by page.

import { closeSync, fstatSync, openSync } from "node:fs";
import { join } from "node:path";
import { systemCode } from "../errors.ts";
import { makeFolder, readBytes, writeFile } from "./private-files.ts";
import type { Clean, Store } from "./store.ts";

/** The most bytes of a character that can stand beyond a border. */
const REST_OF_CHARACTER = 3;

/** `next`: the offset of the page after it. */
export type Page = { text: string; total: number; next: number | undefined };

export type Outputs = {
  keep(text: string): string | undefined;
  read(id: string, offset: number, length: number): Page | undefined;
};

export function openOutputs(folder: string, { redact, store }: { redact: Clean; store: Store }): Outputs {
  let kept = 0;
  const fileOf = (id: string) => join(folder, `${id}.txt`);
  return {
    keep(text) {
      return store.attempt(() => {
        const id = String(kept + 1);
        makeFolder(folder);
        writeFile(fileOf(id), redact(text));
        kept++;
        return id;
      });
    },
    read(id, offset, length) {
      if (!/^[1-9]\d*$/.test(id) || Number(id) > kept) return undefined;
      try {
        return readPage(fileOf(id), Math.max(0, Math.floor(offset)), Math.max(1, Math.floor(length)));
      } catch (error) {
        // Somebody has tidied up while the run goes on.
        if (systemCode(error) === undefined) throw error;
        return undefined;
      }
    },
  };
}

function readPage(file: string, offset: number, length: number): Page {
  const fd = openSync(file, "r");
  try {
    const total = fstatSync(fd).size;
    const from = Math.min(offset, total);
    const to = Math.min(from + length, total);
    const first = Math.max(0, from - REST_OF_CHARACTER);
    const bytes = readBytes(fd, first, Math.min(to + REST_OF_CHARACTER, total) - first);
    const start = borderAt(bytes, from - first);
    // A page shorter than a character takes it whole, or there would be no going on.
    const end = Math.max(borderAt(bytes, to - first), Math.min(borderAfter(bytes, start), bytes.length));
    const next = first + end;
    return { text: bytes.toString("utf8", start, end), total, next: next < total ? next : undefined };
  } finally {
    closeSync(fd);
  }
}

function borderAt(bytes: Buffer, index: number): number {
  let border = index;
  while (isInside(bytes[border])) border--;
  return border;
}

function borderAfter(bytes: Buffer, index: number): number {
  let border = index + 1;
  while (isInside(bytes[border])) border++;
  return border;
}

const isInside = (byte: number | undefined) => byte !== undefined && (byte & 0xc0) === 0x80;
