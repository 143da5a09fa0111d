// Hands out what is on a tape in the order of the tape, whatever the order in which it is asked for: then whatever depends
// on which answer came first (the number of a kept output, the tools of a turn) comes out as it did.

import type { OmegaError } from "../errors.ts";

export type Entry = {
  line: number;
  /** Happens by itself when its time has come; otherwise somebody asks for it. */
  happens?(): void;
};

export type Order = {
  /** Settles when all that stands before this line has been handed out. `onStep`: each time that something will be. */
  turn(line: number, signal: AbortSignal, onStep?: () => void): Promise<void>;
  /** Nothing more is handed out: who waits, and who comes, gets this. */
  stop(reason: OmegaError): void;
};

/** Nothing is asked for, and nothing goes on: this often in a row, this far apart. A busy machine makes no difference. */
const LOOKS = 40;
const LOOK_MS = 50;

/** `onMissing`: what comes next is not asked for, and others wait for it. They get it no more: it is passed over, or `stop`. */
export function openOrder(entries: readonly Entry[], onMissing: (line: number) => void): Order {
  const over = new Set<number>();
  const waiting = new Map<number, { hand(): void; fail(reason: unknown): void; onStep: (() => void) | undefined }>();
  let next = 0;
  let isScheduled = false;
  let looks = 0;
  let timer: NodeJS.Timeout | undefined;
  let stopped: OmegaError | undefined;

  /** One at a time: what follows from an answer comes before the next one. */
  function schedule(): void {
    if (isScheduled) return;
    isScheduled = true;
    setImmediate(() => {
      isScheduled = false;
      handNext();
    });
  }

  function handNext(): void {
    while (over.has(entries[next]?.line ?? 0)) next++;
    const entry = entries[next];
    if (!entry) return;
    const asked = waiting.get(entry.line);
    if (!asked && !entry.happens) return;
    for (const { onStep } of waiting.values()) onStep?.();
    over.add(entry.line);
    looks = 0;
    entry.happens?.();
    asked?.hand();
    schedule();
  }

  /** Only while somebody waits is anything missing. */
  function look(): void {
    if (++looks < LOOKS) return;
    looks = 0;
    const line = entries[next]?.line;
    if (line === undefined) return;
    over.add(line);
    onMissing(line);
    schedule();
  }

  return {
    turn(line, signal, onStep) {
      if (stopped) return Promise.reject(stopped);
      if (signal.aborted) return Promise.reject(signal.reason);
      if (over.has(line)) return Promise.resolve();
      return new Promise((resolve, reject) => {
        const leave = () => {
          waiting.delete(line);
          if (waiting.size === 0) clearInterval(timer);
          signal.removeEventListener("abort", onAbort);
        };
        const onAbort = () => {
          leave();
          over.add(line);
          reject(signal.reason);
          schedule();
        };
        signal.addEventListener("abort", onAbort, { once: true });
        if (waiting.size === 0) timer = setInterval(look, LOOK_MS);
        waiting.set(line, {
          onStep,
          hand() {
            leave();
            resolve();
          },
          fail(reason) {
            leave();
            reject(reason);
          },
        });
        looks = 0;
        schedule();
      });
    },
    stop(reason) {
      stopped = reason;
      for (const { fail } of [...waiting.values()]) fail(reason);
    },
  };
}
