// The live view on a terminal that only remembers what is written to it; e2e/screens.test.ts has a real one.

import { expect, test } from "bun:test";
import { EventEmitter } from "node:events";
import { liveScreen } from "../../src/report/live.ts";

const FRAME_MS = 120;

function open({ isShared = false, columns = 80 } = {}) {
  const written: string[] = [];
  const terminal = Object.assign(new EventEmitter(), {
    ...{ columns, rows: 24 },
    write: (text: string) => written.push(text) > 0,
  });
  const stop = new AbortController();
  const screen = liveScreen({ terminal: terminal as any, isShared, verbose: false, signal: stop.signal });
  const take = () => written.splice(0).join("");
  return { screen, terminal, stop, take, written };
}

const warning = (message: string) => ({ type: "warning", message }) as const;

test("many events make one write a frame, and the cursor and the wrapping of lines are as before after each", async () => {
  const { screen, written } = open();
  using _ = screen;
  for (let index = 0; index < 1_000; index++) screen.event(warning(`number ${index}`));
  await Bun.sleep(3 * FRAME_MS);
  expect(written.join("")).toContain("number 999");
  expect(written.length).toBeLessThanOrEqual(4);
  for (const text of written) {
    expect(text).toStartWith("\x1b[?25l");
    expect(text).toEndWith("\n\x1b[J\x1b[?7h\x1b[?25h");
  }
});

test("while somebody is asked nothing is written, and afterwards all of it", async () => {
  const { screen, take, terminal } = open();
  using _ = screen;
  await Bun.sleep(FRAME_MS);
  screen.hold();
  // What was live is gone.
  expect(take()).toEndWith("\x1b[J\x1b[?7h\x1b[?25h");
  screen.event(warning("told meanwhile"));
  terminal.emit("resize");
  await Bun.sleep(2 * FRAME_MS);
  expect(take()).toBe("");
  screen.release();
  expect(take()).toContain("told meanwhile");
});

test("what is for stdout comes when the live lines are gone, and after all that was told before it", () => {
  const { screen, written } = open({ isShared: true });
  using _ = screen;
  screen.event(warning("before"));
  screen.aside(() => written.push("ANSWER\n"));
  const text = written.join("");
  expect(text).toMatch(/before[^⠇-⠿]*ANSWER\n[^⠇-⠿]*[⠇-⠿]/u);
});

test("a terminal that has become narrower has wrapped the live lines: all of them are gone over", async () => {
  const { screen, terminal, take } = open();
  using _ = screen;
  screen.event({ type: "turn", turn: 1 });
  await Bun.sleep(FRAME_MS);
  take();
  terminal.columns = 30;
  terminal.emit("resize");
  // One status line of 79 columns has become three.
  expect(take()).toStartWith("\x1b[?25l\r\x1b[3A");
});

test("after its end it writes nothing, listens to nothing, and its timer is stopped", async () => {
  const before = process.listenerCount("SIGCONT");
  const { screen, terminal, take, stop } = open();
  screen[Symbol.dispose]();
  take();
  stop.abort();
  terminal.emit("resize");
  await Bun.sleep(2 * FRAME_MS);
  screen[Symbol.dispose]();
  expect(take()).toBe("");
  expect(terminal.listenerCount("resize")).toBe(0);
  expect(process.listenerCount("SIGCONT")).toBe(before);
});
