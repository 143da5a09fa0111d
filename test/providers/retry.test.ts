// What is tried again, when, and what then stands; against a real server that misbehaves.

import { describe, expect, test } from "bun:test";
import type { ModelRequest } from "../../src/conversation.ts";
import { openModel } from "../../src/providers/model.ts";
import { collect, hasty, open, question, sse } from "../support/ask.ts";
import { until } from "../support/processes.ts";
import { type Reply, wireServer } from "../support/wire-server.ts";

const signal = new AbortController().signal;
const patience = { ...hasty, retries: 4 };

const say = (text: string, finish?: string) => ({
  choices: [{ index: 0, delta: { content: text }, finish_reason: finish ?? null }],
});
const call = (index: number, id: string) => ({
  choices: [{ index: 0, delta: { tool_calls: [{ index, id, function: { name: "now", arguments: "{}" } }] } }],
});
const good: Reply = { body: sse([say("fine", "stop"), "[DONE]"], "openai-chat") };
const busy = (headers: Record<string, string> = {}): Reply => ({
  status: 429,
  headers,
  body: '{"error":{"message":"slow down"}}',
});

async function ask(replies: Reply[], request: Partial<ModelRequest> = {}, more: object = {}) {
  await using server = await wireServer(replies);
  const model = await open("openai-chat/m", server.url, {}, { patience: { ...patience, ...more } });
  const answer = await collect(model.stream({ ...question, ...request }, signal));
  return { ...answer, requests: server.requests, retries: answer.events.filter((event) => event.type === "retry") };
}

describe("tried again until it works:", () => {
  const failures: [string, Reply][] = [
    ["429", busy()],
    ["529", { status: 529, body: '{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}' }],
    ["502 with a page of HTML", { status: 502, body: "<html>Bad Gateway</html>" }],
    [
      "a 400 for a call that the server could not read",
      { status: 400, body: '{"error":{"message":"x","type":"invalid_request_error","code":"tool_use_failed"}}' },
    ],
    ["a connection that is reset before an answer", { after: "reset" }],
    ["a connection that is reset in the middle", { body: sse([say("half")], "openai-chat"), after: "reset" }],
    ["a stream that ends too early", { body: sse([say("half")], "openai-chat") }],
    [
      "an error inside the stream",
      { body: sse([say("half"), { error: { message: "upstream died", code: 502 } }], "openai-chat") },
    ],
    ["an event that is not JSON", { body: "data: {broken\n\n" }],
  ];
  for (const [what, failure] of failures) {
    test(what, async () => {
      const { text, error, requests, retries } = await ask([failure, good]);
      expect(error).toBeUndefined();
      expect(text).toBe("fine");
      expect(requests).toHaveLength(2);
      expect(retries).toHaveLength(1);
    });
  }
});

describe("not tried again:", () => {
  const failures: [string, Reply, string][] = [
    ["a wrong key", { status: 401, body: '{"error":{"message":"Incorrect API key"}}' }, "MODEL_REJECTED"],
    ["a wrong model", { status: 404, body: '{"error":{"message":"no such model"}}' }, "MODEL_REJECTED"],
    [
      "no money left",
      { status: 429, body: '{"error":{"message":"quota","code":"insufficient_quota"}}' },
      "MODEL_REJECTED",
    ],
    [
      "a prompt too long",
      { status: 400, body: '{"error":{"message":"x","code":"context_length_exceeded"}}' },
      "LIMIT_CONTEXT",
    ],
    [
      "what the server says not to",
      { status: 503, headers: { "x-should-retry": "false" }, body: "" },
      "MODEL_UNAVAILABLE",
    ],
  ];
  for (const [what, failure, code] of failures) {
    test(`${what} is ${code}`, async () => {
      const { error, requests } = await ask([failure, good]);
      expect(error?.code).toBe(code as any);
      expect(requests).toHaveLength(1);
    });
  }
});

test("after the last try the failure is told as unavailable, with the wait the server asked for", async () => {
  const { error, requests } = await ask(Array(9).fill(busy({ "retry-after-ms": "3" })));
  expect(requests).toHaveLength(5);
  expect(error).toMatchObject({
    code: "MODEL_UNAVAILABLE",
    retryAfterMs: 3,
    message: "openai-chat/m answered 429: slow down",
  });
});

