// One conversation with everything in it, written by each wire, beside what the AI SDK writes for the same; and what must go
// back unchanged.

import { describe, expect, test } from "bun:test";
import type { Message, ModelRequest } from "../../src/conversation.ts";
import { sdkAnswer, sdkModel } from "../support/ai-sdk.ts";
import { answerTo, collect, open, sse } from "../support/ask.ts";
import { differences, unexplained } from "../support/compare.ts";
import { wireServer } from "../support/wire-server.ts";
import { streams } from "./streams.ts";

const schema = {
  type: "object",
  properties: { city: { type: "string" } },
  required: ["city"],
  additionalProperties: false,
};
const image = { type: "image" as const, mimeType: "image/png", data: "iVBORw0KGgo=" };
const request: ModelRequest = {
  system: "Be brief.",
  messages: [
    { role: "user", content: [{ type: "text", text: "What is this?" }, image] },
    {
      role: "assistant",
      content: [
        { type: "text", text: "Let me see." },
        { type: "call", id: "c1", name: "look", arguments: '{"city":"Bern"}' },
        { type: "call", id: "c2", name: "look", arguments: '{"city":"Rom"}' },
      ],
    },
    { role: "tool", callId: "c1", result: { content: [{ type: "text", text: "rain" }], isError: false } },
    { role: "tool", callId: "c2", result: { content: [{ type: "text", text: "no such place" }], isError: true } },
    { role: "assistant", content: [{ type: "text", text: "Rain." }] },
    { role: "user", content: [{ type: "text", text: "Thanks." }] },
  ],
  tools: [{ name: "look", origin: "s/look", description: "Looks.", inputSchema: schema }],
};

const theirs = {
  prompt: [
    { role: "system", content: "Be brief." },
    {
      role: "user",
      content: [
        { type: "text", text: "What is this?" },
        { type: "file", mediaType: "image/png", data: { type: "data", data: image.data } },
      ],
    },
    {
      role: "assistant",
      content: [
        { type: "text", text: "Let me see." },
        { type: "tool-call", toolCallId: "c1", toolName: "look", input: { city: "Bern" } },
        { type: "tool-call", toolCallId: "c2", toolName: "look", input: { city: "Rom" } },
      ],
    },
    {
      role: "tool",
      content: [
        { type: "tool-result", toolCallId: "c1", toolName: "look", output: { type: "text", value: "rain" } },
        {
          type: "tool-result",
          toolCallId: "c2",
          toolName: "look",
          output: { type: "error-text", value: "no such place" },
        },
      ],
    },
    { role: "assistant", content: [{ type: "text", text: "Rain." }] },
    { role: "user", content: [{ type: "text", text: "Thanks." }] },
  ],
  tools: [{ type: "function", name: "look", description: "Looks.", inputSchema: schema }],
  temperature: 0.5,
  maxOutputTokens: 99,
};

const models = { anthropic: "claude-sonnet-4-5", openai: "gpt-4.1", "openai-chat": "m", google: "gemini-2.5-flash" };
const explained: Record<keyof typeof models, [RegExp, string][]> = {
  anthropic: [
    [/cache_control/, "we mark tools, system and history for the cache"],
    [/^messages\.2\.content\.\d\.content/, "a text alone and a list with one text mean the same"],
    [/^tool_choice$/, "auto is the default"],
    [/eager_input_streaming$/, "we read a call when it is whole, and so ask for no early pieces"],
  ],
  openai: [
    [
      /^input\.0$|^input\.\d\.(role|content|type|call_id|name|arguments|output)/,
      "our system prompt is in instructions, so that every item stands one place earlier",
    ],
    [/^input\.[78]$/, "the same"],
    [/^instructions$/, "the same"],
    [/^store$/, "we store nothing at the provider"],
    [/strict$/, "said, because some servers take its absence for true"],
    [/^tool_choice$/, "auto is the default"],
  ],
  "openai-chat": [
    [/^messages\.4\.content$/, "this wire has no flag for a failed call: we say it in words"],
    [/^messages\.0\.content/, "a text alone and a list with one text mean the same"],
    [/^max_(completion_)?tokens$/, "the two words for one limit"],
    [/^tool_choice$/, "auto is the default"],
  ],
  google: [
    [/^tools\.0\.functionDeclarations\.0\.parameters/, "we send JSON Schema as it is, in its own field"],
    [/^toolConfig/, "auto is the default"],
    [/functionResponse\.response/, "the shape inside is the sender's: we say output or error"],
    [/functionResponse\.id|functionCall\.id/, "an id that the model did not give is not sent"],
  ],
};

