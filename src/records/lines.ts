// A file of lines of JSON that only grows, written in the tick in which they come: a killed omega leaves a readable file.

import { closeSync } from "node:fs";
import { openToAppend, write } from "./private-files.ts";
import type { Store } from "./store.ts";

export type Lines = { add(line: object): void; addText(line: string): void; close(): void };

/** Beyond `maxBytes` it grows no more. */
export function openLines(file: string, store: Store, maxBytes = Number.POSITIVE_INFINITY): Lines {
  let fd = store.attempt(() => openToAppend(file));
  let waiting = "";
  let size = 0;

  /** All of one tick in one write, when what the run waits for is on its way. */
  function flush(): void {
    const [target, text] = [fd, waiting];
    waiting = "";
    if (target !== undefined && text !== "") store.attempt(() => write(target, text));
  }

  function addText(line: string): void {
    if (fd === undefined || size > maxBytes) return;
    size += line.length;
    if (waiting === "") setImmediate(flush);
    waiting += `${line}\n`;
  }

  return {
    add: (line) => addText(JSON.stringify(line)),
    addText,
    close() {
      flush();
      if (fd !== undefined) closeSync(fd);
      fd = undefined;
    },
  };
}
