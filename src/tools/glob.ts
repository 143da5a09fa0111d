/** `*` matches anything; all else is itself. */
export function globToRegExp(glob: string): RegExp {
  const pattern = glob.split("*").map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  return new RegExp(`^${pattern.join(".*")}$`, "s");
}
