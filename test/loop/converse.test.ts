// The loop on a model that does what the test says: an object of the Model type, which is all the loop knows of models.

import { describe, expect, test } from "bun:test";
import {
  type Message,
  type Model,
  type ModelEvent,
  type ModelRequest,
  noUsage,
  type ToolResult,
  textOf,
} from "../../src/conversation.ts";
import { OmegaError } from "../../src/errors.ts";
import type { RunEvent } from "../../src/events.ts";
import { type Limits, openBudget } from "../../src/loop/budget.ts";
import { startClock } from "../../src/loop/clock.ts";
import { converse } from "../../src/loop/converse.ts";
import { finishTool } from "../../src/tools/builtin/finish.ts";

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

type More = {
  limits?: Limits;
  repeat?: number;
  timeMs?: number;
  schema?: Record<string, unknown>;
  keep?: (text: string) => string | undefined;
  halt?: () => OmegaError | undefined;
};

async function hold(
  turns: Turn[],
  callTool: (name: string, signal: AbortSignal) => Promise<ToolResult> = async (name) => ok(name),
  more: More = {},
) {
  const asked: Message[][] = [];
  const requests: ModelRequest[] = [];
  const model: Model = {
    name: "test/model",
    async *stream(request, signal) {
      const turn = turns[asked.length];
      asked.push([...request.messages]);
      requests.push(request);
      if (!turn) throw new OmegaError("MODEL_REJECTED", "the test has no more turns");
      if (typeof turn !== "function") return yield* turn;
      for await (const event of turn()) {
        signal.throwIfAborted();
        yield event;
      }
    },
  };
  const events: RunEvent[] = [];
  const { limits = { turns: 50 }, repeat = 50, timeMs = 60_000, schema, keep = () => undefined } = more;
  using clock = startClock(timeMs, new AbortController().signal);
  const running = converse({
    model,
    tools: {
      definitions: [{ name: "now", origin: "s/now", description: "", inputSchema: { type: "object" } }],
      originOf: (name) => `s/${name}`,
      call: (name, _, signal) => callTool(name, signal),
      halt: more.halt ?? (() => undefined),
    },
    finish: finishTool(schema),
    system: undefined,
    prompt: "Work.",
    budget: openBudget(limits),
    repeat,
    clock,
    keep,
  });
  const nothing = { answer: undefined, ending: undefined, error: undefined };
  try {
    while (true) {
      const { done, value } = await running.next();
      if (done) return { ...nothing, answer: value.text, ending: value, events, asked, requests };
      events.push(value);
    }
  } catch (error) {
    if (!(error instanceof OmegaError)) throw error;
    return { ...nothing, events, asked, requests, error };
  }
}

const finish = (args: object, id = "f"): ModelEvent => ({
  type: "call",
  call: { type: "call", id, name: "finish", arguments: JSON.stringify(args) },
});
const toolNames = ({ tools }: ModelRequest) => tools.map(({ name }) => name);
const lastResult = (messages: readonly Message[] | undefined) => {
  const last = messages?.findLast(({ role }) => role === "tool");
  return last?.role === "tool" ? textOf(last.result.content) : undefined;
};
const useTokens = (input: number) => ({ usage: { ...noUsage, input } });

describe("finish", () => {
  test("ends the conversation with its status, and its text or its summary, whichever says more", async () => {
    const said = { status: "nothing-to-do", summary: "No commits." };
    expect((await hold([[finish(said), end("tool")]])).ending).toMatchObject({ ...said, text: "No commits." });
    const { ending } = await hold([[text("All."), finish({ status: "done", summary: "s" }), end("tool")]]);
    expect(ending).toMatchObject({ status: "done", text: "All." });
    const wrapped = await hold([
      [text("Let me wrap up."), finish({ status: "done", summary: "The answer is 42." }), end("tool")],
    ]);
    expect(wrapped.answer).toBe("The answer is 42.");
  });

  test("is not taken beside a call that failed, wherever it stands", async () => {
    const done = finish({ status: "done", summary: "s" });
    const { ending, asked } = await hold(
      [
        [done, call("1"), end("tool")],
        [finish({ status: "blocked", summary: "it failed" }), end("tool")],
      ],
      async () => ({ content: [], isError: true }),
    );
    expect(ending).toMatchObject({ status: "blocked" });
    expect(asked[1]?.filter(({ role }) => role === "tool")).toMatchObject([
      { callId: "f", result: { isError: true } },
      { callId: "1" },
    ]);
  });

  test("is taken beside calls that went well", async () => {
    const { ending } = await hold([[call("1"), finish({ status: "done", summary: "s" }), end("tool")]]);
    expect(ending).toMatchObject({ status: "done", text: "s" });
  });

  test("with arguments that do not fit is an error result, and the model may try again", async () => {
    const { ending, asked } = await hold([
      [finish({ status: "perfect" }), end("tool")],
      [finish({ status: "done", summary: "s" }), end("tool")],
    ]);
    expect(ending).toMatchObject({ status: "done" });
    expect(lastResult(asked[1])).toContain("the arguments do not fit");
  });

  test("without a word is not taken, for there is no answer", async () => {
    const mute = finish({ status: "done", summary: " " });
    const { ending, asked } = await hold([
      [text("\n"), mute, end("tool")],
      [text("All of it."), mute, end("tool")],
    ]);
    expect(ending).toMatchObject({ status: "done", text: "All of it." });
    expect(lastResult(asked[1])).toContain("nothing was said");
  });
});

