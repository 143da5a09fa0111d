// What a run says while it goes. `report/` turns events into text or JSON lines; nothing else prints.

import type { Usage } from "./conversation.ts";

/** The call by which a model says how it went; it is not counted among the calls of tools. */
export const FINISH = "finish";

export type RunEvent = (
  | { type: "start"; run: string; skill: string; file: string; model: string; startedAt: string }
  /** These start now, all together. Each is told of again, as soon as it is ready or is known not to become so. */
  | { type: "starting"; servers: string[] }
  | { type: "server"; name: string; protocol: string; tools: number; readyMs: number }
  | { type: "not-ready"; name: string; reason: string }
  | { type: "turn"; turn: number }
  | { type: "text"; turn: number; text: string }
  /** `origin`: the tool in real names, `server/tool`. */
  | { type: "call"; turn: number; id: string; tool: string; origin: string; arguments: string }
  /** Results are told as they come, not in the order of the calls; `id` says whose it is. */
  | {
      type: "result";
      turn: number;
      id: string;
      tool: string;
      origin: string;
      isError: boolean;
      /** The call was refused by a rule, or by a person. */
      denied?: true;
      text: string;
      ms: number;
    }
  /** `cost` in US dollars; null if unknown. */
  | { type: "usage"; turn: number; usage: Usage; cost: number | null; modelMs: number }
  /** The answer is asked for again: forget the text of this turn so far. */
  | { type: "retry"; turn: number; reason: string; waitMs: number }
  /** Another model takes over: forget the text of this turn so far. */
  | { type: "fallback"; model: string; reason: string }
  /** A limit is near: the model gets one last turn, to report. */
  | { type: "limit"; turn: number; reason: string }
  /** One check of `expect`. */
  | ({ type: "check" } & Checked)
  /** The model's last words, and its answer as data if it gave any; an answer only if the run is good. */
  | { type: "answer"; text: string; output?: unknown; isGood: boolean }
  | { type: "warning"; message: string }
  /** Only shown with -v. */
  | { type: "debug"; message: string }
) & {
  /** Which sub-agent or sub-skill said it: `1`, and within that one `1.2`. Absent: the run itself. */
  agent?: string;
};

/** `found`: what there was instead, or how often. */
export type Checked = { check: string; ok: boolean; found: string };
