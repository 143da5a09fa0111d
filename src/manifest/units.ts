// Durations and sizes carry a unit; a bare number is refused with a proposal.

import * as v from "valibot";

const durations: Record<string, number> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };
const sizes: Record<string, number> = { B: 1, KB: 1_000, MB: 1_000_000, GB: 1_000_000_000 };

/** `500ms`, `30s`, `10m`, `2h` → milliseconds. */
export const Duration = quantity("a duration such as 500ms, 30s, 10m or 2h", durations, "s");

/** `100KB`, `10MB` → bytes. */
export const Size = quantity("a size such as 100KB or 10MB", sizes, "KB");

function quantity(expected: string, units: Record<string, number>, usual: string) {
  return v.pipe(
    v.union([v.string(), v.number()], `expected ${expected}`),
    v.rawTransform(({ dataset, addIssue, NEVER }) => {
      const text = String(dataset.value);
      const [, digits, unit] = /^(\d+(?:\.\d+)?)([A-Za-z]*)$/.exec(text) ?? [];
      const factor = unit === undefined ? undefined : units[unit];
      if (digits === undefined || factor === undefined) {
        const proposal = unit === "" ? `; did you mean ${digits}${usual}?` : "";
        addIssue({ message: `expected ${expected}, got ${text}${proposal}` });
        return NEVER;
      }
      return Number(digits) * factor;
    }),
  );
}
