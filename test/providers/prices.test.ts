import { expect, test } from "bun:test";
import { calcPrice } from "@pydantic/genai-prices";
import { noUsage } from "../../src/conversation.ts";
import { date, priceTable, source } from "../../src/providers/price-table.ts";
import { costOf, findPrice } from "../../src/providers/prices.ts";
import { collect, open, question } from "../support/ask.ts";
import { wireServer } from "../support/wire-server.ts";

const usage = { ...noUsage, input: 1_000, output: 500, cacheRead: 2_000, cacheWrite: 100 };

test("the table says where it is from and when it was made", () => {
  expect(source).toStartWith("@pydantic/genai-prices ");
  expect(date).toMatch(/^\d{4}-\d\d-\d\d$/);
});

test("every pattern of the table is one, and every price a number", () => {
  for (const row of Object.values(priceTable).flat()) {
    expect(() => new RegExp(row[0])).not.toThrow();
    for (const amount of row[1]) expect(amount === null || typeof amount === "number").toBe(true);
  }
});

test("the cost is the sum of each count times its price, and the same as its source computes", async () => {
  for (const model of [
    "anthropic/claude-sonnet-4-5",
    "openai/gpt-5-mini",
    "google/gemini-2.5-pro",
    "mistral/mistral-large-latest",
    "groq/openai/gpt-oss-120b",
  ]) {
    const [provider = "", name = ""] = model.split(/\/(.*)/s);
    const tokens = { input_tokens: 3_100, output_tokens: 500, cache_read_tokens: 2_000, cache_write_tokens: 100 };
    const theirs = calcPrice(tokens, name, { providerId: provider })?.total_price;
    expect(await costOf(model, usage)).toBeCloseTo(theirs!, 9);
  }
});

test("a long request has the price of long requests", async () => {
  const short = await findPrice("anthropic/claude-sonnet-4-5", 200_000);
  const long = await findPrice("anthropic/claude-sonnet-4-5", 200_001);
  expect([short?.input, long?.input]).toEqual([3, 6]);
});

test("a model that the table does not know has no price, and its cost is unknown", async () => {
  expect(await findPrice("ollama/llama3.3")).toBeUndefined();
  expect(await costOf("openai/no-such-model", usage)).toBeUndefined();
});

test("the manifest's price overrules the table; cached tokens without a price cost what others do", async () => {
  expect(await costOf("openai/gpt-5", usage, { input: 1, output: 2 })).toBeCloseTo(
    (1_000 + 1_000 + 2_000 + 100) / 1e6,
    12,
  );
  expect(await costOf("openai/gpt-5", usage, { input: 1, output: 2, cacheRead: 0.5, cacheWrite: 4 })).toBeCloseTo(
    3_400 / 1e6,
    12,
  );
});

test("an answer says what it cost", async () => {
  const body =
    'data: {"choices":[{"delta":{"content":"x"},"finish_reason":"stop"}],"usage":{"prompt_tokens":1000000,"completion_tokens":0}}\n\n';
  await using server = await wireServer(() => ({ body }));
  const cost = async (name: string, more: object = {}) =>
    (await collect((await open(name, server.url, more)).stream(question, new AbortController().signal))).end?.cost;
  expect(await cost("openai-chat/gpt-4o")).toBe(2.5);
  expect(await cost("openai-chat/gpt-4o", { price: { input: 7, output: 1 } })).toBe(7);
  expect(await cost("vllm/mine")).toBeUndefined();
});
