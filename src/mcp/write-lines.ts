// Lines → a stream, all that are sent in one tick in one write: with many requests in flight the writes cost the most.

import type { Writable } from "node:stream";

export type LineWriter = {
  write(line: string): void;
  /** About how many bytes wait to be passed on. Counted here: under Bun the stream's own writableLength stays 0. */
  unsent(): number;
};

/** What a line that waits holds of our memory beside its text. */
const LINE_WEIGHT = 1_000;

export function writeLines(stream: Writable): LineWriter {
  let queued = "";
  let weight = 0;
  let unsent = 0;

  function flush(): void {
    const sent = weight;
    stream.write(queued, () => {
      unsent -= sent;
    });
    queued = "";
    weight = 0;
  }

  return {
    write(line) {
      if (queued === "") queueMicrotask(flush);
      queued += `${line}\n`;
      weight += line.length + LINE_WEIGHT;
      unsent += line.length + LINE_WEIGHT;
    },
    unsent: () => unsent,
  };
}
