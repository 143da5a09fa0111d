// Durations, sizes and counts as people write them. A duration or a size carries a unit; a bare number is refused with a proposal.

import * as v from "valibot";

const durations: Record<string, number> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };
const sizes: Record<string, number> = { B: 1, KB: 1_000, MB: 1_000_000, GB: 1_000_000_000 };
const counts: Record<string, number> = { "": 1, k: 1_000, M: 1_000_000 };

/** What a timer can wait: with more it rings at once. */
const LONGEST = "596h";

/** `500ms`, `30s`, `10m`, `2h` → milliseconds. */
export const duration = (description: string) =>
  quantity(description, {
    expected: "a duration such as 500ms, 30s, 10m or 2h",
    units: durations,
    usual: "s",
    most: LONGEST,
  });

/** `100KB`, `10MB` → bytes. */
export const size = (description: string) =>
  quantity(description, { expected: "a size such as 100KB or 10MB", units: sizes, usual: "KB" });

/** `500`, `500k`, `2M` → a number. */
export const count = (description: string) => {
  const expected = "a count such as 500 or 500k";
  return v.pipe(
    v.union([v.number(), v.string()], (issue) => unlike(expected, issue.input)),
    v.check(
      (value) => parseQuantity(String(value), counts) !== undefined,
      (issue) => unlike(expected, issue.input),
    ),
    v.description(description),
    v.transform((value) => parseQuantity(String(value), counts) ?? 0),
  );
};

type Quantity = { expected: string; units: Record<string, number>; usual: string; most?: string };

function quantity(description: string, { expected, units, usual, most }: Quantity) {
  const inUnits = (text: string) => parseQuantity(text, units) ?? 0;
  const message = ({ input }: { input: unknown }) => {
    const isBare = typeof input === "number" || (typeof input === "string" && /^\d+(\.\d+)?$/.test(input));
    return `${unlike(expected, input)}${isBare ? `; did you mean ${input}${usual}?` : ""}`;
  };
  return v.pipe(
    v.string(message),
    v.regex(new RegExp(`^\\d+(\\.\\d+)?(${Object.keys(units).join("|")})$`), message),
    v.check(
      (text) => most === undefined || inUnits(text) <= inUnits(most),
      ({ input }) => unlike(`at most ${most}`, input),
    ),
    v.description(description),
    v.transform(inUnits),
  );
}

function parseQuantity(text: string, units: Record<string, number>): number | undefined {
  const [, digits, unit = ""] = /^(\d+(?:\.\d+)?)([A-Za-z]*)$/.exec(text) ?? [];
  const factor = Object.hasOwn(units, unit) ? units[unit] : undefined;
  return digits === undefined || factor === undefined ? undefined : Math.round(Number(digits) * factor);
}

/** `expected …, got …`, the value in a few words. */
export function unlike(expected: string, input: unknown): string {
  return `expected ${expected}, got ${inWords(input)}`;
}

export function inWords(input: unknown): string {
  if (input === null || input === undefined) return "nothing";
  if (Array.isArray(input)) return "a list";
  if (typeof input === "object") return "a map";
  const text = JSON.stringify(input) ?? String(input);
  return text.length > 60 ? `${text.slice(0, 59)}…` : text;
}
