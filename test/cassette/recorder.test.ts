import { expect, test } from "bun:test";
import { askOf, openRecorder, withoutKnownTools } from "../../src/cassette/recorder.ts";
import type { Line } from "../../src/cassette/tape.ts";
import { type Message, type ModelEvent, type ModelRequest, noUsage } from "../../src/conversation.ts";
import { OmegaError } from "../../src/errors.ts";
import { type Peer, RpcError } from "../../src/mcp/json-rpc.ts";

const { signal } = new AbortController();
const user = (text: string): Message => ({ role: "user", content: [{ type: "text", text }] });
const tool = (name: string) => ({ name, origin: name, description: "", inputSchema: {} });
const request: ModelRequest = { messages: [user("Hi")], tools: [tool("a")], system: "Be brief." };
const end = { type: "end", reason: "stop", usage: noUsage } as const;
const call = (id: string) => ({ type: "call", call: { type: "call", id, name: "a", arguments: "{}" } }) as const;

/** What is written while a model says this. */
async function recordedOf(events: (ModelEvent | Error | (() => void))[]) {
  const lines: any[] = [];
  const recorder = openRecorder((line) => lines.push(line));
  const model = recorder.model({
    name: "m",
    async *stream() {
      for (const event of events) {
        if (event instanceof Error) throw event;
        if (typeof event === "function") event();
        else yield event;
      }
    },
  });
  const read = async () => {
    for await (const _ of model.stream(request, signal));
  };
  const error = await read().then(
    () => undefined,
    (error: unknown) => error,
  );
  return { lines, recorder, error };
}

const text = (text: string) => ({ type: "text", text }) as const;
const answers: [string, (ModelEvent | Error)[], object][] = [
  ["text in one piece", [text("a"), text("b"), end], { answer: [text("ab"), end] }],
  [
    "nothing of what was retried",
    [text("a"), { type: "retry", reason: "r", waitMs: 1 }, text("b"), end],
    { answer: [text("b"), end] },
  ],
  [
    "who took over, and nothing of the one before",
    [text("a"), { type: "fallback", model: "n", reason: "r" }, text("b"), end],
    { answer: [{ type: "fallback", model: "n", reason: "r" }, text("b"), end] },
  ],
  ["nothing for those who look closely", [{ type: "debug", message: "d" }, end], { answer: [end] }],
  ["no blocks of a provider", [{ ...end, raw: { by: "m", blocks: [{}] } }], { answer: [end] }],
  [
    "how it failed, with all that a person is told",
    [new OmegaError("MODEL_UNAVAILABLE", "down", { hint: "later", retryAfterMs: 5 })],
    { failed: { code: "MODEL_UNAVAILABLE", message: "down", hint: "later", retryAfterMs: 5 } },
  ],
  [
    "what was said before it broke",
    [text("a"), call("1"), new TypeError("bug")],
    { answer: [text("a"), call("1")], failed: { code: "INTERNAL", message: "bug" } },
  ],
];
for (const [what, events, line] of answers) {
  test(`an answer has ${what}`, async () => {
    const { lines, error } = await recordedOf(events);
    expect(lines).toEqual([
      { ask: { turn: 0, system: "Be brief.", tools: ["a"], messages: [{ user: "Hi" }] }, ...line },
    ]);
    expect(error instanceof Error).toBe("failed" in line);
  });
}

test("an answer has its place where its first call is made: what the call led to comes after it", async () => {
  const written: Line[] = [];
  const recorder = openRecorder((line) => written.push(line));
  const model = recorder.model({
    name: "m",
    async *stream() {
      yield call("1");
      yield end;
    },
  });
  for await (const event of model.stream(request, signal)) {
    if (event.type !== "call") continue;
    recorder.notified("s", "n", {});
    expect(written).toEqual([]);
  }
  expect(written).toMatchObject([{ ask: {} }, { notify: "n" }]);
});

test("an answer that nobody reads to its end holds up nothing", async () => {
  const written: Line[] = [];
  const recorder = openRecorder((line) => written.push(line));
  const model = recorder.model({
    name: "m",
    async *stream() {
      yield call("1");
      yield end;
    },
  });
  for await (const _ of model.stream(request, signal)) break;
  recorder.notified("s", "n", {});
  expect(written).toMatchObject([{ notify: "n" }]);
});

test("requests that are just alike say how many they overtook", async () => {
  const lines: any[] = [];
  const settle: ((how: unknown) => void)[] = [];
  const fake = {
    request: () =>
      new Promise((resolve, reject) => {
        settle.push((how) => (how instanceof Error ? reject(how) : resolve(how)));
      }),
  };
  const peer = openRecorder((line) => lines.push(line)).peer("s", fake as unknown as Peer);
  const ask = (text: string) =>
    peer
      .request("tools/call", { name: "a", arguments: { text }, _meta: { x: 1 } }, { timeoutMs: 1, signal })
      .catch(() => undefined);
  const asked = [ask("x"), ask("y"), ask("x"), ask("x")];
  for (const index of [3, 2, 1, 0]) {
    settle[index]?.(index === 1 ? new RpcError(-1, "no", [1]) : { number: index });
    await asked[index];
  }
  const params = (text: string) => ({ name: "a", arguments: { text } });
  const about = { server: "s", method: "tools/call" };
  expect(lines).toEqual([
    { ...about, params: params("x"), overtook: 2, result: { number: 3 } },
    { ...about, params: params("x"), overtook: 1, result: { number: 2 } },
    { ...about, params: params("y"), error: { code: -1, message: "no", data: [1] } },
    { ...about, params: params("x"), result: { number: 0 } },
  ]);
});

test("of a conversation only what is new is written, and tools where they are others than before", () => {
  const inShortest = withoutKnownTools();
  const write = (request: ModelRequest) => inShortest(askOf(request));
  const first: Message[] = [user("Hi")];
  const picture = { type: "image" as const, mimeType: "image/png", data: "x".repeat(1_000) };
  const then: Message[] = [
    ...first,
    { role: "assistant", content: [] },
    { role: "tool", callId: "1", result: { content: [{ type: "text", text: "t" }], isError: true } },
    { role: "tool", callId: "2", result: { content: [picture], isError: false } },
  ];
  const asks = [
    write({ messages: first, tools: [tool("a")], system: "S" }),
    write({ messages: first, tools: [tool("a")], agent: "1" }),
    write({ messages: then, tools: [tool("a")], system: "S" }),
    write({ messages: then, tools: [tool("a"), tool("b")], system: "S" }),
  ];
  const shown = { type: "image", mimeType: "image/png", data: `${"x".repeat(40)}… (1000 characters)` };
  const news = [
    { result: "1", isError: true, text: "t" },
    { result: "2", content: [shown] },
  ];
  expect(asks as object[]).toEqual([
    { turn: 0, system: "S", tools: ["a"], messages: [{ user: "Hi" }] },
    { agent: "1", turn: 0, tools: ["a"], messages: [{ user: "Hi" }] },
    { turn: 1, messages: news },
    { turn: 1, tools: ["a", "b"], messages: news },
  ]);
});
