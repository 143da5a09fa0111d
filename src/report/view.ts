// What a person sees of a run: events → rows that are printed for good, and rows of what goes on now. Pure: it is told the
// time, and knows no terminal.

import type { RunEvent } from "../events.ts";
import { FINISH } from "../events.ts";
import { oneLine, plain } from "../terminal.ts";
import { callRows, runningRow, stoppedRow } from "./call-rows.ts";
import { agentMargin, bad, dim, good, margin, numbered, odd } from "./marks.ts";
import { callOf, follow, interrupt, openProgress, startOf } from "./progress.ts";
import { blank, type Row, type Span } from "./rows.ts";
import { notReadyRow, readyRow, serverName, startingRow } from "./server-rows.ts";
import { statusRow } from "./status-row.ts";
import { count, dollars, duration, short } from "./units.ts";
import { widthOf } from "./width.ts";

export type View = {
  /** What is over now. */
  event(event: RunEvent, now: number): Row[];
  /** What goes on. */
  live(now: number): Row[];
  /** The run is told to end. */
  interrupt(now: number): void;
};

/** Of what is being said, the last lines are shown; of what was said before calls, the first. */
const LIVE_LINES = 5;
const KEPT_LINES = 3;
const MOST_RUNNING = 8;

export function createView({ verbose, startedAt }: { verbose: boolean; startedAt: number }): View {
  const progress = openProgress(startedAt);
  let nameWidth = 0;
  let numberedTurn = 0;

  /** The number of a turn stands before the first of its rows. */
  function ownMargin(): Span {
    const isFirst = numberedTurn !== progress.turn;
    numberedTurn = progress.turn;
    return isFirst ? numbered(progress.turn) : margin;
  }

  const before = (event: { agent?: string }): Span[] =>
    event.agent === undefined ? [ownMargin()] : agentMargin(event.agent, ownMargin());
  /** Servers of the run itself start before there are turns. */
  const beforeServer = ({ agent }: { agent?: string }): Span[] => (agent === undefined ? [] : agentMargin(agent));
  const note = (mark: Span, message: string): Row => ({
    head: progress.turn > 0 ? [ownMargin(), mark] : [mark],
    text: plain(message),
  });

  /** Said before calls, or before another turn: for the last words of a run are its answer, and are not shown twice. */
  function said(): Row[] {
    const text = plain(progress.text)
      .replace(/\n\s*\n/g, "\n")
      .trim();
    return text === "" ? [] : [{ head: [ownMargin()], text, style: "dim", ...(!verbose && { first: KEPT_LINES }) }];
  }

  function over(event: RunEvent, now: number): Row[] {
    const isOwn = event.agent === undefined;
    switch (event.type) {
      case "start":
        return [titleRow(event), blank];
      case "starting":
        nameWidth = Math.max(nameWidth, ...event.servers.map((name) => widthOf(serverName(name))));
        return [];
      case "server":
        return [readyRow(event, beforeServer(event), nameWidth)];
      case "not-ready":
        return [notReadyRow(event.name, beforeServer(event), nameWidth, now - (startOf(progress, event) ?? now))];
      case "turn":
        if (!isOwn) return [];
        return progress.turn === 0 ? [blank] : said();
      case "call":
        return isOwn && event.tool !== FINISH ? said() : [];
      case "result": {
        const call = callOf(progress, event);
        if (!call) return [];
        // What an interruption does to calls is said once, at the end.
        if (progress.isInterrupted && event.isError) return [stoppedRow(call, before(event))];
        return callRows(call, event, before(event), verbose);
      }
      case "usage":
        return verbose ? [{ head: before(event), body: [dim(usageText(event))] }] : [];
      case "retry":
        return [note(odd, `${event.reason}; trying again in ${duration(event.waitMs)}`)];
      case "fallback":
        return [note(odd, `${event.reason}; going on with ${event.model}`)];
      case "limit":
        return [note(odd, `${event.reason}; turn ${event.turn} is the last, to report`)];
      case "check":
        return [checkRow(event)];
      case "answer":
        // No answer to build on: said where people look, not where programs read.
        return isOwn && !event.isGood && event.text.trim() !== "" ? lastWords(event.text) : [];
      case "warning":
        return [note(odd, event.message)];
      case "debug":
        return [note(dim("· "), event.message)];
      case "text":
        return [];
    }
  }

  function goingOn(now: number): Row[] {
    const { starting, running, text, turn } = progress;
    const servers = [...starting.values()].map((each) =>
      startingRow(each, each.agent === undefined ? [] : agentMargin(each.agent), nameWidth, now),
    );
    const speech: Row[] =
      text.trim() === "" ? [] : [{ head: [margin], text: plain(text).trim(), style: "dim", last: LIVE_LINES }];
    const calls = [...running.values()].map((each) =>
      runningRow(each, each.event.agent === undefined ? [margin] : agentMargin(each.event.agent), now),
    );
    const more = calls.length - MOST_RUNNING;
    const rows = [...servers, ...speech, ...calls.slice(0, MOST_RUNNING)];
    if (more > 0) rows.push({ head: [margin], body: [dim(`  and ${count(more, "more call")}`)] });
    const [first] = rows;
    const isFirstOfTurn = numberedTurn !== turn && first?.head?.[0] === margin;
    return isFirstOfTurn
      ? [{ ...first, head: [numbered(turn), ...(first.head ?? []).slice(1)] }, ...rows.slice(1)]
      : rows;
  }

  return {
    event(event, now) {
      const rows = over(event, now);
      follow(progress, event, now);
      return rows;
    },
    live(now) {
      const rows = goingOn(now);
      return [...rows, ...(rows.length > 0 ? [blank] : []), statusRow(progress, now)];
    },
    interrupt: (now) => interrupt(progress, now),
  };
}

function titleRow({ skill, model, run }: Extract<RunEvent, { type: "start" }>): Row {
  return {
    body: [{ text: oneLine(skill), style: "bold" }, dim(`  ${oneLine(model)}`)],
    tail: [dim(`  ${oneLine(run)}`)],
  };
}

function checkRow({ ok, check, found }: Extract<RunEvent, { type: "check" }>): Row {
  return { head: [margin, ok ? good : bad], body: [{ text: oneLine(check) }, dim(`  ${oneLine(found)}`)] };
}

function lastWords(text: string): Row[] {
  return [
    { head: [margin], body: [dim("the model's last words:")] },
    { head: [margin], text: plain(text).trim() },
  ];
}

function usageText({ usage, cost, modelMs }: Extract<RunEvent, { type: "usage" }>): string {
  const { input, cacheRead, cacheWrite, output } = usage;
  const cached = cacheRead > 0 ? ` (${short(cacheRead)} cached)` : "";
  const price = cost ? `, ${dollars(cost)}` : "";
  return `${short(input + cacheRead + cacheWrite)} tokens in${cached}, ${short(output)} out${price}, ${duration(modelMs)} of the model`;
}
