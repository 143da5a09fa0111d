// The end of a terminal's text: rows that are printed for good, and below them live lines that are drawn again in place.
// Between two writes the cursor stands on an empty line of its own and no mode of the terminal is changed: whatever happens to
// omega, the terminal is fit for the next program, and a ^C that it echoes is not in the way.

import { blank, fit, paint, type Row, type Span, spansWidth } from "./rows.ts";

export type Terminal = Pick<NodeJS.WriteStream, "columns" | "rows" | "write" | "on" | "off">;

export type Region = {
  /** With the next draw. */
  print(rows: readonly Row[]): void;
  /** Also what is printed, above them; writes only if that changes anything. */
  draw(live: readonly Row[]): void;
  /** Somebody else has written something there. */
  interrupted(): void;
  /** The terminal has got another size: what stands there may not be what was written. */
  resized(): void;
};

const HIDE_CURSOR = "\x1b[?25l";
const SHOW_CURSOR = "\x1b[?25h";
const NO_WRAP = "\x1b[?7l";
const WRAP = "\x1b[?7h";
const CLEAR_LINE = "\x1b[K";
const CLEAR_BELOW = "\x1b[J";

export function openRegion(terminal: Terminal): Region {
  const waiting: Row[] = [];
  /** How wide each live line is that stands there. */
  let widths: number[] = [];
  let shown = "";
  let last: Row | undefined = blank;

  const columns = () => terminal.columns || 80;
  const fitted = (rows: readonly Row[]) => rows.flatMap((row) => fit(row, columns()));

  /** To where the live lines begin. A terminal that has become narrower has wrapped them. */
  function back(): string {
    const lines = widths.reduce((sum, width) => sum + Math.max(1, Math.ceil(width / columns())), 0);
    return lines > 0 ? `\r\x1b[${lines}A` : "\r";
  }

  return {
    print(rows) {
      for (const row of rows) {
        // Two blank lines are one too many.
        if (row !== blank || last !== blank) waiting.push(row);
        last = row;
      }
    },
    draw(live) {
      const lines = fitted(live).slice(-Math.max((terminal.rows || 24) - 1, 1));
      const text = ended(lines);
      if (waiting.length === 0 && text === shown) return;
      const above = ended(fitted(waiting.splice(0)));
      // In one write, so that the cursor does not dance; and a line that is wider than we think is cut and not wrapped.
      terminal.write(`${HIDE_CURSOR}${back()}${above}${NO_WRAP}${text}${CLEAR_BELOW}${WRAP}${SHOW_CURSOR}`);
      shown = text;
      widths = lines.map(spansWidth);
    },
    interrupted() {
      shown = "";
      widths = [];
      last = undefined;
    },
    resized() {
      shown = "";
    },
  };
}

const ended = (lines: readonly Span[][]) => lines.map((line) => `${paint(line)}${CLEAR_LINE}\n`).join("");
