// The last row while a run goes on: what it does, since when, and what it has cost so far.

import { totalOf } from "../loop/budget.ts";
import { nameOf } from "./call-rows.ts";
import { dim, spinner } from "./marks.ts";
import type { Progress } from "./progress.ts";
import type { Row, Span } from "./rows.ts";
import { dollars, elapsed, short } from "./units.ts";

/** Before that it is nothing to wonder about. */
const WONDERED_AFTER_MS = 2_000;

export function statusRow(progress: Progress, now: number): Row {
  const { turn, usage, cost, startedAt, isLastTurn } = progress;
  const tokens = totalOf(usage);
  const items: Span[] = [
    ...(turn > 0 ? [dim(` · turn ${turn}`)] : []),
    ...(isLastTurn ? [{ text: ", the last", style: "odd" as const }] : []),
    ...(tokens > 0 ? [dim(` · ${short(tokens)} tokens`)] : []),
    ...(cost ? [dim(` · ${dollars(cost)}`)] : []),
  ];
  const body = [{ text: doingNow(progress, now) }, ...items];
  return { head: [spinner(now)], body, tail: [dim(elapsed(now - startedAt).padStart(10))], inParts: true };
}

function doingNow({ doing, since, running, isInterrupted }: Progress, now: number): string {
  if (isInterrupted) return `${doing} (Ctrl-C: at once)`;
  const names = new Set([...running.values()].map(({ event }) => nameOf(event)));
  if (running.size > 0) return names.size === 1 ? `calling ${[...names]}` : `calling ${running.size} tools`;
  return now - since < WONDERED_AFTER_MS ? doing : `${doing}, ${elapsed(now - since)}`;
}
