// The small parts of the live view: numbers, widths, and the arguments of a call.

import { expect, test } from "bun:test";
import { argumentWords } from "../../src/report/call-rows.ts";
import { duration, elapsed, short, size } from "../../src/report/units.ts";
import { cut, widthOf, wrap } from "../../src/report/width.ts";

const numbers: [shown: string, expected: string][] = [
  [duration(0), "0 ms"],
  [duration(999.4), "999 ms"],
  [duration(999.6), "1.0 s"],
  [duration(59_949), "59.9 s"],
  [duration(59_960), "59 s"],
  [duration(60_000), "1 m 00 s"],
  [duration(3_725_000), "1 h 02 m"],
  [elapsed(1_999), "1 s"],
  [size(999), "999 B"],
  [size(1_000), "1.0 KB"],
  [size(99_960), "100 KB"],
  [size(999_499), "999 KB"],
  [size(999_999), "1.0 MB"],
  [size(5e15), "5000000 GB"],
  [short(999), "999"],
  [short(12_449), "12.4k"],
  [short(1_000_000), "1.0M"],
];
test("numbers are short, and round to no odd ones at the borders of their units", () => {
  for (const [shown, expected] of numbers) expect(shown).toBe(expected);
});

test("a text is cut by columns, between whole characters", () => {
  const cases: [string, number, string][] = [
    ["short", 5, "short"],
    ["longer", 5, "long…"],
    ["two words", 5, "two…"],
    ["日本語", 6, "日本語"],
    ["日本語", 5, "日本…"],
    ["日本語", 4, "日…"],
    ["👩‍👩‍👧👩‍👩‍👧", 3, "👩‍👩‍👧…"],
    ["e\u0301e\u0301e\u0301", 2, "e\u0301…"],
    ["x", 0, ""],
  ];
  for (const [text, width, expected] of cases) {
    expect(cut(text, width)).toBe(expected);
    expect(widthOf(cut(text, width))).toBeLessThanOrEqual(width);
  }
});

test("a text is wrapped between words, and within those that are too long", () => {
  expect(wrap("one two  three\n\tfour\n", 8)).toEqual(["one two", "three", "  four", ""]);
  expect(wrap("a verylongword here", 6)).toEqual(["a", "verylo", "ngword", "here"]);
  expect(wrap("日本語日本語", 5)).toEqual(["日本", "語日", "本語"]);
  expect(wrap("日", 1)).toEqual(["日"]);
});

test("arguments are shown as words, and whatever is no object as it is", () => {
  expect(argumentWords('{"path":"a.md","text":"two words","n":3,"list":[1],"o":{"a":null}}')).toBe(
    'path=a.md text="two words" n=3 list=[1] o={"a":null}',
  );
  expect(argumentWords("")).toBe("");
  expect(argumentWords("{broken")).toBe("{broken");
  expect(argumentWords("[1]")).toBe("[1]");
  expect(argumentWords(JSON.stringify({ text: "x".repeat(500) }))).toHaveLength(85);
});
