// A run as plain lines: in a pipe, a log, a terminal that can do no more.

import type { RunEvent } from "../events.ts";
import { oneLine, plain } from "../terminal.ts";
import { type Ended, refusals } from "./ended.ts";
import type { Screen } from "./screen.ts";
import { count } from "./units.ts";

export type Output = {
  progress(line: string): void;
  warn(line: string): void;
  error(line: string): void;
};

export function plainScreen(output: Output): Screen {
  const waiting: (() => void)[] = [];
  let isHeld = false;
  const held = (say: (line: string) => void) => (line: string) => {
    if (isHeld) waiting.push(() => say(line));
    else say(line);
  };
  const out = { progress: held(output.progress), warn: held(output.warn), error: held(output.error) };
  return {
    event: (event) => tell(event, out),
    end: (envelope) => tellEnd(envelope, out),
    aside: (write) => write(),
    hold() {
      out.progress("");
      isHeld = true;
    },
    release() {
      isHeld = false;
      for (const say of waiting.splice(0)) say();
    },
    [Symbol.dispose]: () => undefined,
  };
}

function tellEnd(envelope: Ended, output: Output): void {
  const { outcome, exitCode, reason, hint, children, record } = envelope;
  for (const pid of children.survivors) output.warn(`process ${pid} could not be ended`);
  for (const line of refusals(envelope)) output.warn(`refused: ${line}`);
  if (reason !== null) {
    const say = exitCode === 0 ? output.progress : output.error;
    say(`${outcome}: ${plain(reason)}${hint === null ? "" : `\n${plain(hint).replace(/^/gm, "  ")}`}`);
  }
  if (children.started > 0) output.progress(summary(envelope));
  if (record !== null) output.progress(`record: ${plain(record)}`);
}

/** `done in 1.2 s: 2 turns, 3 tool calls; 1 process started, none left`. */
function summary({ outcome, turns, toolCalls, startedAt, endedAt, children, cost }: Ended): string {
  const seconds = ((Date.parse(endedAt) - Date.parse(startedAt)) / 1_000).toFixed(1);
  const price = cost ? `, $${cost.toFixed(4)}` : "";
  const left = children.survivors.length === 0 ? "none" : children.survivors.length;
  const processes = `${count(children.started, "process", "processes")} started, ${left} left`;
  return `${outcome} in ${seconds} s: ${count(turns, "turn")}, ${count(toolCalls, "tool call")}${price}; ${processes}`;
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
