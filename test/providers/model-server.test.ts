// The scripted model against omega's own providers: what a test scripts is what each wire tells, and what is asked reads the
// same on all of them.

import { describe, expect, test } from "bun:test";
import type { Call, Message, ModelRequest } from "../../src/conversation.ts";
import { openModel } from "../../src/providers/model.ts";
import { type Answer, collect, hasty, question } from "../support/ask.ts";
import {
  type ModelServer,
  modelServer,
  type Script,
  type ScriptedTurn,
  scriptedKey,
  type WireName,
} from "../support/model-server.ts";
import { until } from "../support/processes.ts";

const wireNames: WireName[] = ["openai-chat", "openai", "anthropic", "google"];
const signal = new AbortController().signal;
const keyHeaders: Record<WireName, [name: string, value: string]> = {
  "openai-chat": ["authorization", `Bearer ${scriptedKey}`],
  openai: ["authorization", `Bearer ${scriptedKey}`],
  anthropic: ["x-api-key", scriptedKey],
  google: ["x-goog-api-key", scriptedKey],
};

async function modelOn(server: ModelServer, wire: WireName, patience: object = {}) {
  const choice = { ...server.choice(wire), fallbacks: [] };
  return (await openModel(choice, { environment: {}, dir: ".", patience: { ...hasty, ...patience } })).model;
}

async function ask(wire: WireName, script: Script, patience: object = {}): Promise<Answer & { requests: any[] }> {
  await using server = await modelServer(script);
  const model = await modelOn(server, wire, patience);
  const answer = await collect(model.stream(question, signal));
  return { ...answer, requests: server.requests };
}

const retriesOf = ({ events }: Answer) => events.filter((event) => event.type === "retry");
const nameAndArguments = ({ calls }: Answer) => calls.map(({ name, arguments: text }) => [name, JSON.parse(text)]);
const twoCalls = [
  { name: "mcp__a__find", arguments: { text: "schön „x“ 🙂", n: [1, 2] } },
  { name: "mcp__b__now", arguments: {} },
];
const asPairs = twoCalls.map(({ name, arguments: given }) => [name, given]);

for (const wire of wireNames) {
  describe(`${wire}:`, () => {
    test("text comes as it is scripted, with the usual usage", async () => {
      const { text, calls, end, error } = await ask(wire, [{ text: "Hello, wide  world. 🙂" }]);
      expect(error).toBeUndefined();
      expect(text).toBe("Hello, wide  world. 🙂");
      expect(calls).toEqual([]);
      expect(end).toMatchObject({ reason: "stop", usage: { input: 60, cacheRead: 40, cacheWrite: 0, output: 10 } });
    });

    test("text in pieces of the script's own, and usage of its own", async () => {
      const usage = { input: 7, output: 3, cacheRead: 0 };
      const { text, end } = await ask(wire, [{ chunks: ["Hel", "lo", " 世", "界"], usage }]);
      expect(text).toBe("Hello 世界");
      expect(end).toMatchObject({ reason: "stop", usage });
    });

    test("two calls beside each other, with their arguments", async () => {
      const answer = await ask(wire, [{ text: "Looking. ", calls: twoCalls }]);
      expect(answer.text).toBe("Looking. ");
      expect(nameAndArguments(answer)).toEqual(asPairs);
      expect(answer.calls.map(({ id }) => id)).toEqual(["call_1_1", "call_1_2"]);
      expect(answer.end).toMatchObject({ reason: "tool", usage: { output: 10 } });
    });

    test("what is asked reads the same on every wire", async () => {
      await using server = await modelServer([{ text: "Looking.", calls: twoCalls }, { text: "Done." }]);
      const { request, model } = await conversation(server, wire);
      const asked = server.asked(1);
      expect(server.asked(-1)).toEqual(asked);
      expect(asked).toMatchObject({
        wire,
        model: "m",
        system: "Be brief.",
        tools: ["mcp__a__find", "mcp__b__now"],
        messages: [
          { role: "user", text: "Hi" },
          { role: "assistant", text: "Looking." },
          { role: "user", text: "And?" },
        ],
        results: [{ text: "found" }, { text: expect.stringContaining("no clock") }],
      });
      const flags = wire === "anthropic" || wire === "google" ? [false, true] : [undefined, undefined];
      expect(asked.results.map(({ isError }) => isError)).toEqual(flags);
      expect(asked.raw).toBe(server.requests[1]);
      expect(model.name).toBe(`${wire}/m`);
      expect(request.messages).toHaveLength(5);
      expect(() => server.asked(2)).toThrow("asked 2 times");
    });

    test("a script that is a function sees what is asked", async () => {
      const { text } = await ask(wire, (index, { messages, wire }) => ({
        text: `${index} ${wire} ${messages[0]?.text}`,
      }));
      expect(text).toBe(`0 ${wire} Hi`);
    });

    test("a script that throws is a refused request that says so", async () => {
      const { error, requests } = await ask(wire, () => {
        throw new Error("not what I expected");
      });
      expect(error?.message).toContain("answered 400: the script failed: Error: not what I expected");
      expect(requests).toHaveLength(1);
    });

    for (const [finish, reason] of [
      ["length", "length"],
      ["content_filter", "refusal"],
      ["refusal", "refusal"],
      ["something_new", "other"],
    ] as const) {
      test(`an answer that ends with ${finish} is told as ${reason}`, async () => {
        const { end, error } = await ask(wire, [{ text: "Once upon", finish }]);
        expect(error).toBeUndefined();
        expect(end).toMatchObject({ reason, usage: { input: 60, output: 10 } });
      });
    }

    test("an empty answer ends as stop", async () => {
      expect(await ask(wire, [{}])).toMatchObject({ text: "", end: { reason: "stop" }, error: undefined });
    });

    test("429 with a wait is waited for, then the next turn answers", async () => {
      const turns = [{ status: 429, retryAfter: 0.25, headers: { "x-more": "1" } }, { text: "fine" }];
      const started = performance.now();
      const answer = await ask(wire, turns, { retries: 1 });
      expect(answer.text).toBe("fine");
      expect(retriesOf(answer)).toMatchObject([{ waitMs: 250, reason: expect.stringContaining("answered 429") }]);
      expect(performance.now() - started).toBeGreaterThanOrEqual(245);
    });

    test("a cut answer is asked for again, after its text was heard", async () => {
      const answer = await ask(wire, [{ text: "half an ", cut: true }, { text: "fine" }], { retries: 1 });
      expect(answer.events.map(({ type }) => type)).toEqual(["text", "retry", "text", "end"]);
      expect(answer.text).toBe("fine");
      expect(retriesOf(answer)[0]).toMatchObject({ reason: expect.stringContaining("broke off") });
    });

    test("an answer that hangs is left after the silence that is allowed", async () => {
      await using server = await modelServer([{ text: "thinking", hang: true }, { text: "fine" }]);
      const model = await modelOn(server, wire, { retries: 1, silenceMs: 150 });
      const answer = await collect(model.stream(question, signal));
      expect(answer.text).toBe("fine");
      expect(retriesOf(answer)[0]).toMatchObject({ reason: expect.stringContaining("said nothing for 0.15 s") });
      expect(await until(() => server.closed === 2)).toBe(true);
    });

    test("calls that are complete stand when the answer then hangs", async () => {
      const answer = await ask(wire, [{ calls: twoCalls, afterCallsHang: true }], { silenceMs: 150 });
      // Only the end of the answer says that the last call of Chat Completions is complete.
      expect(nameAndArguments(answer)).toEqual(wire === "openai-chat" ? asPairs.slice(0, 1) : asPairs);
      expect(answer.end).toMatchObject({ reason: "tool", cut: expect.stringContaining("said nothing") });
    });

    test("a call that is cut in its arguments was never made", async () => {
      const one: ScriptedTurn = { text: "Now. ", calls: twoCalls.slice(0, 1), cutMidCall: true };
      const answer = await ask(wire, [one, { text: "fine" }], { retries: 1 });
      expect(answer.events.map(({ type }) => type)).toEqual(["text", "retry", "text", "end"]);
      expect(answer.calls).toEqual([]);
    });

    test("a call before the one that is cut stands", async () => {
      const answer = await ask(wire, [{ calls: twoCalls.toReversed(), cutMidCall: true }]);
      expect(nameAndArguments(answer)).toEqual(asPairs.slice(1));
      expect(answer.end).toMatchObject({ reason: "tool", cut: expect.stringContaining("broke off") });
    });

    test("the variables of the environment lead to the server, with its key", async () => {
      await using server = await modelServer([{ text: "here" }]);
      const { model } = await openModel(
        { name: `${wire}/other`, fallbacks: [] },
        { environment: server.env(wire), dir: "." },
      );
      expect((await collect(model.stream(question, signal))).text).toBe("here");
      const [name, value] = keyHeaders[wire];
      expect(server.headers[0]?.[name]).toBe(value);
      expect(server.asked(0)).toMatchObject({ wire, model: "other" });
    });
  });
}

