// Text and JSON of strangers, made fit for a terminal and for a log.

import { expect, test } from "bun:test";
import { jsonLine, jsonText, oneLine, plain } from "../src/terminal.ts";

const nasty = "a\x1b[31mred\x1b[0m\x07\x9b2J\u202etxet\u2066\u{e0041}\x7f\0z";
const odd = 'tab\tline\nreturn\rquote"back\\slash\u2028\u2029 \u{1f600} \ud800 日本語';

test("no control character, direction override or tag reaches a terminal, whatever prints it", () => {
  const controls = /[\0-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]|[\u{e0000}-\u{e007f}]/u;
  for (const text of [plain(nasty), oneLine(nasty), jsonText([nasty]), jsonLine([nasty]), jsonLine({ [nasty]: 1 })]) {
    expect(text).not.toMatch(controls);
  }
  expect(plain(nasty)).toBe("aredtxetz");
});

test("JSON for a terminal is the same data: nothing is taken away", () => {
  const value = { [nasty]: [nasty, odd, 1.5, null, true], "": { deep: [[]] } };
  expect(JSON.parse(jsonText(value))).toEqual(value);
  expect(JSON.parse(jsonLine(value))).toEqual(value);
  expect(jsonText({ a: [1] })).toBe('{\n  "a": [\n    1\n  ]\n}');
  expect(jsonLine({ a: [1, "日本語"] })).toBe('{"a":[1,"日本語"]}');
});

test("a JSON line is one line, for every notion of a line", () => {
  expect(jsonLine({ [odd]: odd }).split(/[\n\r\v\f\x85\u2028\u2029]/)).toHaveLength(1);
});

test("what JSON does not know is null", () => {
  expect([jsonLine(undefined), jsonText(undefined)]).toEqual(["null", "null"]);
});

test("a label is one line and says where it was cut", () => {
  expect(oneLine("a\n b\u200b\tc")).toBe("a b c");
  expect(oneLine("x".repeat(300), 10)).toBe("xxxxxxxxx…");
  expect(oneLine(`${" ".repeat(38)}secret`, 10)).toBe("se…");
});
