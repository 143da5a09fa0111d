import { matchesGlob } from "../permissions/rules.ts";

/** Whether a server's `tools:` names this tool. */
export function isAllowed(globs: readonly string[], tool: string): boolean {
  return globs.some((glob) => matchesGlob(glob, tool));
}