test("arguments that are no JSON are sent as they are, except by Google, whose model then fails", async () => {
  const broken: ScriptedTurn[] = [{ calls: [{ name: "x", arguments: "{broken" }] }];
  for (const wire of wireNames) {
    const { calls, error } = await ask(wire, broken);
    if (wire === "google") expect(error?.message).toContain("MALFORMED_FUNCTION_CALL");
    else expect(calls).toEqual([{ id: "call_1_1", name: "x", arguments: "{broken" }]);
  }
});

test("an answer of Responses that fails is told as unavailable", async () => {
  expect((await ask("openai", [{ finish: "failed" }])).error?.code).toBe("MODEL_UNAVAILABLE");
});

test("one server serves several wires in turn, and nobody at another path", async () => {
  await using server = await modelServer((index, { wire }) => ({ text: `${wire} ${index}` }));
  for (const [index, wire] of wireNames.entries()) {
    const model = await modelOn(server, wire);
    expect((await collect(model.stream(question, signal))).text).toBe(`${wire} ${index}`);
  }
  expect((await fetch(`${server.url}/models`)).status).toBe(404);
  expect(server.requests).toHaveLength(4);
});

/** Asks, answers both calls, and asks on. */
async function conversation(server: ModelServer, wire: WireName) {
  const model = await modelOn(server, wire);
  const tools = twoCalls.map(({ name }) => ({
    name,
    origin: name,
    description: "does it",
    inputSchema: { type: "object", properties: { text: { type: "string" } } },
  }));
  const first: ModelRequest = { ...question, system: "Be brief.", tools };
  const { text, calls, end } = await collect(model.stream(first, signal));
  const content = [{ type: "text" as const, text }, ...calls.map((call): Call => ({ type: "call", ...call }))];
  const result = (index: number, said: string, isError: boolean): Message => ({
    role: "tool",
    callId: calls[index]?.id ?? "",
    result: { content: [{ type: "text", text: said }], isError },
  });
  const messages: Message[] = [
    ...question.messages,
    { role: "assistant", content, ...(end?.raw && { raw: end.raw }) },
    result(0, "found", false),
    result(1, "no clock", true),
    { role: "user", content: [{ type: "text", text: "And?" }] },
  ];
  const request = { ...first, messages };
  expect((await collect(model.stream(request, signal))).text).toBe("Done.");
  return { request, model };
}
