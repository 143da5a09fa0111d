/** The paths at which two JSON values differ: `messages.0.content`. */
export function differences(ours: unknown, theirs: unknown, path = ""): string[] {
  if (isTree(ours) && isTree(theirs) && Array.isArray(ours) === Array.isArray(theirs)) {
    const keys = new Set([...Object.keys(ours), ...Object.keys(theirs)]);
    return [...keys].flatMap((key) => differences(ours[key], theirs[key], path === "" ? key : `${path}.${key}`));
  }
  return Object.is(ours, theirs) ? [] : [path];
}

const isTree = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null;

/** Those that no pattern explains. */
export function unexplained(paths: readonly string[], explained: readonly (readonly [RegExp, string])[]): string[] {
  return paths.filter((path) => !explained.some(([pattern]) => pattern.test(path)));
}
