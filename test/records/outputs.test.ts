// Kept outputs are read page by page, and a character is never cut.

import { expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { type Outputs, openOutputs } from "../../src/records/outputs.ts";
import { temporaryHome } from "../support/homes.ts";

const text = "aäö€😀 and more: äöü€😀".repeat(7);
const total = Buffer.byteLength(text);

function keep(home: ReturnType<typeof temporaryHome>): Outputs {
  const outputs = openOutputs(home.file("outputs"), { redact: (text) => text, store: home.store });
  expect(outputs.keep(text)).toBe("1");
  return outputs;
}

test("pages of any length, one after the other, are the whole text", () => {
  using home = temporaryHome();
  const outputs = keep(home);
  for (let length = 1; length < 40; length++) {
    let read = "";
    for (let offset: number | undefined = 0; offset !== undefined; ) {
      const page = outputs.read("1", offset, length);
      expect(page?.total).toBe(total);
      expect(Buffer.byteLength(page!.text)).toBeLessThanOrEqual(Math.max(length, 4));
      read += page!.text;
      offset = page!.next;
    }
    expect(read).toBe(text);
  }
});

test("a page that begins within a character begins with that character", () => {
  using home = temporaryHome();
  const outputs = keep(home);
  for (let offset = 0; offset <= total; offset++) {
    const page = outputs.read("1", offset, 9);
    expect(text).toContain(page!.text);
    expect(page!.text).not.toContain("\ufffd");
  }
  expect(outputs.read("1", 2, 2)).toEqual({ text: "ä", total, next: 3 });
});

test("beyond the end there is nothing, before the beginning is the beginning", () => {
  using home = temporaryHome();
  const outputs = keep(home);
  expect(outputs.read("1", total, 10)).toEqual({ text: "", total, next: undefined });
  expect(outputs.read("1", 1e12, 1e12)).toEqual({ text: "", total, next: undefined });
  expect(outputs.read("1", -5, 1)).toEqual({ text: "a", total, next: 1 });
  expect(outputs.read("1", 0, 1e12)).toEqual({ text, total, next: undefined });
});

test("only what this run has kept can be read", () => {
  using home = temporaryHome({ "outputs/2.txt": "another's", "secret.txt": "x" });
  const outputs = keep(home);
  for (const id of ["2", "0", "01", "", "../secret", "1.txt", "NaN"]) expect(outputs.read(id, 0, 10)).toBeUndefined();
  rmSync(home.file("outputs/1.txt"));
  expect(outputs.read("1", 0, 10)).toBeUndefined();
});

test("an empty output is kept and read", () => {
  using home = temporaryHome();
  const outputs = openOutputs(home.file("outputs"), { redact: () => "", store: home.store });
  expect(outputs.keep("all of it secret")).toBe("1");
  expect(outputs.read("1", 0, 10)).toEqual({ text: "", total: 0, next: undefined });
});