async function sent(provider: string, model: string) {
  await using server = await wireServer(() => ({ status: 400, body: "{}" }));
  const ours = await open(`${provider}/${model}`, server.url, { temperature: 0.5, maxTokens: 99 });
  await collect(ours.stream(request, new AbortController().signal));
  await sdkAnswer(sdkModel(provider, server.url, model), theirs);
  return server.requests.map(({ body, path }) => ({ body, path }));
}

describe("the same conversation as the AI SDK writes it, but for what is listed:", () => {
  for (const [provider, model] of Object.entries(models)) {
    test(provider, async () => {
      const [ours, sdk] = await sent(provider, model);
      expect(sdk?.path).toBe(ours?.path.replace(/^\/v1\/v1/, "/v1") ?? "");
      const found = differences(ours?.body, sdk?.body);
      expect(unexplained(found, explained[provider as keyof typeof models])).toEqual([]);
    });
  }
});

test("on the Responses wire every item but the system prompt is the AI SDK's", async () => {
  const [ours, sdk] = await sent("openai", models.openai);
  expect(ours?.body.instructions).toBe("Be brief.");
  expect(sdk?.body.input[0]).toMatchObject({ role: "system", content: "Be brief." });
  const rest = differences(ours?.body.input, sdk?.body.input.slice(1));
  expect(rest).toEqual(["5.output"]); // no flag for a failed call: we say it in words
});

describe("an answer goes back as it came, in the next request:", () => {
  for (const stream of streams.filter(({ blocks, calls }) => blocks && calls)) {
    test(`${stream.provider}: ${stream.what}`, async () => {
      const { end, calls } = await answerTo(stream.provider, { body: sse(stream.events, stream.provider) });
      const turn: Message = {
        role: "assistant",
        content: calls.map((call) => ({ type: "call", ...call })),
        raw: end!.raw!,
      };
      const results = calls.map(
        (call): Message => ({
          role: "tool",
          callId: call.id,
          result: { content: [{ type: "text", text: call.name }], isError: false },
        }),
      );
      await using server = await wireServer(() => ({ status: 400, body: "{}" }));
      const model = await open(`${stream.provider}/m`, server.url);
      const messages = [request.messages[0]!, turn, ...results];
      await collect(model.stream({ messages, tools: [] }, new AbortController().signal));
      const { body } = server.requests[0]!;
      const places: Record<string, () => unknown> = {
        anthropic: () => body.messages[1].content,
        openai: () => body.input.slice(1, 1 + stream.blocks!.length),
        google: () => body.contents[1].parts,
        "openai-chat": () => [{ reasoning_content: body.messages[1].reasoning_content }],
      };
      expect(places[stream.provider]!()).toEqual(stream.blocks!);
      expect(JSON.stringify(body)).toContain(stream.calls![0]!.name);
    });
  }
});

describe("another model is told the plain view:", () => {
  const raw = { by: "anthropic/other", blocks: [{ type: "thinking", thinking: "Hm.", signature: "secret" }] };
  const history: Message[] = [
    request.messages[0]!,
    { ...request.messages[1]!, raw } as Message,
    ...request.messages.slice(2),
  ];
  for (const [provider, model] of Object.entries({ ...models, google: "gemini-3-pro", mistral: "m" })) {
    test(provider, async () => {
      await using server = await wireServer(() => ({ status: 400, body: "{}" }));
      const ours = await open(`${provider}/${model}`, server.url);
      await collect(ours.stream({ ...request, messages: history }, new AbortController().signal));
      const { body } = server.requests[0]!;
      expect(JSON.stringify(body)).not.toContain("secret");
      expect(JSON.stringify(body)).toContain("Let me see.");
      if (provider === "google")
        expect(body.contents[1].parts[1]).toEqual({
          functionCall: { name: "look", args: { city: "Bern" } },
          thoughtSignature: "skip_thought_signature_validator",
        });
      if (provider === "mistral") {
        const ids = body.messages[2].tool_calls.map((call: any) => call.id);
        expect(ids).toEqual([expect.stringMatching(/^[a-z0-9]{9}$/), expect.stringMatching(/^[a-z0-9]{9}$/)]);
        expect(body.messages.slice(3, 5).map((message: any) => message.tool_call_id)).toEqual(ids);
      }
    });
  }
});

