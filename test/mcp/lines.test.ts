import { expect, test } from "bun:test";
import { Readable } from "node:stream";
import { readLines } from "../../src/mcp/lines.ts";
import { parseLine } from "../../src/mcp/parse-line.ts";

function read(chunks: (string | Uint8Array)[], maxBytes = 1_000): Promise<string[]> {
  const lines: string[] = [];
  return new Promise((resolve) =>
    readLines(Readable.from(chunks.map((chunk) => Buffer.from(chunk as string))), {
      maxBytes,
      onLine: (line) => lines.push(line),
      onTooLong: () => lines.push("TOO LONG"),
      onEnd: () => resolve(lines),
    }),
  );
}

test("lines come whole, however they are cut, mid-character too", async () => {
  const bytes = Buffer.from("é€😀\nsecond\n");
  expect(await read([...bytes].map((byte) => Uint8Array.of(byte)))).toEqual(["é€😀", "second"]);
});

test("a last line without a line feed counts", async () => {
  expect(await read(["a\nb"])).toEqual(["a", "b"]);
});

test("a line over the limit is told once and skipped to its end", async () => {
  expect(await read(["x".repeat(600), "x".repeat(600), "x".repeat(600), "\nnext\n"])).toEqual(["TOO LONG", "next"]);
});

test("bytes that are no UTF-8 become U+FFFD", async () => {
  expect(await read([Uint8Array.of(0x61, 0xff, 0x0a)])).toEqual(["a\ufffd"]);
});

test("only what begins like a message is parsed; all else is noise", () => {
  for (const noise of ["", "x", "123", '"x"', "null", "[INFO] x", "{broken", "{".repeat(200_000), "[".repeat(200_000)])
    expect(parseLine(noise)).toBeUndefined();
  expect(parseLine('\ufeff\0 \t{"a":1}\r')).toEqual({ a: 1 });
  expect(parseLine("[1]")).toEqual([1]);
});

test("an answer nested too deep to be written again is an error for who waits; other messages of that kind are noise", () => {
  const deep = (text: string) => text.replace("@", "[".repeat(5_000) + "]".repeat(5_000));
  expect(parseLine(deep('{"jsonrpc":"2.0","id":7,"result":@}'))).toMatchObject({ id: 7, error: { code: -32603 } });
  expect(parseLine(deep('{"jsonrpc":"2.0","method":"x","params":@}'))).toBeUndefined();
  const brackets = `"${'[\\"{'.repeat(5_000)}"`;
  expect(parseLine(`{"id":7,"result":${brackets}}`)).toEqual({ id: 7, result: JSON.parse(brackets) });
  expect(parseLine(`[${"[],".repeat(5_000)}[]]`)).toHaveLength(5_001);
});
