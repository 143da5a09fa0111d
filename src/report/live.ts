// The live view: a frame ten times a second at most, and only if something has changed. Its timer keeps nothing alive.

import { openRegion, type Terminal } from "./region.ts";
import { blank } from "./rows.ts";
import type { Screen } from "./screen.ts";
import { summaryRows } from "./summary.ts";
import { createView } from "./view.ts";

export type LiveOptions = {
  terminal: Terminal;
  /** stdout is a terminal, so it is this one. */
  isShared: boolean;
  verbose: boolean;
  signal: AbortSignal;
};

const FRAME_MS = 100;

export function liveScreen({ terminal, isShared, verbose, signal }: LiveOptions): Screen {
  const view = createView({ verbose, startedAt: Date.now() });
  const region = openRegion(terminal);
  let isHeld = false;

  const draw = () => {
    if (!isHeld) region.draw(view.live(Date.now()));
  };
  const clear = () => {
    if (!isHeld) region.draw([]);
  };
  const unwatch = watch(terminal, signal, {
    resized() {
      region.resized();
      draw();
    },
    continued() {
      region.interrupted();
      draw();
    },
    aborted: () => view.interrupt(Date.now()),
  });
  const timer = setInterval(draw, FRAME_MS);
  timer.unref();

  function close(): void {
    clearInterval(timer);
    unwatch();
    clear();
    isHeld = true;
  }

  return {
    event: (event) => region.print(view.event(event, Date.now())),
    end(envelope) {
      region.print(summaryRows(envelope));
      close();
    },
    aside(write) {
      if (isShared) region.print([blank]);
      clear();
      write();
      if (isShared) {
        region.interrupted();
        region.print([blank]);
      }
      draw();
    },
    hold() {
      region.print([blank]);
      clear();
      isHeld = true;
      region.interrupted();
      region.print([blank]);
    },
    release() {
      isHeld = false;
      draw();
    },
    [Symbol.dispose]: close,
  };
}

/** `continued`: who was stopped and goes on finds other people's lines where its own were. */
type Watcher = { resized(): void; continued(): void; aborted(): void };

function watch(terminal: Terminal, signal: AbortSignal, { resized, continued, aborted }: Watcher): () => void {
  const hasJobs = process.platform !== "win32";
  terminal.on("resize", resized);
  signal.addEventListener("abort", aborted);
  if (hasJobs) process.on("SIGCONT", continued);
  return () => {
    terminal.off("resize", resized);
    signal.removeEventListener("abort", aborted);
    if (hasJobs) process.off("SIGCONT", continued);
  };
}