const inTwoSeconds = () => new Date(Date.now() + 2_500).toUTCString();
for (const [what, headers, least, most] of [
  ["seconds", () => ({ "retry-after": "0.3" }), 300, 300],
  ["milliseconds", () => ({ "retry-after-ms": "250", "retry-after": "9" }), 250, 250],
  ["a date", () => ({ "retry-after": inTwoSeconds() }), 500, 2_500],
  [
    "an empty budget with its reset",
    () => ({
      "x-ratelimit-remaining-tokens": "0",
      "x-ratelimit-reset-tokens": "0m0.4s",
      "x-ratelimit-remaining-requests": "5",
      "x-ratelimit-reset-requests": "9s",
    }),
    400,
    400,
  ],
] as const) {
  test(`retry-after as ${what} is waited for`, async () => {
    const started = performance.now();
    const { retries, text } = await ask([busy(headers()), good]);
    const [retry] = retries;
    expect(text).toBe("fine");
    expect(retry?.type === "retry" && retry.waitMs).toBeWithin(least, most + 1);
    expect(performance.now() - started).toBeGreaterThanOrEqual(least - 5);
  });
}

test("back-off grows, with jitter, and stays below its limit", async () => {
  const { retries } = await ask(Array(5).fill(busy()), {}, { firstMs: 20, maxMs: 60 });
  const waits = retries.map((retry) => (retry.type === "retry" ? retry.waitMs : 0));
  for (const [index, least] of [15, 30, 45, 45].entries()) expect(waits[index]).toBeWithin(least, least / 0.75 + 1);
});

test("a wait past the run's deadline is not begun", async () => {
  const started = performance.now();
  const { error, requests } = await ask([busy({ "retry-after": "60" })], { deadlineAt: Date.now() + 5_000 });
  expect(performance.now() - started).toBeLessThan(4_000);
  expect(requests).toHaveLength(1);
  expect(error).toMatchObject({
    code: "MODEL_UNAVAILABLE",
    retryAfterMs: 60_000,
    message: expect.stringContaining("would pass the run's time limit"),
  });
});

test("what was said before a retry does not count, and readers are told", async () => {
  const { events, text } = await ask([{ body: sse([say("half an ")], "openai-chat") }, good]);
  expect(events.map(({ type }) => type)).toEqual(["text", "retry", "text", "end"]);
  expect(text).toBe("fine");
});

test("once a call is told its turn is not asked for again: the call stands and the cut is told", async () => {
  const { events, calls, end, requests } = await ask([
    { body: sse([call(0, "a"), call(1, "b")], "openai-chat"), after: "reset" },
    good,
  ]);
  expect(events.map(({ type }) => type)).toEqual(["call", "end"]);
  expect(calls).toEqual([{ id: "a", name: "now", arguments: "{}" }]);
  expect(end).toMatchObject({ reason: "tool", cut: expect.stringContaining("broke off") });
  expect(requests).toHaveLength(1);
});

test("a call is told before the answer ends", async () => {
  await using server = await wireServer({ body: sse([call(0, "a"), call(1, "b")], "openai-chat"), after: "silence" });
  const model = await open("openai-chat/m", server.url);
  const controller = new AbortController();
  for await (const event of model.stream(question, controller.signal)) {
    expect(event).toMatchObject({ type: "call", call: { id: "a" } });
    break;
  }
  expect(await until(() => server.left === 1)).toBe(true);
});

test("a server that says nothing, and one that falls silent in the middle, are left and asked again", async () => {
  const silent: Reply[] = [{ mute: true }, { body: sse([say("half")], "openai-chat"), after: "silence" }, good];
  const { text, retries } = await ask(silent, {}, { firstByteMs: 150, silenceMs: 150 });
  expect(text).toBe("fine");
  expect(retries.map((retry) => retry.type === "retry" && retry.reason)).toEqual(
    Array(2).fill("openai-chat/m said nothing for 0.15 s"),
  );
});

