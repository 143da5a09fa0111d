import { expect, test } from "bun:test";
import { Writable } from "node:stream";
import { writeLines } from "../../src/mcp/write-lines.ts";

/** A stream whose reader takes each write only when told to. */
function slowStream() {
  const written: string[] = [];
  const taken: (() => void)[] = [];
  const stream = new Writable({
    decodeStrings: false,
    write(text: string, _encoding, done) {
      written.push(text);
      taken.push(done);
    },
  });
  return { stream, written, taken };
}

test("lines of one tick go out in one write, in their order; those of the next in another", async () => {
  const { stream, written, taken } = slowStream();
  const lines = writeLines(stream);
  lines.write("one");
  lines.write("two");
  await Promise.resolve();
  expect(written).toEqual(["one\ntwo\n"]);
  taken[0]?.();
  lines.write("three");
  await Promise.resolve();
  await new Promise((resolve) => setImmediate(resolve));
  expect(written).toEqual(["one\ntwo\n", "three\n"]);
});

test("what is queued counts as unsent until the stream has taken it", async () => {
  const { stream, taken } = slowStream();
  const lines = writeLines(stream);
  lines.write("one");
  lines.write("two");
  expect(lines.unsent()).toBeGreaterThan(8);
  await Promise.resolve();
  expect(lines.unsent()).toBeGreaterThan(8);
  taken[0]?.();
  await new Promise((resolve) => setImmediate(resolve));
  expect(lines.unsent()).toBe(0);
});
