// The time of a run: `work` ends a little before `end`, so that a run that is cut off can still say how far it came.

import { OmegaError } from "../errors.ts";

const REPORT_MS = 30_000;
/** Of a short time a fifth is left for the report. */
const REPORT_SHARE = 1 / 5;

export type Clock = { work: AbortSignal; workUntil: number; end: AbortSignal; endsAt: number };

export function startClock(ms: number, outer: AbortSignal): Clock & Disposable {
  const workMs = ms - Math.min(REPORT_MS, ms * REPORT_SHARE);
  const end = abortAfter(ms, () => reached(ms));
  const work = abortAfter(workMs, () => reached(ms));
  const now = Date.now();
  return {
    ...signals(outer, work.controller, end.controller),
    workUntil: now + workMs,
    endsAt: now + ms,
    [Symbol.dispose]() {
      clearTimeout(end.timer);
      clearTimeout(work.timer);
    },
  };
}

/** A clock that stands still until it is told that the time of its first or its second part is up. */
export type PlayedClock = Clock & { isReason(error: OmegaError): boolean; runOut(reason: OmegaError): void };

export function playClock(ms: number, outer: AbortSignal): PlayedClock {
  const work = new AbortController();
  const end = new AbortController();
  return {
    ...signals(outer, work, end),
    workUntil: Number.POSITIVE_INFINITY,
    endsAt: Number.POSITIVE_INFINITY,
    isReason: ({ message }) => message === reached(ms).message,
    runOut(reason) {
      const isOver = work.signal.aborted || reason.code === "INTERRUPTED";
      (isOver ? end : work).abort(reason);
    },
  };
}

/** For what runs within a run: it must be over when the run above has to report. */
export function within({ work, workUntil }: Clock): Clock {
  return { work, workUntil, end: work, endsAt: workUntil };
}

function signals(outer: AbortSignal, work: AbortController, end: AbortController): Pick<Clock, "work" | "end"> {
  const endSignal = AbortSignal.any([outer, end.signal]);
  return { work: AbortSignal.any([endSignal, work.signal]), end: endSignal };
}

function reached(ms: number): OmegaError {
  return new OmegaError("LIMIT_TIME", `the limit of ${ms / 1000} s was reached`, { hint: "raise limits.time" });
}

function abortAfter(ms: number, reason: () => OmegaError) {
  const controller = new AbortController();
  return { controller, timer: setTimeout(() => controller.abort(reason()), ms) };
}
