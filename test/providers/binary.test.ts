// The compiled binary with each provider's wire, as a user has it.

import { describe, expect, test } from "bun:test";
import { sse } from "../support/ask.ts";
import { omega } from "../support/omega.ts";
import { fixtureServer, manifest } from "../support/skills.ts";
import { temporaryFolder } from "../support/temporary.ts";
import { type Reply, wireServer } from "../support/wire-server.ts";

const tool = "mcp__good__echo";
const turns: Record<string, { model: string; host: string; call: unknown[]; answer: unknown[] }> = {
  anthropic: {
    model: "anthropic/claude-sonnet-4-5",
    host: "ANTHROPIC_BASE_URL",
    call: [
      { type: "message_start", message: { id: "1", usage: { input_tokens: 1_000, output_tokens: 1 } } },
      {
        type: "content_block_start",
        index: 0,
        content_block: { type: "tool_use", id: "t", name: tool, input: { text: "hi" } },
      },
      { type: "content_block_stop", index: 0 },
      { type: "message_delta", delta: { stop_reason: "tool_use" }, usage: { output_tokens: 100 } },
      { type: "message_stop" },
    ],
    answer: [
      { type: "message_start", message: { id: "2", usage: { input_tokens: 1_000 } } },
      { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
      { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "Done." } },
      { type: "content_block_stop", index: 0 },
      { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 100 } },
      { type: "message_stop" },
    ],
  },
  openai: {
    model: "openai/gpt-5-mini",
    host: "OPENAI_BASE_URL",
    call: [
      {
        type: "response.output_item.done",
        output_index: 0,
        item: { type: "function_call", call_id: "t", name: tool, arguments: '{"text":"hi"}' },
      },
      {
        type: "response.completed",
        response: { status: "completed", usage: { input_tokens: 1_000, output_tokens: 100 } },
      },
    ],
    answer: [
      { type: "response.output_text.delta", output_index: 0, delta: "Done." },
      {
        type: "response.completed",
        response: { status: "completed", usage: { input_tokens: 1_000, output_tokens: 100 } },
      },
    ],
  },
  google: {
    model: "google/gemini-2.5-flash",
    host: "GOOGLE_GEMINI_BASE_URL",
    call: [
      {
        candidates: [
          { content: { parts: [{ functionCall: { name: tool, args: { text: "hi" } } }] }, finishReason: "STOP" },
        ],
        usageMetadata: { promptTokenCount: 1_000, candidatesTokenCount: 100 },
      },
    ],
    answer: [
      {
        candidates: [{ content: { parts: [{ text: "Done." }] }, finishReason: "STOP" }],
        usageMetadata: { promptTokenCount: 1_000, candidatesTokenCount: 100 },
      },
    ],
  },
};

const skill = (more: object = {}) =>
  temporaryFolder({ "skill.yaml": manifest({ good: fixtureServer("good.mjs") }, more) });

describe("a run with a call is done, with usage and cost:", () => {
  for (const [provider, { model, host, call, answer }] of Object.entries(turns)) {
    test(provider, async () => {
      await using server = await wireServer([{ body: sse(call, provider) }, { body: sse(answer, provider) }]);
      using folder = skill();
      const { code, stdout, stderr } = await omega(["run", folder.path, "--json", "--model", model], {
        env: { [host]: server.url },
      });
      expect(stderr).not.toContain("error");
      expect(code).toBe(0);
      const envelope = JSON.parse(stdout);
      expect(envelope).toMatchObject({
        model,
        outcome: "done",
        text: "Done.",
        toolCalls: 1,
        usage: { input: 2_000, output: 200 },
      });
      expect(envelope.cost).toBeGreaterThan(0);
      expect(JSON.stringify(server.requests[1]?.body)).toContain("echo: hi");
    });
  }
});

const say = (content: string, finish_reason: string | null = null) => ({
  choices: [{ delta: { content }, finish_reason }],
});
const fine: Reply = { body: sse([say("fine", "stop"), "[DONE]"], "openai-chat") };

test("stream-json tells a retry in its place, the answer has no half twice, and the cost of an unknown model is null", async () => {
  await using server = await wireServer([{ body: sse([say("half ")], "openai-chat") }, fine]);
  using folder = skill();
  const { code, stdout } = await omega(["run", folder.path, "--format", "stream-json", "--model", "vllm/m"], {
    env: { VLLM_BASE_URL: server.url },
  });
  expect(code).toBe(0);
  const events = stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(events.map(({ type }) => type)).toEqual(
    "start starting server turn text retry text usage answer end".split(" "),
  );
  expect(events.at(-1)).toMatchObject({ text: "fine", cost: null });
});

