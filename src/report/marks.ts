// The marks and margins that all rows share.

import type { Span } from "./rows.ts";

export const good: Span = { text: "✓ ", style: "good" };
export const bad: Span = { text: "✗ ", style: "bad" };
export const refused: Span = { text: "⊘ ", style: "odd" };
export const odd: Span = { text: "! ", style: "odd" };

const FRAMES = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏";
const FRAME_MS = 100;

/** All spinners turn together. */
export const spinner = (now: number): Span => ({
  text: `${FRAMES[Math.floor(now / FRAME_MS) % FRAMES.length]} `,
  style: "busy",
});

export const dim = (text: string): Span => ({ text, style: "dim" });

/** Columns for the number of a turn. */
const MARGIN = 4;
export const margin: Span = { text: " ".repeat(MARGIN) };
export const numbered = (turn: number): Span => dim(`${String(turn).padStart(2)} `.padEnd(MARGIN));

/** Before what a sub-agent does: `1`, and one step further in `1.2`. */
export const agentMargin = (agent: string, before = margin): Span[] => [
  before,
  { text: "  ".repeat(agent.split(".").length - 1) },
  dim(`┆${agent} `),
];

/** Two columns on the right, one below the other in all rows: how long it took, and how much came of it. */
export const measures = (time: string, amount = ""): Span[] => [dim(time.padStart(10)), dim(amount.padStart(9))];
