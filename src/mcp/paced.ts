// Under a flood on a child's output Bun starves timers, so that no deadline fires. Reading in bounded bites, with a turn
// of the event loop between them, keeps every other promise of omega alive.

import type { Readable } from "node:stream";

const BYTES_PER_TURN = 256 * 1024;

export function onPacedData(stream: Readable, onChunk: (chunk: Buffer) => void): void {
  let sinceYield = 0;
  stream.on("data", (chunk: Buffer) => {
    onChunk(chunk);
    sinceYield += chunk.length;
    if (sinceYield < BYTES_PER_TURN) return;
    sinceYield = 0;
    stream.pause();
    setTimeout(() => stream.resume(), 0);
  });
}
