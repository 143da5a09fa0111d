// What servers that are only nearly compatible send on the chat wire; each was seen somewhere.

import { describe, expect, test } from "bun:test";
import { parsed } from "../support/ai-sdk.ts";
import { answerTo, sse } from "../support/ask.ts";

const delta = (delta: object, finish_reason: string | null = null) => ({
  choices: [{ index: 0, delta, finish_reason }],
});
const calls = (...tool_calls: object[]) => delta({ tool_calls });
const end = [delta({}, "tool_calls"), "[DONE]"];
const fn = (name: string, args: unknown) => ({ function: { name, arguments: args } });

type Case = [what: string, events: unknown[], expected: { id?: string; name: string; arguments: unknown }[]];
const cases: Case[] = [
  [
    "index is missing",
    [calls({ id: "a", ...fn("f", '{"x":1}') }), calls({ id: "b", ...fn("g", "{}") }), ...end],
    [
      { id: "a", name: "f", arguments: { x: 1 } },
      { id: "b", name: "g", arguments: {} },
    ],
  ],
  [
    "index and id are missing",
    [calls(fn("f", '{"x":1}'), fn("g", "{}")), ...end],
    [
      { id: "call_1_1", name: "f", arguments: { x: 1 } },
      { id: "call_1_2", name: "g", arguments: {} },
    ],
  ],
  [
    "index is always 0",
    [calls({ index: 0, id: "a", ...fn("f", '{"x":1}') }), calls({ index: 0, id: "b", ...fn("g", "{}") }), ...end],
    [
      { id: "a", name: "f", arguments: { x: 1 } },
      { id: "b", name: "g", arguments: {} },
    ],
  ],
  [
    "index begins at 1",
    [calls({ index: 1, id: "a", ...fn("f", "{}") }), ...end],
    [{ id: "a", name: "f", arguments: {} }],
  ],
  [
    "id is empty after the first piece",
    [
      calls({ index: 0, id: "a", ...fn("f", "") }),
      calls({ index: 0, id: "", function: { arguments: '{"x":1}' } }),
      ...end,
    ],
    [{ id: "a", name: "f", arguments: { x: 1 } }],
  ],
  [
    "id and name are on every piece",
    [calls({ index: 0, id: "a", ...fn("f", '{"x"') }), calls({ index: 0, id: "a", ...fn("f", ":1}") }), ...end],
    [{ id: "a", name: "f", arguments: { x: 1 } }],
  ],
  [
    "two calls have one id",
    [calls({ index: 0, id: "a", ...fn("f", "{}") }), calls({ index: 1, id: "a", ...fn("g", "{}") }), ...end],
    [
      { id: "a", name: "f", arguments: {} },
      { id: "call_1_2", name: "g", arguments: {} },
    ],
  ],
  [
    "arguments are an object",
    [calls({ index: 0, id: "a", ...fn("f", { x: 1 }) }), ...end],
    [{ id: "a", name: "f", arguments: { x: 1 } }],
  ],
  [
    "pieces of two calls take turns",
    [
      calls({ index: 0, id: "a", ...fn("f", '{"x"') }),
      calls({ index: 1, id: "b", ...fn("g", '{"y"') }),
      calls({ index: 0, function: { arguments: ":1}" } }),
      calls({ index: 1, function: { arguments: ":2}" } }),
      ...end,
    ],
    [
      { id: "a", name: "f", arguments: { x: 1 } },
      { id: "b", name: "g", arguments: { y: 2 } },
    ],
  ],
  [
    "the stop reason is stop",
    [calls({ index: 0, id: "a", ...fn("f", "{}") }), delta({}, "stop"), "[DONE]"],
    [{ id: "a", name: "f", arguments: {} }],
  ],
  [
    "[DONE] never comes",
    [calls({ index: 0, id: "a", ...fn("f", "{}") }), delta({}, "tool_calls")],
    [{ id: "a", name: "f", arguments: {} }],
  ],
];

describe("calls are read right although", () => {
  for (const [what, events, expected] of cases) {
    test(what, async () => {
      const answer = await answerTo("openai-chat", { body: sse(events, "openai-chat") });
      expect(answer.error?.message).toBeUndefined();
      expect(answer.calls.map((call) => ({ ...call, arguments: parsed(call.arguments) }))).toEqual(expected as any);
      expect(answer.end?.reason).toBe("tool");
    });
  }
});

