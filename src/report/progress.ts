// What goes on in a run at this moment, kept up to date by its events: what it waits for, what is being said, what it has cost.

import { addUsage, noUsage, type Usage } from "../conversation.ts";
import { FINISH, type RunEvent } from "../events.ts";

export type CallEvent = Extract<RunEvent, { type: "call" }>;
export type Starting = { name: string; agent: string | undefined; since: number };
export type Running = { event: CallEvent; since: number };

export type Progress = {
  startedAt: number;
  starting: Map<string, Starting>;
  running: Map<string, Running>;
  /** What the run's own model has said in this turn, and nobody has been shown for good. */
  text: string;
  /** 0 before the first; turns of sub-agents are not counted. */
  turn: number;
  isLastTurn: boolean;
  usage: Usage;
  /** US dollars; null if unknown. */
  cost: number | null;
  doing: string;
  since: number;
  isInterrupted: boolean;
};

export function openProgress(startedAt: number): Progress {
  return {
    ...{ startedAt, starting: new Map(), running: new Map(), text: "", turn: 0, isLastTurn: false },
    ...{ usage: noUsage, cost: 0, doing: "getting ready", since: startedAt, isInterrupted: false },
  };
}

export function follow(progress: Progress, event: RunEvent, now: number): void {
  const { starting, running } = progress;
  switch (event.type) {
    case "starting":
      for (const name of event.servers) {
        starting.set(keyOf(event.agent, name), { name, agent: event.agent, since: now });
      }
      break;
    case "server":
    case "not-ready":
      starting.delete(keyOf(event.agent, event.name));
      break;
    case "call":
      if (event.tool !== FINISH) running.set(callKey(event), { event, since: now });
      break;
    case "result":
      running.delete(callKey(event));
      break;
    case "usage":
      progress.usage = addUsage(progress.usage, event.usage);
      progress.cost = progress.cost === null || event.cost === null ? null : progress.cost + event.cost;
      break;
  }
  if (event.agent === undefined) followOwn(progress, event, now);
}

/** Nothing that comes after it is what the run does of its own will. */
export function interrupt(progress: Progress, now: number): void {
  change(progress, "interrupted: ending what was started", now);
  progress.isInterrupted = true;
}

export const startOf = ({ starting }: Progress, { agent, name }: { agent?: string; name: string }) =>
  starting.get(keyOf(agent, name))?.since;
export const callOf = ({ running }: Progress, result: { agent?: string; turn: number; id: string }) =>
  running.get(callKey(result));

function followOwn(progress: Progress, event: RunEvent, now: number): void {
  switch (event.type) {
    case "starting":
      change(progress, "starting the servers", now);
      break;
    case "turn":
      progress.turn = event.turn;
      progress.text = "";
      change(progress, "waiting for the model", now);
      break;
    case "text":
      progress.text += event.text;
      change(progress, "the model writes", now);
      break;
    case "call":
      if (event.tool !== FINISH) progress.text = "";
      break;
    case "retry":
    case "fallback":
      progress.text = "";
      change(progress, event.type === "retry" ? "waiting to try again" : "waiting for the model", now);
      break;
    case "limit":
      progress.isLastTurn = true;
      break;
    case "usage":
      change(progress, "looking at the answer", now);
      break;
    case "check":
      change(progress, "checking the work", now);
      break;
    case "answer":
      progress.text = "";
      change(progress, "ending what was started", now);
      break;
  }
}

function change(progress: Progress, doing: string, now: number): void {
  if (progress.isInterrupted || progress.doing === doing) return;
  progress.doing = doing;
  progress.since = now;
}

const keyOf = (...parts: (string | number | undefined)[]) => JSON.stringify(parts);
const callKey = ({ agent, turn, id }: { agent?: string; turn: number; id: string }) => keyOf(agent, turn, id);