describe("with a schema the answer", () => {
  const schema = {
    type: "object",
    properties: { n: { $ref: "#/$defs/n" } },
    required: ["n"],
    $defs: { n: { type: "integer" } },
  };
  const give = (output: unknown) => [finish({ status: "done", summary: "s", output }), end("tool")];

  test("comes by finish, and text alone is asked for it", async () => {
    const { ending, asked } = await hold([[text("n is 5"), end("stop")], give({ n: 5 })], undefined, { schema });
    expect(ending?.output).toEqual({ n: 5 });
    expect(asked[1]?.at(-1)).toMatchObject({ role: "user" });
  });

  test("that does not fit goes back with what is wrong, and the third time is failed as schema", async () => {
    const { ending, asked } = await hold([give({ n: "a" }), give({}), give(undefined)], undefined, { schema });
    expect(lastResult(asked[1])).toContain("/n: must be integer");
    expect(ending?.error).toMatchObject({ word: "schema", outcome: "failed" });
    expect(asked).toHaveLength(3);
  });

  test("is not wanted of a model that is blocked", async () => {
    const { ending } = await hold([[finish({ status: "blocked", summary: "no" }), end("tool")]], undefined, { schema });
    expect(ending).toMatchObject({ status: "blocked", text: "no" });
  });
});

describe("a limit", () => {
  const again = (n: number) => [call(String(n), "now"), end("tool", useTokens(1_000))];

  test("of turns leaves the last of them for a report, with no tool but finish", async () => {
    const { ending, requests } = await hold([again(1), again(2), [text("Two of five."), end("stop")]], undefined, {
      limits: { turns: 3 },
    });
    expect(ending).toMatchObject({ text: "Two of five.", error: { word: "turns" } });
    expect(requests.map(toolNames)).toEqual([["now", "finish"], ["now", "finish"], ["finish"]]);
    expect(requests[2]?.maxTokens).toBe(2_000);
  });

  test("that finds the work done in the last turn was none", async () => {
    const turns = [again(1), [finish({ status: "done", summary: "Just so." }), end("tool")]];
    const { ending } = await hold(turns, undefined, { limits: { turns: 2 } });
    expect(ending).toMatchObject({ status: "done", text: "Just so." });
    expect(ending?.error).toBeUndefined();
  });

  test("of one turn leaves that one as it is", async () => {
    const { ending, requests } = await hold([[text("Hi."), end("stop")]], undefined, { limits: { turns: 1 } });
    expect(ending).toMatchObject({ status: "done", text: "Hi." });
    expect(requests.map(toolNames)).toEqual([["now", "finish"]]);
  });

  test("of tokens is kept, report included", async () => {
    for (const tokens of [8_000, 10_500, 20_000]) {
      let spent = 0;
      const { ending } = await hold(
        Array.from(
          { length: 50 },
          (_, index) =>
            async function* () {
              spent += 1_000;
              yield* again(index);
            },
        ),
        undefined,
        { limits: { tokens } },
      );
      expect(ending?.error).toMatchObject({ word: "tokens" });
      expect(spent).toBeLessThanOrEqual(tokens);
      expect(spent).toBeGreaterThan(tokens / 3);
    }
  });

  test("of money is kept, and one of the day has its own word", async () => {
    const dear = (n: number) => [call(String(n)), end("tool", { cost: 0.1 })];
    const turns = Array.from({ length: 20 }, (_, index) => dear(index));
    const one = await hold(turns, undefined, { limits: { cost: { dollars: 0.55, code: "LIMIT_COST" } } });
    expect(one.ending?.error).toMatchObject({ word: "cost" });
    expect(one.requests).toHaveLength(5);
    const day = await hold(turns, undefined, { limits: { cost: { dollars: 0.25, code: "LIMIT_DAY" } } });
    expect(day.ending?.error).toMatchObject({ word: "day" });
  });

  test("of calls refuses the one too many, and asks for a report", async () => {
    let made = 0;
    const { ending, asked } = await hold(
      [
        [call("1"), call("2"), call("3"), end("tool")],
        [text("Two made."), end("stop")],
      ],
      async () => {
        made++;
        return ok("x");
      },
      { limits: { toolCalls: 2 } },
    );
    expect({ made, text: ending?.text }).toEqual({ made: 2, text: "Two made." });
    expect(ending?.error).toMatchObject({ word: "calls" });
    expect(lastResult(asked[1])).toBe("not called: the limit of 2 tool calls was reached");
  });

  test("of repeats stops the same call turn after turn, not the same call beside itself", async () => {
    const circle = Array.from({ length: 9 }, (_, index) => [call(String(index)), end("tool")]);
    const { ending, requests } = await hold(circle, undefined, { repeat: 3 });
    expect(ending?.error).toMatchObject({ word: "repeat" });
    expect(requests).toHaveLength(5);
    const beside = [...Array.from({ length: 20 }, (_, index) => call(String(index))), end("tool")];
    expect((await hold([beside, [text("ok"), end("stop")]], undefined, { repeat: 3 })).answer).toBe("ok");
  });

  test("of time cancels a hanging stream, and still gets a report", async () => {
    async function* hanging(): AsyncIterable<ModelEvent> {
      yield text("thinking");
      await Bun.sleep(450);
      yield text("more");
    }
    const { ending, asked } = await hold([hanging, [text("Nothing yet."), end("stop")]], undefined, { timeMs: 500 });
    expect(ending).toMatchObject({ text: "Nothing yet.", error: { word: "time" } });
    expect(asked[1]?.map(({ role }) => role)).toEqual(["user", "user"]);
  });

  test("of time cancels a call, whose result says so", async () => {
    const { ending, asked } = await hold(
      [
        [call("1"), end("tool")],
        [text("Cut."), end("stop")],
      ],
      async (_, signal) => {
        await new Promise((resolve) => signal.addEventListener("abort", resolve));
        return { ...ok("cancelled"), isError: true };
      },
      { timeMs: 300 },
    );
    expect(ending).toMatchObject({ text: "Cut.", error: { word: "time" } });
    expect(lastResult(asked[1])).toBe("cancelled");
  });

  test("stays the reason when the report cannot be had", async () => {
    const { ending } = await hold([again(1)], undefined, { limits: { turns: 2 } });
    expect(ending).toMatchObject({ text: "", error: { word: "turns" } });
  });
});