test("a rate limit whose wait would pass the time limit is unavailable at once, and says when to come back", async () => {
  await using server = await wireServer(() => ({
    status: 429,
    headers: { "retry-after": "3600" },
    body: '{"error":{"message":"slow down"}}',
  }));
  using folder = skill();
  const { code, stdout } = await omega(["run", folder.path, "--json", "--model", "openai-chat/m"], {
    env: { OPENAI_BASE_URL: server.url },
  });
  expect(code).toBe(75);
  expect(JSON.parse(stdout)).toMatchObject({
    outcome: "unavailable",
    retryable: true,
    retryAfterMs: 3_600_000,
    cost: 0,
  });
  expect(server.requests).toHaveLength(1);
});

test("a prompt too long is the limit of context", async () => {
  await using server = await wireServer({
    status: 400,
    body: '{"error":{"message":"too much","code":"context_length_exceeded"}}',
  });
  using folder = skill();
  const { code, stdout } = await omega(["run", folder.path, "--json", "--model", "openai-chat/m"], {
    env: { OPENAI_BASE_URL: server.url },
  });
  expect(code).toBe(5);
  expect(JSON.parse(stdout)).toMatchObject({ outcome: "limit", code: "context" });
});

test("what the manifest says of its model reaches the provider", async () => {
  await using server = await wireServer(() => fine);
  using folder = skill({
    model: {
      name: "openai-chat/m",
      baseUrl: server.url,
      apiKey: "from-manifest",
      headers: { "x-team": "docs" },
      temperature: 0.2,
      maxTokens: 99,
      price: { input: 1, output: 1 },
    },
  });
  const { code, stdout } = await omega(["run", folder.path, "--json"], { env: { OPENAI_API_KEY: "from-environment" } });
  expect(code).toBe(0);
  expect(server.requests[0]?.headers).toMatchObject({ authorization: "Bearer from-manifest", "x-team": "docs" });
  expect(server.requests[0]?.body).toMatchObject({ temperature: 0.2, max_completion_tokens: 99 });
  expect(JSON.parse(stdout).cost).toBe(0);
});

test("a key of the environment does not go to a host that the manifest names", async () => {
  await using server = await wireServer(() => fine);
  using folder = skill({ model: { name: "openai-chat/m", baseUrl: server.url } });
  const { code } = await omega(["run", folder.path], { env: { OPENAI_API_KEY: "sk-canary" } });
  expect(code).toBe(0);
  expect(JSON.stringify(server.requests)).not.toContain("sk-canary");
});

test("without a model the error lists the keys that are there; OMEGA_MODEL settles it", async () => {
  await using server = await wireServer(() => fine);
  using folder = skill();
  const env = { GROQ_API_KEY: "gsk-canary", XAI_API_KEY: "x" };
  const { code, stderr } = await omega(["run", folder.path], { env });
  expect(code).toBe(2);
  expect(stderr).toContain("no model is set (keys found: GROQ_API_KEY, XAI_API_KEY)");
  expect(stderr).not.toContain("canary");
  const settled = await omega(["run", folder.path], { env: { OMEGA_MODEL: "vllm/m", VLLM_BASE_URL: server.url } });
  expect(settled).toMatchObject({ code: 0, stdout: "fine\n" });
});

test("changed schemas are told with -v only, in text and in stream-json", async () => {
  await using server = await wireServer([
    { status: 400, body: '{"error":{"message":"no stream_options here"}}' },
    fine,
    { status: 400, body: '{"error":{"message":"no stream_options here"}}' },
    fine,
    fine,
  ]);
  using folder = skill();
  const run = (...flags: string[]) =>
    omega(["run", folder.path, "--model", "vllm/m", ...flags], { env: { VLLM_BASE_URL: server.url } });
  expect((await run("-v")).stderr).toContain("does not take stream_options");
  const quiet = await run("--format", "stream-json");
  expect(quiet.stdout + quiet.stderr).not.toContain("stream_options");
});

test("omega models lists every provider, keys by name only, and the models of those that have a list", async () => {
  await using server = await wireServer(() => ({
    body: '{"data":[{"id":"b"},{"id":"a"}]}',
    headers: { "content-type": "application/json" },
  }));
  const env = { OPENAI_API_KEY: "sk-canary", OPENAI_BASE_URL: server.url };
  const { code, stdout } = await omega(["models", "--json"], { env });
  expect(code).toBe(0);
  expect(stdout).not.toContain("canary");
  const listings = JSON.parse(stdout);
  expect(listings).toHaveLength(15);
  expect(listings).toContainEqual({
    provider: "openai",
    key: "OPENAI_API_KEY",
    needsKey: true,
    variables: ["OPENAI_API_KEY"],
    url: server.url,
    models: ["a", "b"],
    problem: null,
  });
  expect(listings).toContainEqual(expect.objectContaining({ provider: "anthropic", key: null, models: null }));

  const text = await omega(["models", "openai"], { env });
  expect(text.stdout).toBe(`openai: key from OPENAI_API_KEY, ${server.url}\n  openai/a\n  openai/b\n`);
  expect(await omega(["models", "opnai"])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('did you mean "openai"?'),
  });
});