test("bytes that are no event, such as comments, count as a sign of life", async () => {
  const body = `${": still here\n\n".repeat(12)}${sse([say("fine", "stop"), "[DONE]"], "openai-chat")}`;
  await using slow = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: () =>
      new Response(
        (async function* () {
          for (const frame of body.split(/(?<=\n\n)/)) {
            yield frame;
            await Bun.sleep(40);
          }
        })() as any,
      ),
  });
  const model = await open("openai-chat/m", String(slow.url), {}, { patience: { ...hasty, silenceMs: 400 } });
  expect(await collect(model.stream(question, signal))).toMatchObject({ text: "fine", error: undefined });
});

test("an abort closes the socket at once, in the middle of an answer and in the middle of a wait", async () => {
  await using server = await wireServer({ body: sse([say("half")], "openai-chat"), after: "silence" });
  const model = await open("openai-chat/m", server.url);
  const controller = new AbortController();
  const reason = new Error("enough");
  const reading = (async () => {
    for await (const event of model.stream(question, controller.signal))
      if (event.type === "text") controller.abort(reason);
  })();
  expect(reading).rejects.toBe(reason);
  expect(await until(() => server.left === 1, 2_000)).toBe(true);

  await using waiting = await wireServer(busy({ "retry-after": "600" }));
  const other = await open("openai-chat/m", waiting.url, {}, { patience });
  const second = new AbortController();
  const started = performance.now();
  const pausing = (async () => {
    for await (const event of other.stream(question, second.signal)) if (event.type === "retry") second.abort(reason);
  })();
  expect(pausing).rejects.toBe(reason);
  await pausing.catch(() => undefined);
  expect(performance.now() - started).toBeLessThan(5_000);
});

test("a field that the server refuses by name is left out from then on, and readers of the debug log are told", async () => {
  const refuses = (field: string): Reply => ({
    status: 400,
    body: JSON.stringify({
      error: {
        message: `Unsupported parameter: '${field}' is not supported with this model.`,
        param: field,
        code: "unsupported_parameter",
      },
    }),
  });
  await using server = await wireServer([refuses("temperature"), refuses("max_tokens"), good, good]);
  const model = await open("vllm/m", server.url, { temperature: 0.5, maxTokens: 99 }, { patience: hasty });
  const first = await collect(model.stream(question, signal));
  const second = await collect(model.stream(question, signal));
  expect([first.text, second.text]).toEqual(["fine", "fine"]);
  expect(first.events.filter(({ type }) => type === "debug")).toHaveLength(2);
  const sent = server.requests.map(({ body }) => [body.temperature, body.max_tokens, body.max_completion_tokens]);
  expect(sent).toEqual([
    [0.5, 99, undefined],
    [undefined, 99, undefined],
    [undefined, undefined, 99],
    [undefined, undefined, 99],
  ]);
});

test("when all tries fail the fallback answers, and stays for the rest of the run", async () => {
  await using broken = await wireServer(() => ({ body: sse([say("half")], "openai-chat") }));
  await using works = await wireServer(() => good);
  const choice = { name: "vllm/m", baseUrl: broken.url, fallbacks: ["lmstudio/other"] };
  const environment = { LMSTUDIO_BASE_URL: works.url };
  const { model } = await openModel(choice, { environment, dir: ".", patience: { ...hasty, retries: 1 } });
  const first = await collect(model.stream(question, signal));
  const second = await collect(model.stream(question, signal));
  expect(first.events.map(({ type }) => type)).toEqual(["text", "retry", "text", "fallback", "text", "end"]);
  expect([first.text, second.text]).toEqual(["fine", "fine"]);
  expect([broken.requests.length, works.requests.length]).toEqual([2, 2]);
});

test("the connection of one turn serves the next", async () => {
  let connections = 0;
  await using server = await wireServer(() => good);
  const { createServer, connect } = await import("node:net");
  const proxy = createServer((socket) => {
    connections++;
    const on = connect(Number(new URL(server.url).port), "127.0.0.1");
    socket.pipe(on).pipe(socket);
    for (const end of [socket, on]) end.on("error", () => end.destroy());
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  const model = await open("openai-chat/m", `http://127.0.0.1:${(proxy.address() as any).port}`);
  for (let turn = 0; turn < 3; turn++) {
    expect((await collect(model.stream(question, signal))).text).toBe("fine");
    await Bun.sleep(20);
  }
  expect(connections).toBe(1);
  proxy.close();
});
