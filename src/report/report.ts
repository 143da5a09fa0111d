// Events → text for people or JSON for programs. stdout carries the answer or the JSON and nothing else.

import type { RunEvent } from "../events.ts";
import { oneLine, plain } from "../terminal.ts";

export const formats = ["text", "json", "stream-json"] as const;
export type Format = (typeof formats)[number];

/** What the report needs to know of a finished run. */
export type Ended = {
  outcome: string;
  reason: string | null;
  hint: string | null;
  turns: number;
  toolCalls: number;
  startedAt: string;
  endedAt: string;
  children: { started: number; survivors: number[] };
};

export type Output = {
  stdout(text: string): void;
  progress(line: string): void;
  warn(line: string): void;
  error(line: string): void;
};

export type Reporter = { event(event: RunEvent): void; end(envelope: Ended): void };

export function createReporter(format: Format, output: Output): Reporter {
  const event = {
    text: (event: RunEvent) => {
      if (event.type === "answer") output.stdout(`${plain(event.text)}\n`);
      else tell(event, output);
    },
    json: (event: RunEvent) => tell(event, output),
    "stream-json": (event: RunEvent) => output.stdout(`${JSON.stringify(event)}\n`),
  }[format];
  return {
    event,
    end(envelope) {
      for (const pid of envelope.children.survivors) output.warn(`process ${pid} could not be ended`);
      if (envelope.reason !== null) tellReason(envelope, output);
      if (envelope.children.started > 0) output.progress(summary(envelope));
      if (format === "json") output.stdout(`${JSON.stringify(envelope, null, 2)}\n`);
      if (format === "stream-json") output.stdout(`${JSON.stringify({ type: "end", ...envelope })}\n`);
    },
  };
}

/** `done in 1.2 s: 2 turns, 3 tool calls; 1 process started, none left`. */
function summary({ outcome, turns, toolCalls, startedAt, endedAt, children }: Ended): string {
  const seconds = ((Date.parse(endedAt) - Date.parse(startedAt)) / 1_000).toFixed(1);
  const left = children.survivors.length === 0 ? "none" : children.survivors.length;
  const processes = `${count(children.started, "process", "processes")} started, ${left} left`;
  return `${outcome} in ${seconds} s: ${count(turns, "turn")}, ${count(toolCalls, "tool call")}; ${processes}`;
}

function count(number: number, one: string, many = `${one}s`): string {
  return `${number} ${number === 1 ? one : many}`;
}

function tellReason({ outcome, reason, hint }: Ended, output: Output): void {
  output.error(`${outcome}: ${plain(reason ?? "")}${hint === null ? "" : `\n${plain(hint).replace(/^/gm, "  ")}`}`);
}

function tell(event: RunEvent, output: Output): void {
  switch (event.type) {
    case "start":
      output.progress(`${event.skill} with ${event.model} (run ${event.run})`);
      break;
    case "server":
      output.progress(
        `server ${event.name} is ready: ${count(event.tools, "tool")}, MCP ${oneLine(event.protocol, 20)}, ${event.readyMs} ms`,
      );
      break;
    case "call":
      output.progress(`turn ${event.turn}: ${oneLine(event.tool, 64)} ${oneLine(event.arguments, 120)}`);
      break;
    case "result":
      output.progress(
        `turn ${event.turn}: ${oneLine(event.tool, 64)} ${event.isError ? "failed" : "answered"} in ${event.ms} ms: ${oneLine(event.text, 120)}`,
      );
      break;
    case "retry":
      output.warn(`${oneLine(event.reason)}; trying again in ${(event.waitMs / 1000).toFixed(1)} s`);
      break;
    case "fallback":
      output.warn(`${oneLine(event.reason)}; going on with ${event.model}`);
      break;
    case "warning":
      output.warn(plain(event.message));
      break;
    case "debug":
      output.progress(plain(event.message));
      break;
  }
}
