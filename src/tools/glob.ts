/** `*` matches anything; all else is itself. */
export function globToRegExp(glob: string): RegExp {
  const pattern = glob.split("*").map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  return new RegExp(`^${pattern.join(".*")}$`, "s");
}

/** Whether a server's `tools:` names this tool. */
export function isAllowed(globs: readonly string[], tool: string): boolean {
  return globs.some((glob) => globToRegExp(glob).test(tool));
}
