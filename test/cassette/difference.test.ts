import { expect, test } from "bun:test";
import { describe, firstDifference } from "../../src/cassette/difference.ts";

const examples: [unknown, unknown, string | undefined][] = [
  [{ a: 1 }, { a: 1 }, undefined],
  [{ a: 1, b: undefined }, { a: 1 }, undefined],
  [undefined, undefined, undefined],
  [{ a: 1 }, { a: 2 }, "at a the tape has 1, the run 2"],
  [{ a: 1 }, {}, "at a the tape has 1, the run nothing"],
  [{}, { a: [1] }, "at a the tape has nothing, the run [1]"],
  [{ a: [1, { b: "x" }] }, { a: [1, { b: "y" }] }, 'at a.1.b the tape has "x", the run "y"'],
  [[1], { 0: 1 }, 'the tape has [1], the run {"0":1}'],
  [null, {}, "the tape has null, the run {}"],
  ["1", 1, 'the tape has "1", the run 1'],
];
for (const [taped, played, told] of examples) {
  test(`${JSON.stringify(taped)} and ${JSON.stringify(played)}: ${told ?? "the same"}`, () => {
    const found = firstDifference(taped, played);
    expect(found && describe(found)).toBe(told as string);
  });
}

test("of long texts the place is shown where they part", () => {
  const found = firstDifference(`${"a".repeat(5_000)}x${"b".repeat(500)}`, `${"a".repeat(5_000)}y`);
  const told = found ? describe(found) : "";
  expect(told).toBe(`the tape has "…${"a".repeat(30)}x${"b".repeat(89)}…", the run "…${"a".repeat(30)}y"`);
});
