// The loop on a model that does what the test says: an object of the Model type, which is all the loop knows of models.

import { describe, expect, test } from "bun:test";
import { type Message, type Model, type ModelEvent, noUsage, type ToolResult } from "../../src/conversation.ts";
import { OmegaError } from "../../src/errors.ts";
import type { RunEvent } from "../../src/events.ts";
import { converse } from "../../src/loop/converse.ts";

const end = (reason: "stop" | "tool" | "length" | "refusal" | "pause" | "other", more: object = {}): ModelEvent => ({
  type: "end",
  reason,
  usage: { ...noUsage, output: 1 },
  ...more,
});
const text = (text: string): ModelEvent => ({ type: "text", text });
const call = (id: string, name = "now"): ModelEvent => ({
  type: "call",
  call: { type: "call", id, name, arguments: "{}" },
});
const ok = (text: string): ToolResult => ({ content: [{ type: "text", text }], isError: false });

type Turn = ModelEvent[] | (() => AsyncIterable<ModelEvent>);

async function hold(turns: Turn[], callTool: (name: string) => Promise<ToolResult> = async (name) => ok(name)) {
  const asked: Message[][] = [];
  const model: Model = {
    name: "test/model",
    async *stream({ messages }) {
      const turn = turns[asked.length];
      asked.push([...messages]);
      if (!turn) throw new Error("the test has no more turns");
      yield* typeof turn === "function" ? turn() : turn;
    },
  };
  const events: RunEvent[] = [];
  const tools = { definitions: [], call: callTool };
  const running = converse(
    { model, tools, system: undefined, prompt: "Work.", turns: 5 },
    new AbortController().signal,
  );
  try {
    while (true) {
      const { done, value } = await running.next();
      if (done) return { answer: value, events, asked, error: undefined };
      events.push(value);
    }
  } catch (error) {
    if (!(error instanceof OmegaError)) throw error;
    return { answer: undefined, events, asked, error };
  }
}

describe("an answer cut by its length", () => {
  test("goes on once, and both halves are the answer", async () => {
    const { answer, asked } = await hold([
      [text("Once upon "), end("length")],
      [text("a time."), end("stop")],
    ]);
    expect(answer).toBe("Once upon a time.");
    expect(asked[1]?.slice(1)).toEqual([
      { role: "assistant", content: [{ type: "text", text: "Once upon " }] },
      { role: "user", content: [{ type: "text", text: expect.stringContaining("Go on exactly where it stopped") }] },
    ]);
  });

  test("twice is failed as truncated", async () => {
    const { error, asked } = await hold([
      [text("a"), end("length")],
      [text("b"), end("length")],
    ]);
    expect(error).toMatchObject({ code: "MODEL_TRUNCATED", outcome: "failed", word: "truncated" });
    expect(asked).toHaveLength(2);
  });

  test("may go on again after calls lay between", async () => {
    const { answer } = await hold([
      [text("a"), end("length")],
      [call("1"), end("tool")],
      [text("b"), end("length")],
      [text("c"), end("stop")],
    ]);
    expect(answer).toBe("bc");
  });
});

test("a refusal is failed as refused, even beside calls, whose results are told first", async () => {
  const { error, events } = await hold([[text("No."), call("1"), end("refusal")]]);
  expect(error).toMatchObject({ code: "MODEL_REFUSED", word: "refused", message: "the model declined to answer: No." });
  expect(events.map(({ type }) => type)).toContain("result");
});

test("a pause sends the turn back as it is and goes on", async () => {
  const raw = { by: "test/model", blocks: [{ type: "server_tool_use" }] };
  const { answer, asked } = await hold([[end("pause", { raw })], [text("Done."), end("stop")]]);
  expect(answer).toBe("Done.");
  expect(asked[1]).toEqual([asked[0]![0]!, { role: "assistant", content: [], raw }]);
});

test("a stop for an unknown reason is an answer with a warning that names it", async () => {
  const { answer, events } = await hold([[text("Hm."), end("other", { word: "LANGUAGE" })]]);
  expect(answer).toBe("Hm.");
  expect(events).toContainEqual({ type: "warning", message: "the model stopped for a reason of its own: LANGUAGE" });
});

test("an empty answer is failed as empty", async () => {
  expect((await hold([[text(" \n"), end("stop")]])).error).toMatchObject({ code: "ANSWER_EMPTY" });
});

test("text before a retry or a fallback is not in the answer, and the events say so in place", async () => {
  const { answer, events, asked } = await hold([
    [
      text("half"),
      { type: "retry", reason: "it broke", waitMs: 5 },
      text("second"),
      { type: "fallback", model: "other/m", reason: "down" },
      text("whole"),
      end("stop"),
    ],
  ]);
  expect(answer).toBe("whole");
  expect(asked).toHaveLength(1);
  expect(events.filter(({ type }) => type !== "turn" && type !== "usage")).toEqual([
    { type: "text", turn: 1, text: "half" },
    { type: "retry", turn: 1, reason: "it broke", waitMs: 5 },
    { type: "text", turn: 1, text: "second" },
    { type: "fallback", model: "other/m", reason: "down" },
    { type: "text", turn: 1, text: "whole" },
  ]);
});

test("a call starts while the answer still streams, and results stand in the order of the calls", async () => {
  const started: string[] = [];
  const free = Promise.withResolvers<void>();
  async function* turn(): AsyncIterable<ModelEvent> {
    yield call("1", "slow");
    yield call("2", "fast");
    expect(started).toEqual(["slow", "fast"]);
    free.resolve();
    yield end("tool");
  }
  const { asked } = await hold([turn, [text("ok"), end("stop")]], async (name) => {
    started.push(name);
    if (name === "slow") await free.promise;
    return ok(name);
  });
  expect(asked[1]?.filter(({ role }) => role === "tool")).toMatchObject([{ callId: "1" }, { callId: "2" }]);
});

test("calls of an answer that broke off stand: their results are told to the model, with a warning", async () => {
  const raw = { by: "test/model", blocks: [{ a: 1 }] };
  const { answer, events, asked } = await hold([
    [call("1"), end("tool", { cut: "test/model broke off", raw })],
    [text("ok"), end("stop")],
  ]);
  expect(answer).toBe("ok");
  expect(events).toContainEqual({ type: "warning", message: "test/model broke off; the calls it had made stand" });
  expect(asked[1]?.at(-1)).toEqual({ role: "tool", callId: "1", result: ok("now") });
  expect(asked[1]?.at(-2)).toMatchObject({ role: "assistant", raw });
});

test("the cost of a turn is in its usage event, and null where nobody knows it", async () => {
  const { events } = await hold([
    [call("1"), end("tool", { cost: 0.5 })],
    [text("ok"), end("stop")],
  ]);
  expect(events.filter((event) => event.type === "usage").map((event) => event.type === "usage" && event.cost)).toEqual(
    [0.5, null],
  );
});