const seen: Message[] = [
  request.messages[0]!,
  { role: "assistant", content: [{ type: "call", id: "c1", name: "look", arguments: "" }] },
  {
    role: "tool",
    callId: "c1",
    result: {
      content: [{ type: "text", text: "here" }, image, { type: "image", mimeType: "image/svg+xml", data: "x" }],
      isError: false,
    },
  },
];
const pictures: Record<string, (body: any) => unknown> = {
  "anthropic/m": (body) => body.messages[2].content[0].content[1].source.data,
  "openai/m": (body) => body.input[2].output[1].image_url,
  "openai-chat/m": (body) => body.messages[3].content[0].image_url.url,
  "google/gemini-3-pro": (body) => body.contents[2].parts[0].functionResponse.parts[0].inlineData.data,
  "google/gemini-2.5-pro": (body) => body.contents[2].parts[1].inlineData.data,
};
describe("a picture in a result reaches the model, one of another kind is told of, and no arguments are an empty object:", () => {
  for (const [name, place] of Object.entries(pictures)) {
    test(name, async () => {
      await using server = await wireServer(() => ({ status: 400, body: "{}" }));
      await collect((await open(name, server.url)).stream({ messages: seen, tools: [] }, new AbortController().signal));
      const { body } = server.requests[0]!;
      expect(place(body)).toEndWith(image.data);
      expect(JSON.stringify(body)).toContain("image/svg+xml, not shown");
      expect(JSON.stringify(body)).toMatch(/"(input|args)":\{\}|"arguments":"\{\}"/);
    });
  }
});

const thinking: [string, string, object][] = [
  ["anthropic/claude-sonnet-4-5", "low", { thinking: { type: "enabled", budget_tokens: 2_048 }, max_tokens: 32_000 }],
  ["anthropic/claude-opus-4-7", "high", { thinking: { type: "adaptive" }, output_config: { effort: "high" } }],
  ["anthropic/claude-opus-4-7", "off", { thinking: { type: "disabled" } }],
  [
    "openai/gpt-5",
    "medium",
    { reasoning: { effort: "medium" }, include: ["reasoning.encrypted_content"], store: false },
  ],
  ["openai-chat/gpt-5", "low", { reasoning_effort: "low" }],
  ["openrouter/x/y", "high", { reasoning: { effort: "high" }, model: "x/y" }],
  ["deepseek/deepseek-chat", "off", { thinking: { type: "disabled" } }],
  ["google/gemini-2.5-flash", "off", { generationConfig: { thinkingConfig: { thinkingBudget: 0 } } }],
  ["google/gemini-3-pro", "low", { generationConfig: { thinkingConfig: { thinkingLevel: "LOW" } } }],
];
describe("how much to think is said in each one's words:", () => {
  for (const [name, level, expected] of thinking) {
    test(`${name}: ${level}`, async () => {
      await using server = await wireServer(() => ({ status: 401, body: "{}" }));
      const model = await open(name, server.url, { thinking: level as any });
      await collect(model.stream({ messages: request.messages.slice(0, 1), tools: [] }, new AbortController().signal));
      expect(server.requests[0]?.body).toMatchObject(expected);
    });
  }
});

test("Anthropic's cache is marked at the tools, the system prompt and the last two of our turns: four marks, never more", async () => {
  await using server = await wireServer(() => ({ status: 400, body: "{}" }));
  const model = await open("anthropic/m", server.url);
  await collect(
    model.stream({ ...request, messages: [...request.messages, ...request.messages] }, new AbortController().signal),
  );
  expect(JSON.stringify(server.requests[0]?.body).match(/cache_control/g)).toHaveLength(4);
  expect(server.requests[0]?.body.messages.at(-1).content.at(-1).cache_control).toEqual({ type: "ephemeral" });
});

test("Claude behind OpenRouter has its cache marked at the system prompt and the last message; other models have none", async () => {
  await using server = await wireServer(() => ({ status: 400, body: "{}" }));
  for (const name of ["openrouter/anthropic/claude-sonnet-4.5", "openrouter/x/y"]) {
    await collect((await open(name, server.url)).stream(request, new AbortController().signal));
  }
  const [claude, other] = server.requests.map(({ body }) => body);
  const mark = { cache_control: { type: "ephemeral" } };
  expect(claude.messages[0]).toEqual({ role: "system", content: [{ type: "text", text: "Be brief.", ...mark }] });
  expect(claude.messages.at(-1)).toEqual({ role: "user", content: [{ type: "text", text: "Thanks.", ...mark }] });
  expect(JSON.stringify(claude).match(/cache_control/g)).toHaveLength(2);
  expect(JSON.stringify(other)).not.toContain("cache_control");
});
