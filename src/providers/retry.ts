// When to ask again: jittered back-off, or what the provider says; never past the end of the run.

import { setTimeout as sleep } from "node:timers/promises";
import { ApiError } from "./failures.ts";

export type Backoff = { retries: number; firstMs: number; maxMs: number };

export const usualBackoff: Backoff = { retries: 4, firstMs: 500, maxMs: 8_000 };

/** How long to wait before the next try, or undefined if there is none. */
export function waitBeforeRetry(
  error: ApiError,
  retry: number,
  { retries, firstMs, maxMs }: Backoff,
): number | undefined {
  if (!error.retry || retry >= retries) return undefined;
  return error.retryAfterMs ?? Math.round(Math.min(maxMs, firstMs * 2 ** retry) * (1 - Math.random() / 4));
}

/** The same failure, for a run that ends before the wait would. */
export function pastDeadline(error: ApiError, waitMs: number): ApiError {
  const wait = `${error.message}; waiting ${Math.ceil(waitMs / 1000)} s would pass the run's time limit`;
  return new ApiError(error.kind, wait, { cause: error, retryAfterMs: waitMs });
}

export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  try {
    await sleep(ms, undefined, { signal });
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  }
}
