// Each wire on small streams of our own, through a real HTTP server: what it says, wherever the bytes are cut; an error
// wherever it breaks off; the same as the AI SDK's reading of the same bytes.

import { describe, expect, test } from "bun:test";
import { readEvents } from "../../src/providers/sse.ts";
import { parsed, sdkAnswer, sdkModel, toOurUsage } from "../support/ai-sdk.ts";
import { answerTo, sse } from "../support/ask.ts";
import { randomCuts, wireServer } from "../support/wire-server.ts";
import { type Stream, streams } from "./streams.ts";

const name = ({ provider, what }: Stream) => `${provider}: ${what}`;
const bodyOf = ({ events, provider }: Stream) => sse(events, provider);

describe("the conversation holds what the stream says:", () => {
  for (const stream of streams) {
    test(name(stream), async () => {
      const { text, calls, end, error } = await answerTo(stream.provider, { body: bodyOf(stream) });
      expect(error?.message).toBeUndefined();
      expect(text).toBe(stream.text ?? "");
      const expected = (stream.calls ?? []).map((call) => ({ id: expect.any(String), ...call }));
      expect(calls.map((call) => ({ ...call, arguments: parsed(call.arguments) }))).toEqual(expected);
      expect(end?.reason).toBe(stream.reason);
      if (stream.usage) expect(end?.usage).toEqual({ cacheRead: 0, cacheWrite: 0, reasoning: 0, ...stream.usage });
      if (stream.blocks) expect(end?.raw).toEqual({ by: `${stream.provider}/m`, blocks: stream.blocks });
    });
  }
});

describe("a stream cut at 200 random bytes says the same:", () => {
  for (const [seed, stream] of streams.entries()) {
    test(name(stream), async () => {
      const body = bodyOf(stream);
      const cuts = randomCuts(Buffer.byteLength(body), 200, seed);
      const [whole, pieces] = await Promise.all(
        [{ body }, { body, cuts }].map((reply) => answerTo(stream.provider, reply)),
      );
      expect(pieces?.events.filter(({ type }) => type !== "text")).toEqual(
        whole?.events.filter(({ type }) => type !== "text") ?? [],
      );
      expect(pieces?.text).toBe(whole?.text ?? "");
    });
  }

  test("every single byte on its own, with CRLF, comments and no last blank line", async () => {
    const source = new TextEncoder().encode(
      ': hello\r\n\r\ndata:{"a":"ü😀"}\r\n\r\nevent: x\r\ndata: [1]\r\n\r\ndata: {"b":2}',
    );
    const body = new Response(
      (async function* () {
        for (const byte of source) yield Uint8Array.of(byte);
      })() as any,
    ).body!;
    expect((await Array.fromAsync(readEvents(body))).flat()).toEqual(['{"a":"ü😀"}', "[1]", '{"b":2}']);
  });
});

/** Whether these first events hold the end of the answer. Compatible servers often leave out what follows a stop reason. */
const isWhole: Record<Stream["provider"], (events: any[]) => boolean> = {
  anthropic: (events) => events.some(({ type }) => type === "message_stop"),
  openai: (events) => events.some(({ type }) => /^response\.(completed|incomplete)$/.test(type)),
  "openai-chat": (events) => events.some((event) => event.choices?.[0]?.finish_reason),
  google: (events) => events.some((event) => event.candidates?.[0]?.finishReason || event.promptFeedback),
};

describe("a stream that breaks off after any event is an error, or calls that stand and a word about it:", () => {
  for (const stream of streams) {
    test(name(stream), async () => {
      for (let kept = 0; kept < stream.events.length; kept++) {
        const events = stream.events.slice(0, kept);
        if (isWhole[stream.provider](events)) break;
        const { error, end, calls } = await answerTo(stream.provider, { body: sse(events, stream.provider) });
        if (calls.length === 0) expect(error?.code).toBe("MODEL_UNAVAILABLE");
        else expect(end?.cut).toContain("broke off");
      }
    });
  }
});

describe("the AI SDK reads the same from the same bytes:", () => {
  for (const stream of streams) {
    test(`${name(stream)}${stream.differs ? ` (but for its ${stream.differs.in}: ${stream.differs.because})` : ""}`, async () => {
      await using server = await wireServer({ body: bodyOf(stream) });
      const ours = await answerTo(stream.provider, { body: bodyOf(stream) });
      const theirs = await sdkAnswer(sdkModel(stream.provider, server.url));
      const calls = ours.calls.map((call) => ({ name: call.name, input: parsed(call.arguments) }));
      const found = [
        theirs.error === undefined ? [] : "error",
        ours.text === theirs.text ? [] : "text",
        Bun.deepEquals(calls, theirs.calls) ? [] : "calls",
        !stream.usage || Bun.deepEquals(ours.end?.usage, toOurUsage(theirs.usage)) ? [] : "usage",
      ].flat();
      expect(found).toEqual(stream.differs?.in ?? []);
    });
  }
});

const jsonAnswers: [Stream["provider"], object][] = [
  [
    "anthropic",
    {
      type: "message",
      id: "m",
      role: "assistant",
      content: [
        { type: "text", text: "Hi." },
        { type: "tool_use", id: "t", name: "now", input: { a: 1 } },
      ],
      stop_reason: "tool_use",
      usage: { input_tokens: 3, output_tokens: 2 },
    },
  ],
  [
    "openai",
    {
      object: "response",
      id: "r",
      status: "completed",
      output: [
        { type: "message", role: "assistant", content: [{ type: "output_text", text: "Hi." }] },
        { type: "function_call", call_id: "t", name: "now", arguments: '{"a":1}' },
      ],
      usage: { input_tokens: 3, output_tokens: 2 },
    },
  ],
  [
    "openai-chat",
    {
      choices: [
        {
          index: 0,
          finish_reason: "tool_calls",
          message: {
            role: "assistant",
            content: "Hi.",
            tool_calls: [{ id: "t", type: "function", function: { name: "now", arguments: '{"a":1}' } }],
          },
        },
      ],
      usage: { prompt_tokens: 3, completion_tokens: 2 },
    },
  ],
  [
    "google",
    [
      { candidates: [{ content: { parts: [{ text: "Hi." }] } }] },
      {
        candidates: [
          { content: { parts: [{ functionCall: { id: "t", name: "now", args: { a: 1 } } }] }, finishReason: "STOP" },
        ],
        usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 2 },
      },
    ],
  ],
];

describe("a JSON answer to a streaming request is read too, whatever its content type:", () => {
  for (const [provider, body] of jsonAnswers) {
    test(provider, async () => {
      for (const type of ["application/json", "text/plain"]) {
        const answer = await answerTo(provider, {
          headers: { "content-type": type },
          body: ` ${JSON.stringify(body)}`,
        });
        expect(answer).toMatchObject({
          text: "Hi.",
          calls: [{ id: "t", name: "now", arguments: '{"a":1}' }],
          end: { reason: "tool", usage: { input: 3, output: 2 } },
        });
      }
    });
  }
});
