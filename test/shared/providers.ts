// Every recorded stream, body and error through a real HTTP server: what the recording's own index says of it is what our
// conversation holds.

import { describe, expect, test } from "bun:test";
import { type Answer, answerTo, collect, open, question } from "../support/ask.ts";
import { type Recording, recordings } from "../support/recordings.ts";
import { randomCuts, wireServer } from "../support/wire-server.ts";

const all = recordings();

/** Where the index counts by pattern what is not there. */
const miscounted: Record<string, string> = {
  "anthropic-messages/anthropic-programmatic-tool-calling.1.chunks.txt": "many answers, each with one call",
  "anthropic-messages/anthropic-advisor-stop-reasons.json":
    "its text is an adviser's, inside a block that only the provider reads",
  "google-generative-ai/google-stream-tool-call-array-arguments-missing-terminal-function-call.chunks.txt":
    "one call in many pieces",
  "google-generative-ai/google-vertex-stream-tool-call-arguments-nested.1.chunks.txt": "one call in many pieces",
};

async function answers({ provider, turns }: Recording): Promise<Answer[]> {
  return Promise.all(turns.map((turn) => answerTo(provider, turn)));
}

describe("recorded", () => {
  test("there are recordings of every wire", () => {
    expect(new Set(all.map(({ provider }) => provider)).size).toBe(4);
    expect(all.length).toBeGreaterThan(150);
  });

  for (const recording of all) {
    test(recording.file, async () => check(recording, await answers(recording)));
  }
});

function check({ file, shows: said, status }: Recording, answers: Answer[]): void {
  const shows = file in miscounted ? said.filter((word) => word !== "text" && word !== "parallel-tools") : said;
  const [first] = answers;
  if (status >= 400 || shows.includes("error-body") || shows.includes("stream-error") || shows.includes("truncated")) {
    expect(answers.map(({ error }) => error?.code)).toEqual(answers.map(() => expect.any(String)));
    if (shows.includes("truncated")) expect(first?.error?.code).toBe("MODEL_UNAVAILABLE");
    return;
  }
  for (const { error, end } of answers) {
    expect(error?.message).toBeUndefined();
    expect(end).toBeDefined();
  }
  const has = (word: string) => shows.includes(word);
  const calls = answers.flatMap((answer) => answer.calls);
  const sum = (key: "cacheRead" | "cacheWrite" | "reasoning") =>
    answers.reduce((total, { end }) => total + (end?.usage[key] ?? 0), 0);
  if (has("text")) expect(answers.map(({ text }) => text).join("")).not.toBe("");
  expect(calls.length).toBeGreaterThanOrEqual(has("parallel-tools") ? 2 : has("tool-call") ? 1 : 0);
  if (!has("parallel-tools") && !(file in miscounted)) expect(calls.length).toBe(has("tool-call") ? 1 : 0);
  for (const call of calls) {
    expect(call.name).not.toBe("");
    expect(call.id).not.toBe("");
    expect(() => JSON.parse(call.arguments || "{}")).not.toThrow();
  }
  if (has("cache-read")) expect(sum("cacheRead")).toBeGreaterThan(0);
  if (has("cache-write")) expect(sum("cacheWrite")).toBeGreaterThan(0);
  if (has("reasoning-tokens")) expect(sum("reasoning")).toBeGreaterThan(0);
  const stop = shows.find((word) => word.startsWith("stop:"))?.slice(5);
  if (stop !== undefined) expect(answers.at(-1)?.end?.word).toBe(stop);
  if (has("signature")) {
    const kept = JSON.stringify(answers.map(({ end }) => end?.raw?.blocks));
    expect(kept).toMatch(/"(signature|thoughtSignature|encrypted_content|reasoning_details)":/);
  }
}

const streams = all.filter(({ isStream }) => isStream);

describe("cut at 200 random bytes, the answer is the same:", () => {
  for (const [seed, { file, provider, turns }] of streams.entries()) {
    test(file, async () => {
      for (const turn of turns) {
        const cuts = randomCuts(Buffer.byteLength(turn.body ?? ""), 200, seed);
        const [whole, pieces] = await Promise.all([answerTo(provider, turn), answerTo(provider, { ...turn, cuts })]);
        expect(told(pieces)).toEqual(told(whole));
      }
    });
  }
});

function told({ text, calls, end, error }: Answer) {
  return { text, calls, end, error: error?.code };
}

/** The event after which an answer is whole. Compatible servers often leave out what follows the stop reason. */
const terminal: Record<string, RegExp> = {
  anthropic: /"type": ?"message_stop"/,
  openai: /"type": ?"response\.(completed|incomplete)"/,
  google: /"finishReason": ?"/,
  "openai-chat": /"finish_reason": ?"[a-z]/,
};

describe("broken off after any event, it is an error or says so, never a silent end:", () => {
  for (const { file, provider, turns, shows } of streams) {
    if (shows.includes("truncated") || shows.includes("stream-error")) continue;
    test(file, async () => {
      for (const turn of turns) {
        const frames = String(turn.body).split(/(?<=\n\n)/);
        const whole = await answerTo(provider, turn);
        const end = frames.findIndex((frame) => terminal[provider]?.test(frame));
        expect(end).toBeGreaterThanOrEqual(0);
        await using server = await wireServer((index) => ({ body: frames.slice(0, index).join("") }));
        const model = await open(`${provider}/m`, server.url);
        for (let kept = 0; kept <= frames.length; kept++) {
          const answer = await collect(model.stream(question, new AbortController().signal));
          if (kept <= end) expect(answer.error?.code ?? answer.end?.cut).toBeDefined();
          else expect([answer.text, answer.calls]).toEqual([whole.text, whole.calls]);
        }
      }
    });
  }
});
