// Bytes of a stream → whole lines. Split on bytes and decoded whole, so that a character cut by a chunk border survives;
// bounded, so that a line without an end cannot fill the memory.

import type { Readable } from "node:stream";
import { onPacedData } from "./paced.ts";

const LINE_FEED = 0x0a;

export type LineReader = {
  maxBytes: number;
  onLine(line: string): void;
  /** A line passed `maxBytes`; it is skipped to its end. */
  onTooLong(): void;
  onEnd(): void;
};

export function readLines(stream: Readable, reader: LineReader): void {
  let parts: Buffer[] = [];
  let held = 0;
  let skipping = false;
  let ended = false;

  function take(chunk: Buffer): void {
    let start = 0;
    while (start < chunk.length) {
      const feed = chunk.indexOf(LINE_FEED, start);
      if (feed === -1) {
        hold(chunk.subarray(start));
        return;
      }
      // Most lines come whole: nothing to put together.
      if (held === 0 && !skipping && feed - start <= reader.maxBytes) tell(chunk.toString("utf8", start, feed));
      else {
        hold(chunk.subarray(start, feed));
        finishLine();
      }
      start = feed + 1;
    }
  }

  function hold(bytes: Buffer): void {
    if (skipping || bytes.length === 0) return;
    if (held + bytes.length > reader.maxBytes) {
      parts = [];
      held = 0;
      skipping = true;
      reader.onTooLong();
      return;
    }
    parts.push(bytes);
    held += bytes.length;
  }

  function finishLine(): void {
    const line = parts;
    parts = [];
    held = 0;
    skipping = false;
    tell(Buffer.concat(line).toString("utf8"));
  }

  function tell(line: string): void {
    if (line !== "") reader.onLine(line);
  }

  function end(): void {
    if (ended) return;
    ended = true;
    finishLine();
    reader.onEnd();
  }

  onPacedData(stream, take);
  stream.on("end", end);
  stream.on("close", end);
  stream.on("error", end);
}
