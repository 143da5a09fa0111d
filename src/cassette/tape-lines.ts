// What can be told of the lines of a tape without playing it: who was asked, in which order, with which tools.

import type { Ask, Placed, Tape } from "./tape.ts";

/** Those that are just alike were answered in this order, and asked in the one that is told: line → rank. */
export function askingOrder(lines: readonly Placed<"method">[]): Map<number, number> {
  const alike = Map.groupBy(lines, ({ value: { server, method, params } }) => JSON.stringify([server, method, params]));
  const ranks = new Map<number, number>();
  for (const group of alike.values()) {
    const open = group.map((_, index) => index);
    for (const { line, value } of group) ranks.set(line, open.splice(value.overtook ?? 0, 1)[0] ?? group.length);
  }
  return ranks;
}

/** Those of each line, told or not. */
export function offeredTools(lines: readonly Placed<"ask">[]): Map<number, string[]> {
  const known = new Map<string | undefined, string[]>();
  const offered = new Map<number, string[]>();
  for (const { line, value } of lines) {
    const { agent, tools = known.get(agent) ?? [] } = value.ask;
    known.set(agent, tools);
    offered.set(line, tools);
  }
  return offered;
}

/** Of an ask all but who it was, and what it was offered. */
export function words({ agent: _, tools: __, ...rest }: Ask): object {
  return rest;
}

export function byLine<T extends { line: number }>(placed: readonly T[]): T[] {
  return [...placed].sort((a, b) => a.line - b.line);
}

export function headLine({ source }: Tape): number {
  return source.findIndex((text) => text.trim() !== "") + 1;
}

export function lastLine({ source }: Tape): number {
  return source.findLastIndex((text) => text.trim() !== "") + 1;
}

export function voiceOf({ agent }: Ask): string {
  return agent === undefined ? "the model" : `sub-agent ${agent}`;
}

/** `tools/call echo`. */
export function nameOf({ method, params }: { method: string; params?: unknown }): string {
  const { name, uri } = (typeof params === "object" && params !== null ? params : {}) as Record<string, unknown>;
  const what = [name, uri].find((each) => typeof each === "string");
  return what === undefined ? method : `${method} ${what}`;
}
