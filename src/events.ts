// What a run says while it goes. `report/` turns events into text or JSON lines; nothing else prints.

import type { Usage } from "./conversation.ts";

export type RunEvent =
  | { type: "start"; run: string; skill: string; model: string; at: string }
  | { type: "server"; name: string; protocol: string; tools: number; readyMs: number }
  | { type: "turn"; turn: number }
  | { type: "text"; turn: number; text: string }
  | { type: "call"; turn: number; id: string; tool: string; arguments: string }
  | { type: "result"; turn: number; id: string; tool: string; isError: boolean; text: string; ms: number }
  | { type: "usage"; turn: number; usage: Usage; modelMs: number }
  | { type: "fallback"; model: string; reason: string }
  | { type: "answer"; text: string }
  | { type: "warning"; message: string };
