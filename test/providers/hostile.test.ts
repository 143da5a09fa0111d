// Servers that leave out what they must send, send it twice, or quote what they must not.

import { describe, expect, test } from "bun:test";
import { answerTo, collect, open, question, sse } from "../support/ask.ts";
import { wireServer } from "../support/wire-server.ts";

const key = "sk-secret-1234567890";
const chat = (delta: object, finish_reason: string | null = null) => ({
  choices: [{ index: 0, delta, finish_reason }],
});

describe("a key that the server quotes is not in the error:", () => {
  const quoting = { error: { message: `bad key ${key} \u001b[31mred\nline`, code: "invalid_api_key" } };
  const replies = {
    "with a status": { status: 401, body: JSON.stringify(quoting) },
    "inside the stream": { body: sse([quoting], "openai-chat") },
  };
  for (const provider of ["anthropic", "openai", "openai-chat", "google"]) {
    for (const [what, reply] of Object.entries(replies)) {
      test(`${provider}, ${what}`, async () => {
        await using server = await wireServer(reply);
        const model = await open(`${provider}/m`, server.url, { apiKey: key });
        const { error } = await collect(model.stream(question, new AbortController().signal));
        expect(error?.message).toContain("bad key ‹");
        expect(error?.message).not.toContain(key);
        expect(error?.message).not.toMatch(/[\u001b\n]/);
      });
    }
  }
});

test("events without data and a marker with a blank behind it are survived", async () => {
  const body = `data:\n\ndata: \n\n${sse([chat({ content: "x" }, "stop"), "[DONE] "], "openai-chat")}`;
  const { text, error } = await answerTo("openai-chat", { body: body.replace('"[DONE] "', "[DONE] ") });
  expect(error?.message).toBeUndefined();
  expect(text).toBe("x");
});

test("calls that share an index and have no ids are told apart by their names", async () => {
  const part = (name: string) => ({ index: 0, id: "", function: { name, arguments: "{}" } });
  const events = [chat({ tool_calls: [part("f"), part("g")] }, "tool_calls"), "[DONE]"];
  const { calls } = await answerTo("openai-chat", { body: sse(events, "openai-chat") });
  expect(calls.map(({ name, arguments: args }) => [name, args])).toEqual([
    ["f", "{}"],
    ["g", "{}"],
  ]);
});

test("an Anthropic call without id, input or end is whole, and goes back whole", async () => {
  const events = [
    { type: "message_start", message: { id: "m" } },
    { type: "content_block_start", index: 0, content_block: { type: "tool_use", name: "f" } },
    { type: "content_block_delta", index: 0, delta: { type: "input_json_delta", partial_json: '{"a":1}' } },
    { type: "message_delta", delta: { stop_reason: "tool_use" } },
    { type: "message_stop" },
  ];
  const { calls, end } = await answerTo("anthropic", { body: sse(events, "anthropic") });
  expect(calls).toEqual([{ id: "call_1_1", name: "f", arguments: '{"a":1}' }]);
  expect(end?.raw?.blocks).toEqual([{ type: "tool_use", id: "call_1_1", name: "f", input: { a: 1 } }]);
});

test("a Responses call without an id goes back with the one that its result has", async () => {
  const item = { type: "function_call", name: "f", arguments: "{}" };
  const events = [
    { type: "response.output_item.done", output_index: 0, item },
    { type: "response.completed", response: { status: "completed" } },
  ];
  const { calls, end } = await answerTo("openai", { body: sse(events, "openai") });
  expect(calls.map(({ id }) => id)).toEqual(["call_1_1"]);
  expect(end?.raw?.blocks).toEqual([{ ...item, call_id: "call_1_1" }]);
});

test("a Gemini part whose call is null is its text", async () => {
  const parts = [{ functionCall: null, text: "hi" }];
  const events = [{ candidates: [{ content: { parts }, finishReason: "STOP" }] }];
  const { calls, text } = await answerTo("google", { body: sse(events, "google") });
  expect(calls).toEqual([]);
  expect(text).toBe("hi");
});
