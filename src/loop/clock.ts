// The time of a run: `work` ends a little before `end`, so that a run that is cut off can still say how far it came.

import { OmegaError } from "../errors.ts";

const REPORT_MS = 30_000;
/** Of a short time a fifth is left for the report. */
const REPORT_SHARE = 1 / 5;

export type Clock = { work: AbortSignal; workUntil: number; end: AbortSignal; endsAt: number };

export function startClock(ms: number, outer: AbortSignal): Clock & Disposable {
  const workMs = ms - Math.min(REPORT_MS, ms * REPORT_SHARE);
  const reached = () =>
    new OmegaError("LIMIT_TIME", `the limit of ${ms / 1000} s was reached`, { hint: "raise limits.time" });
  const end = abortAfter(ms, reached);
  const work = abortAfter(workMs, reached);
  const now = Date.now();
  const endSignal = AbortSignal.any([outer, end.signal]);
  return {
    work: AbortSignal.any([endSignal, work.signal]),
    workUntil: now + workMs,
    end: endSignal,
    endsAt: now + ms,
    [Symbol.dispose]() {
      clearTimeout(end.timer);
      clearTimeout(work.timer);
    },
  };
}

/** For what runs within a run: it must be over when the run above has to report. */
export function within({ work, workUntil }: Clock): Clock {
  return { work, workUntil, end: work, endsAt: workUntil };
}

function abortAfter(ms: number, reason: () => OmegaError) {
  const controller = new AbortController();
  return { signal: controller.signal, timer: setTimeout(() => controller.abort(reason()), ms) };
}