test("enough refusals end the conversation after the results of that turn", async () => {
  const halt = new OmegaError("TOOLS_REFUSED", "enough");
  const { ending, requests } = await hold([[text("Again."), call("1"), end("tool")]], undefined, { halt: () => halt });
  expect(ending).toMatchObject({ text: "Again.", error: halt });
  expect(requests).toHaveLength(1);
});

describe("a conversation longer than the model's context", () => {
  const tooLong = () => new OmegaError("LIMIT_CONTEXT", "too long");
  // biome-ignore lint/correctness/useYield: it fails instead
  async function* refuse(): AsyncIterable<ModelEvent> {
    throw tooLong();
  }
  const big = async (name: string) => ok(name.repeat(5_000));

  test("loses its oldest large outputs, which are kept, and is asked once more", async () => {
    const kept: string[] = [];
    const keep = (text: string) => String(kept.push(text));
    const turns = [[call("1", "aaa"), end("tool")], [call("2", "bb"), end("tool")], refuse, [text("ok"), end("stop")]];
    const { answer, asked, events } = await hold(turns, big, { keep });
    expect(answer).toBe("ok");
    expect(kept).toEqual(["aaa".repeat(5_000)]);
    const results = asked[3]?.flatMap((each) => (each.role === "tool" ? [textOf(each.result.content)] : []));
    expect(results?.[0]).toContain('ReadToolOutput {"id":"1"} opens it');
    expect(results?.[1]).toBe("bb".repeat(5_000));
    expect(events).toContainEqual({ type: "warning", message: expect.stringContaining("were put aside") });
  });

  test("is a limit if it is still too long, or has nothing to lose", async () => {
    expect((await hold([[call("1", "aa"), end("tool")], refuse, refuse], big)).error).toMatchObject({
      word: "context",
    });
    const small = await hold([[call("1"), end("tool")], refuse]);
    expect(small.error).toMatchObject({ word: "context" });
    expect(small.requests).toHaveLength(2);
  });
});

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

  test("twice is failed as truncated, with what there is of it", async () => {
    const { ending, asked } = await hold([
      [text("a"), end("length")],
      [text("b"), end("length")],
    ]);
    expect(ending).toMatchObject({
      text: "ab",
      error: { code: "MODEL_TRUNCATED", outcome: "failed", word: "truncated" },
    });
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

test("a result is told when it is there, not after that of a slower call before it", async () => {
  const slow = Promise.withResolvers<void>();
  const { asked, events } = await hold(
    [
      [finish({ status: "perfect" }), call("1", "slow"), call("2", "fast"), end("tool")],
      [text("ok"), end("stop")],
    ],
    async (name) => {
      if (name === "slow") await slow.promise;
      else setTimeout(slow.resolve, 20);
      return ok(name);
    },
  );
  expect(events.flatMap((event) => (event.type === "result" ? [event.id] : []))).toEqual(["2", "1", "f"]);
  expect(asked[1]?.flatMap((each) => (each.role === "tool" ? [each.callId] : []))).toEqual(["f", "1", "2"]);
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
