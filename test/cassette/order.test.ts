import { expect, test } from "bun:test";
import { type Entry, openOrder } from "../../src/cassette/order.ts";
import { OmegaError } from "../../src/errors.ts";

const { signal: never } = new AbortController();
const reason = new OmegaError("DIVERGED", "enough");

function orderOf(lines: readonly number[], events: readonly number[] = []) {
  const told: (number | string)[] = [];
  const missing: number[] = [];
  const entries = lines.map(
    (line): Entry => (events.includes(line) ? { line, happens: () => void told.push(`event ${line}`) } : { line }),
  );
  const order = openOrder(entries, (line) => missing.push(line));
  const ask = (line: number, signal = never) =>
    order.turn(line, signal).then(
      () => void told.push(line),
      (error) => void told.push(`${line} ${error.message}`),
    );
  return { order, told, missing, ask };
}

test("lines come in their order, whatever the order in which they are asked for", async () => {
  const { told, ask } = orderOf([2, 4, 5, 9]);
  await Promise.all([ask(9), ask(4), ask(2), ask(5)]);
  expect(told).toEqual([2, 4, 5, 9]);
});

test("who waits is told before each step", async () => {
  const { order, ask } = orderOf([2, 3, 4]);
  let steps = 0;
  const waits = order.turn(4, never, () => void steps++);
  expect(steps).toBe(0);
  await Promise.all([ask(2), ask(3), waits]);
  expect(steps).toBe(3);
});

test("what happens by itself happens in its place, and what follows from a line comes before the next", async () => {
  const { told, ask } = orderOf([2, 3, 4], [3]);
  const second = ask(4);
  await ask(2).then(() => told.push("after 2"));
  await second;
  expect(told).toEqual([2, "after 2", "event 3", 4]);
});

test("a line that nobody asks for is told, and passed over; who comes late gets it at once", async () => {
  const { told, missing, ask } = orderOf([2, 3, 4]);
  await ask(4);
  expect({ told, missing }).toEqual({ told: [4], missing: [2, 3] });
  await ask(3);
  expect(told).toEqual([4, 3]);
}, 20_000);

test("who gives up waits no more, and does not hold up the others", async () => {
  const { told, ask } = orderOf([2, 3, 4]);
  const controller = new AbortController();
  const waits = ask(3, controller.signal);
  const last = ask(4);
  controller.abort(new Error("gone"));
  await waits;
  await Promise.all([ask(2), last]);
  expect(told).toEqual(["3 gone", 2, 4]);
  await ask(4, controller.signal);
  expect(told.at(-1)).toBe("4 gone");
});

test("when it is stopped, all who wait and all who come get the reason", async () => {
  const { order, told, ask } = orderOf([2, 3, 4]);
  const waiting = [ask(3), ask(4)];
  order.stop(reason);
  await Promise.all([...waiting, ask(2)]);
  expect(told.sort()).toEqual(["2 enough", "3 enough", "4 enough"]);
});
