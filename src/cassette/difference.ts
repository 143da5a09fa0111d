// Where two values first differ, in words.

export type Difference = { path: string; taped: unknown; played: unknown };

export function firstDifference(taped: unknown, played: unknown, path = ""): Difference | undefined {
  if (Object.is(taped, played)) return undefined;
  if (!isTree(taped) || !isTree(played) || Array.isArray(taped) !== Array.isArray(played))
    return { path, taped, played };
  for (const key of new Set([...Object.keys(taped), ...Object.keys(played)])) {
    const found = firstDifference(
      Reflect.get(taped, key),
      Reflect.get(played, key),
      path === "" ? key : `${path}.${key}`,
    );
    if (found) return found;
  }
  return undefined;
}

/** `at messages.0.text the tape has "a", the run "b"`. */
export function describe({ path, taped, played }: Difference): string {
  return `${path === "" ? "" : `at ${path} `}the tape has ${inShort(taped, played)}, the run ${inShort(played, taped)}`;
}

const AROUND = 30;
const LONGEST = 120;

/** Of long texts the place where they part. */
function inShort(value: unknown, other: unknown): string {
  if (value === undefined) return "nothing";
  if (typeof value !== "string" || typeof other !== "string") return JSON.stringify(value).slice(0, LONGEST);
  let at = 0;
  while (at < value.length && value[at] === other[at]) at++;
  const from = Math.max(0, at - AROUND);
  const shown = value.slice(from, from + LONGEST);
  return JSON.stringify(`${from > 0 ? "…" : ""}${shown}${from + LONGEST < value.length ? "…" : ""}`);
}

function isTree(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}
