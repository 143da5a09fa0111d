// Another run of this manifest is on: skip, wait, fail, or let both work. Told by a lock that the kernel frees.

import { setTimeout as sleep } from "node:timers/promises";
import { OmegaError } from "../errors.ts";
import type { RunEvent } from "../events.ts";
import type { Skill } from "../manifest/skill.ts";
import { type Lock, tryLock } from "../records/lock.ts";

const LOOK_AGAIN_MS = 200;

/** The lock of this run; undefined where runs may overlap. Waits at most as long as a run may take. */
export async function* takeLock(
  { overlap, name, limits }: Skill,
  file: string,
  signal: AbortSignal,
): AsyncGenerator<RunEvent, Lock | undefined> {
  if (overlap === "allow") return undefined;
  let lock = await lockOrRefuse(file);
  if (lock) return lock;
  const message = `another run of ${name} is on`;
  if (overlap === "skip") throw new OmegaError("OVERLAP_SKIPPED", `${message}: nothing was done`);
  if (overlap === "wait") {
    yield { type: "warning", message: `${message}; waiting for its end` };
    for (const until = Date.now() + limits.time; !lock && Date.now() < until; lock = await lockOrRefuse(file)) {
      await sleep(LOOK_AGAIN_MS, undefined, { signal }).catch((error: unknown) => {
        signal.throwIfAborted();
        throw error;
      });
    }
  }
  if (lock) return lock;
  throw new OmegaError("OVERLAP", message, { hint: "try again when it has ended; `overlap: wait` waits for it" });
}

async function lockOrRefuse(file: string): Promise<Lock | undefined> {
  return await tryLock(file).catch((cause: unknown) => {
    throw new OmegaError("HOME_NEEDED", `overlap: whether another run is on cannot be told: ${cause}`, {
      hint: "give OMEGA_HOME a writable folder, or say `overlap: allow`",
      cause,
    });
  });
}
