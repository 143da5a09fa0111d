// Events → text for people or JSON for programs. stdout carries the answer or the JSON and nothing else.

import type { RunEvent } from "../events.ts";
import { groundOf } from "../permissions/rules.ts";
import { jsonLine, jsonText, oneLine, plain } from "../terminal.ts";

export const formats = ["text", "json", "stream-json"] as const;
export type Format = (typeof formats)[number];

/** What the report needs to know of a finished run. */
export type Ended = {
  outcome: string;
  exitCode: number;
  reason: string | null;
  hint: string | null;
  turns: number;
  toolCalls: number;
  startedAt: string;
  endedAt: string;
  cost: number | null;
  denials: readonly { tool: string; by: string }[];
  children: { started: number; survivors: number[] };
  record: string | null;
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
      const isAnswer = event.type === "answer" && event.isGood && event.agent === undefined;
      if (isAnswer) output.stdout(`${plain(answerText(event))}\n`);
      else tell(event, output);
    },
    json: (event: RunEvent) => tell(event, output),
    "stream-json": (event: RunEvent) => output.stdout(`${jsonLine(event)}\n`),
  }[format];
  return {
    event,
    end(envelope) {
      for (const pid of envelope.children.survivors) output.warn(`process ${pid} could not be ended`);
      for (const line of denialLines(envelope)) output.warn(line);
      if (envelope.reason !== null) tellReason(envelope, output);
      if (envelope.children.started > 0) output.progress(summary(envelope));
      if (envelope.record !== null) output.progress(`record: ${plain(envelope.record)}`);
      if (format === "json") output.stdout(`${jsonText(envelope)}\n`);
      if (format === "stream-json") output.stdout(`${jsonLine({ type: "end", ...envelope })}\n`);
    },
  };
}

/** What is printed: data where there is any, else the text. */
function answerText({ text, output }: { text: string; output?: unknown }): string {
  return output === undefined ? text : JSON.stringify(output, null, 2);
}

/** `refused: 2 calls of git/push (by permissions[0])`. */
function denialLines({ denials }: Ended): string[] {
  const counts = new Map<string, number>();
  for (const { tool, by } of denials) {
    const what = `${oneLine(tool, 100)} (${oneLine(groundOf(by), 100)})`;
    counts.set(what, (counts.get(what) ?? 0) + 1);
  }
  return [...counts].map(([what, times]) => `refused: ${count(times, "call")} of ${what}`);
}

/** `done in 1.2 s: 2 turns, 3 tool calls; 1 process started, none left`. */
function summary({ outcome, turns, toolCalls, startedAt, endedAt, children, cost }: Ended): string {
  const seconds = ((Date.parse(endedAt) - Date.parse(startedAt)) / 1_000).toFixed(1);
  const price = cost ? `, $${cost.toFixed(4)}` : "";
  const left = children.survivors.length === 0 ? "none" : children.survivors.length;
  const processes = `${count(children.started, "process", "processes")} started, ${left} left`;
  return `${outcome} in ${seconds} s: ${count(turns, "turn")}, ${count(toolCalls, "tool call")}${price}; ${processes}`;
}

function count(number: number, one: string, many = `${one}s`): string {
  return `${number} ${number === 1 ? one : many}`;
}

function tellReason({ outcome, exitCode, reason, hint }: Ended, output: Output): void {
  const say = exitCode === 0 ? output.progress : output.error;
  say(`${outcome}: ${plain(reason ?? "")}${hint === null ? "" : `\n${plain(hint).replace(/^/gm, "  ")}`}`);
}

function tell(event: RunEvent, output: Output): void {
  const who = event.agent === undefined ? "" : `agent ${event.agent}, `;
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
      output.progress(`${who}turn ${event.turn}: ${oneLine(event.tool, 64)} ${oneLine(event.arguments, 120)}`);
      break;
    case "result": {
      const how = event.denied ? "was refused" : event.isError ? "failed" : "answered";
      const what = `${oneLine(event.tool, 64)} ${how} in ${event.ms} ms: ${oneLine(event.text, 120)}`;
      output.progress(`${who}turn ${event.turn}: ${what}`);
      break;
    }
    case "limit":
      output.warn(`${who}${oneLine(event.reason)}; turn ${event.turn} is the last, to report`);
      break;
    case "check":
      if (event.ok) output.progress(`check holds: ${oneLine(event.check)} (${oneLine(event.found)})`);
      else output.warn(`check does not hold: ${oneLine(event.check)} (${oneLine(event.found)})`);
      break;
    case "answer":
      // No answer to build on: said where people look, not where programs read.
      if (!event.isGood && event.agent === undefined && event.text.trim() !== "")
        output.progress(`the model's last words: ${plain(event.text)}`);
      break;
    case "retry":
      output.warn(`${who}${oneLine(event.reason)}; trying again in ${(event.waitMs / 1000).toFixed(1)} s`);
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