test("broken arguments are told as they are, for the tool table to answer with an error", async () => {
  const { calls: told, error } = await answerTo("openai-chat", {
    body: sse([calls({ index: 0, id: "a", ...fn("f", '{"x":') }), ...end], "openai-chat"),
  });
  expect(error).toBeUndefined();
  expect(told).toEqual([{ id: "a", name: "f", arguments: '{"x":' }]);
});

test("an empty stop reason is none: the answer was cut", async () => {
  const { error } = await answerTo("openai-chat", {
    body: sse([delta({ content: "x" }, ""), "[DONE]"], "openai-chat"),
  });
  expect(error).toMatchObject({ code: "MODEL_UNAVAILABLE", message: expect.stringContaining("broke off") });
});

test("Mistral's list of thoughts and texts is text, and goes back as a list", async () => {
  const thought = { type: "thinking", thinking: [{ type: "text", text: "Hm." }] };
  const events = [
    delta({ content: [thought] }),
    delta({ content: [{ type: "text", text: "Hi" }] }),
    delta({ content: "!" }),
    delta({}, "stop"),
    "[DONE]",
  ];
  const { text, end: ended } = await answerTo("mistral", { body: sse(events, "mistral") });
  expect(text).toBe("Hi!");
  expect(ended?.raw?.blocks).toEqual([
    { content: [thought, { type: "text", text: "Hi" }, { type: "text", text: "!" }] },
  ]);
});

test("OpenRouter's reasoning pieces are joined by type and index, and its cost is believed", async () => {
  const piece = (index: number, text: string, more: object = {}) => ({
    type: "reasoning.text",
    index,
    text,
    format: "f",
    ...more,
  });
  const events = [
    delta({ reasoning: "a", reasoning_details: [piece(0, "a")] }),
    delta({ reasoning_details: [piece(0, "b"), piece(0, "", { signature: "s" })] }),
    delta({ reasoning_details: [piece(1, "c")] }),
    delta({ content: "ok" }, "stop"),
    { choices: [], usage: { prompt_tokens: 5, completion_tokens: 2, cost: 0.25 } },
    "[DONE]",
  ];
  const { end: ended } = await answerTo("openrouter", {
    body: `: OPENROUTER PROCESSING\n\n${sse(events, "openrouter")}`,
  });
  expect(ended?.raw?.blocks).toMatchObject([
    { reasoning_details: [piece(0, "ab", { signature: "s" }), piece(1, "c")] },
  ]);
  expect(ended?.cost).toBe(0.25);
});

test("reasoning that a server leaves out of its output is counted in, where the total shows it", async () => {
  const usage = (total_tokens: number) => ({
    choices: [],
    usage: {
      prompt_tokens: 10,
      completion_tokens: 5,
      total_tokens,
      completion_tokens_details: { reasoning_tokens: 4 },
    },
  });
  const output = async (total: number) =>
    (await answerTo("xai", { body: sse([delta({ content: "x" }, "stop"), usage(total), "[DONE]"], "xai") })).end?.usage
      .output;
  expect([await output(15), await output(19)]).toEqual([5, 9]);
});

test("usage is found where Groq puts it, and DeepSeek's cache hits are counted", async () => {
  const groq = [
    delta({ content: "x" }, "stop"),
    { choices: [], x_groq: { usage: { prompt_tokens: 7, completion_tokens: 2 } } },
    "[DONE]",
  ];
  expect((await answerTo("groq", { body: sse(groq, "groq") })).end?.usage).toMatchObject({ input: 7, output: 2 });
  const deepseek = [
    delta({ content: "x" }, "stop"),
    { choices: [], usage: { prompt_tokens: 7, completion_tokens: 2, prompt_cache_hit_tokens: 3 } },
    "[DONE]",
  ];
  expect((await answerTo("deepseek", { body: sse(deepseek, "deepseek") })).end?.usage).toMatchObject({
    input: 4,
    cacheRead: 3,
  });
});

test("a refusal in its own field is a refusal", async () => {
  const { end: ended } = await answerTo("openai-chat", {
    body: sse([delta({ refusal: "No." }), delta({}, "stop"), "[DONE]"], "openai-chat"),
  });
  expect(ended?.reason).toBe("refusal");
});

test("nonsense of every shape is survived", async () => {
  const nonsense = [
    null,
    1,
    "x",
    [],
    {},
    { choices: null },
    { choices: [null] },
    { choices: [{ delta: { tool_calls: [null, 1, { function: null }] } }] },
    { usage: "x" },
  ];
  for (const provider of ["openai-chat", "anthropic", "openai", "google"]) {
    const { error } = await answerTo(provider, { body: sse(nonsense, provider) });
    expect(error?.code).toBe("MODEL_UNAVAILABLE");
  }
});
