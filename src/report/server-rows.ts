// A server as a row: while it starts, when it is ready, when it is known not to become so.

import type { RunEvent } from "../events.ts";
import { MODERN } from "../mcp/revisions.ts";
import { oneLine } from "../terminal.ts";
import { bad, dim, good, measures, spinner } from "./marks.ts";
import type { Starting } from "./progress.ts";
import type { Row, Span } from "./rows.ts";
import { count, duration, elapsed } from "./units.ts";
import { widthOf } from "./width.ts";

const LONGEST_NAME = 40;

export const serverName = (name: string) => oneLine(name, LONGEST_NAME);

/** `width`: of the longest name, so that what is said of each stands in a column. */
export function startingRow({ name, since }: Starting, head: Span[], width: number, now: number): Row {
  const time = now - since < 1_000 ? "" : elapsed(now - since);
  return { head: [...head, spinner(now)], body: [padded(name, width), dim("  starting")], tail: measures(time) };
}

export function readyRow(event: Extract<RunEvent, { type: "server" }>, head: Span[], width: number): Row {
  const { name, protocol, tools, readyMs } = event;
  const body = [padded(name, width), dim(`  ${count(tools, "tool").padEnd(8)}  ${spoken(protocol)}`)];
  return { head: [...head, good], body, tail: measures(duration(readyMs)) };
}

export function notReadyRow(name: string, head: Span[], width: number, ms: number): Row {
  const body: Span[] = [padded(name, width), { text: "  not ready", style: "bad" }];
  return { head: [...head, bad], body, tail: measures(duration(ms)) };
}

function padded(name: string, width: number): Span {
  const shown = serverName(name);
  return { text: shown + " ".repeat(Math.max(0, width - widthOf(shown))) };
}

function spoken(protocol: string): string {
  if (protocol === "bare") return "no MCP handshake";
  return `MCP ${oneLine(protocol, 20)}${MODERN.some((revision) => revision === protocol) ? ", modern" : ", legacy"}`;
}
