import { homedir } from "node:os";
import { join, resolve } from "node:path";

/** Where omega keeps what outlives a run: `$OMEGA_HOME`, else `$XDG_STATE_HOME/omega`, else `~/.local/state/omega`. */
export function omegaHome(): string {
  const { OMEGA_HOME, XDG_STATE_HOME } = process.env;
  if (OMEGA_HOME) return resolve(OMEGA_HOME);
  return resolve(XDG_STATE_HOME || join(homedir(), ".local/state"), "omega");
}

/** `20260901-060000-0a1b2c3d`: when it started, in UTC, and a word. */
export function isRunId(name: string): boolean {
  return /^\d{8}-\d{6}-[0-9a-f]{8}$/.test(name);
}

export const runsFolder = () => join(omegaHome(), "runs");
export const runFolder = (id: string) => join(runsFolder(), id);
export const auditFolder = () => join(omegaHome(), "audit");
