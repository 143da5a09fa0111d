// The live view at a terminal: rows that are over stay where they were printed; below them a few lines show what goes on, and
// are drawn again in place. Between two writes the cursor stands on an empty line of its own and no mode of the terminal is
// changed: whatever happens to omega, the terminal is fit for the next program, and a ^C that it echoes is not in the way.

import { blank, fit, paint, type Row, type Span, spansWidth } from "./rows.ts";
import type { Screen } from "./screen.ts";
import { summaryRows } from "./summary.ts";
import { createView } from "./view.ts";

export type Terminal = Pick<NodeJS.WriteStream, "columns" | "rows" | "write" | "on" | "off">;
export type LiveOptions = {
  terminal: Terminal;
  /** stdout is a terminal, so it is this one. */
  isShared: boolean;
  verbose: boolean;
  signal: AbortSignal;
};

const FRAME_MS = 100;
/** In one write: the cursor does not dance, and a line that is wider than we think is cut and not wrapped. */
const HIDE_CURSOR = "\x1b[?25l";
const SHOW_CURSOR = "\x1b[?25h";
const NO_WRAP = "\x1b[?7l";
const WRAP = "\x1b[?7h";
const CLEAR_LINE = "\x1b[K";
const CLEAR_BELOW = "\x1b[J";

export function liveScreen({ terminal, isShared, verbose, signal }: LiveOptions): Screen {
  const view = createView({ verbose, startedAt: Date.now() });
  const over: Row[] = [];
  /** How wide each line is that stands there to be drawn again. */
  let drawn: number[] = [];
  let shown = "";
  let last: Row | undefined = blank;
  let isHeld = false;

  const columns = () => terminal.columns || 80;

  /** To where the live lines begin. A terminal that has become narrower has wrapped them. */
  function back(): string {
    const lines = drawn.reduce((sum, width) => sum + Math.max(1, Math.ceil(width / columns())), 0);
    return lines > 0 ? `\r\x1b[${lines}A` : "\r";
  }

  function draw(live: readonly Row[]): void {
    const lines = live.flatMap((row) => fit(row, columns())).slice(-Math.max((terminal.rows || 24) - 1, 1));
    const text = ended(lines);
    if (over.length === 0 && text === shown) return;
    const printed = over.splice(0).flatMap((row) => fit(row, columns()));
    terminal.write(`${HIDE_CURSOR}${back()}${ended(printed)}${NO_WRAP}${text}${CLEAR_BELOW}${WRAP}${SHOW_CURSOR}`);
    shown = text;
    drawn = lines.map(spansWidth);
  }

  /** Two blank lines are one too many. */
  function print(rows: readonly Row[]): void {
    for (const row of rows) {
      if (row !== blank || last !== blank) over.push(row);
      last = row;
    }
  }

  const redraw = () => {
    if (!isHeld) draw(view.live(Date.now()));
  };
  const onResize = () => {
    shown = "";
    redraw();
  };
  /** Who was stopped and goes on finds other people's lines where its own were. */
  const onContinue = () => {
    drawn = [];
    onResize();
  };
  const onAbort = () => view.interrupt(Date.now());

  const timer = setInterval(redraw, FRAME_MS);
  timer.unref();
  terminal.on("resize", onResize);
  if (process.platform !== "win32") process.on("SIGCONT", onContinue);
  signal.addEventListener("abort", onAbort);

  function close(): void {
    clearInterval(timer);
    terminal.off("resize", onResize);
    if (process.platform !== "win32") process.off("SIGCONT", onContinue);
    signal.removeEventListener("abort", onAbort);
    if (!isHeld) draw([]);
    isHeld = true;
  }

  return {
    event(event) {
      print(view.event(event, Date.now()));
    },
    end(envelope) {
      print(summaryRows(envelope));
      close();
    },
    aside(write) {
      if (isShared) print([blank]);
      if (!isHeld) draw([]);
      write();
      last = undefined;
      if (isShared) print([blank]);
      redraw();
    },
    hold() {
      print([blank]);
      draw([]);
      isHeld = true;
      last = undefined;
      print([blank]);
    },
    release() {
      isHeld = false;
      redraw();
    },
    [Symbol.dispose]: close,
  };
}

const ended = (lines: readonly Span[][]) => lines.map((line) => `${paint(line)}${CLEAR_LINE}\n`).join("");
