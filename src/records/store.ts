// All that a run writes to omega's home goes through one of these. The first failure ends the writing, and is the only one
// that is told: a home that cannot be written is one trouble, not four.

import { OmegaError, systemCode } from "../errors.ts";
import { omegaHome } from "./home.ts";

const NO_RECORD = "this run leaves no record";

/** Takes secrets and control characters out of a text. */
export type Clean = (text: string) => string;

export type Store = {
  /** What the action gives; undefined if the home cannot be written, now or before. `loss`: what follows from that. */
  attempt<T>(action: () => T, loss?: string): T | undefined;
  /** Something could not be written: from here on nothing is. */
  fail(error: unknown, loss?: string): void;
  /** A trouble that leaves the record whole; told if it is the first. */
  tell(message: string): void;
  isBroken(): boolean;
};

export function openStore(warn: (message: string) => void): Store {
  let isBroken = false;
  let isTold = false;

  function tell(message: string): void {
    if (!isTold) warn(message);
    isTold = true;
  }

  function fail(error: unknown, loss = NO_RECORD): void {
    const cause = error instanceof OmegaError ? error.cause : error;
    const code = systemCode(cause) ?? String(cause);
    isBroken = true;
    tell(`cannot write to ${omegaHome()} (${code}): ${loss}; ${remedy(code)}`);
  }

  return {
    attempt(action, loss) {
      if (isBroken) return undefined;
      try {
        return action();
      } catch (error) {
        if (systemCode(error) === undefined) throw error;
        fail(error, loss);
        return undefined;
      }
    },
    fail,
    tell,
    isBroken: () => isBroken,
  };
}

/** For a run that is to leave nothing. */
export const noStore: Store = {
  attempt: () => undefined,
  fail: () => undefined,
  tell: () => undefined,
  isBroken: () => true,
};

function remedy(code: string): string {
  if (code === "ENOSPC" || code === "EDQUOT") return "free space there, or give OMEGA_HOME a folder that has some";
  return "give OMEGA_HOME a writable folder";
}
