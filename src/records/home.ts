import { homedir } from "node:os";
import { join, resolve } from "node:path";

/** Where omega keeps what outlives a run: `$OMEGA_HOME`, else `$XDG_STATE_HOME/omega`, else `~/.local/state/omega`. */
export function omegaHome(): string {
  const { OMEGA_HOME, XDG_STATE_HOME } = process.env;
  if (OMEGA_HOME) return resolve(OMEGA_HOME);
  return resolve(XDG_STATE_HOME || join(homedir(), ".local/state"), "omega");
}
