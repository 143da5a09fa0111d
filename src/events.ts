// What a run says while it goes. `report/` turns events into text or JSON lines; nothing else prints.

import type { Usage } from "./conversation.ts";

export type RunEvent =
  | { type: "start"; run: string; skill: string; model: string; at: string }
  | { type: "server"; name: string; protocol: string; tools: number; readyMs: number }
  | { type: "turn"; turn: number }
  | { type: "text"; turn: number; text: string }
  | { type: "call"; turn: number; id: string; tool: string; arguments: string }
  | { type: "result"; turn: number; id: string; tool: string; isError: boolean; text: string; ms: number }
  /** `cost` in US dollars; null if unknown. */
  | { type: "usage"; turn: number; usage: Usage; cost: number | null; modelMs: number }
  /** The answer is asked for again: forget the text of this turn so far. */
  | { type: "retry"; turn: number; reason: string; waitMs: number }
  /** Another model takes over: forget the text of this turn so far. */
  | { type: "fallback"; model: string; reason: string }
  | { type: "answer"; text: string }
  | { type: "warning"; message: string }
  /** Only shown with -v. */
  | { type: "debug"; message: string };
