// CPU per chunk on a long stream, and the time to the first request, beside the AI SDK: both in one run, taking turns, each
// measure in a process of its own so that neither warms up the other. Run: bun test/bench/providers.ts

import { spawnSync } from "node:child_process";
import { sse } from "../support/ask.ts";
import { wireServer } from "../support/wire-server.ts";

const CHUNKS = 5_000;
const ROUNDS = 5;
const READS = 20;
const root = new URL("../..", import.meta.url).pathname;

const word = "lorem ipsum ";
const long: Record<string, unknown[]> = {
  anthropic: [
    {
      type: "message_start",
      message: {
        id: "m",
        type: "message",
        role: "assistant",
        model: "m",
        content: [],
        usage: { input_tokens: 1, output_tokens: 1 },
      },
    },
    { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
    ...Array(CHUNKS).fill({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text: word } }),
    { type: "content_block_stop", index: 0 },
    { type: "message_delta", delta: { stop_reason: "end_turn", stop_sequence: null }, usage: { output_tokens: 9 } },
    { type: "message_stop" },
  ],
  openai: [
    { type: "response.created", response: { id: "r", created_at: 1, model: "m" } },
    {
      type: "response.output_item.added",
      output_index: 0,
      item: { type: "message", id: "i", role: "assistant", content: [] },
    },
    ...Array(CHUNKS).fill({
      type: "response.output_text.delta",
      output_index: 0,
      item_id: "i",
      content_index: 0,
      delta: word,
    }),
    {
      type: "response.output_item.done",
      output_index: 0,
      item: {
        type: "message",
        id: "i",
        role: "assistant",
        content: [{ type: "output_text", text: word.repeat(CHUNKS), annotations: [] }],
      },
    },
    { type: "response.completed", response: { status: "completed", usage: { input_tokens: 1, output_tokens: 9 } } },
  ],
  "openai-chat": [
    ...Array(CHUNKS).fill({
      id: "c",
      object: "chat.completion.chunk",
      created: 1,
      model: "m",
      choices: [{ index: 0, delta: { content: word }, finish_reason: null }],
    }),
    {
      id: "c",
      created: 1,
      model: "m",
      choices: [{ index: 0, delta: {}, finish_reason: "stop" }],
      usage: { prompt_tokens: 1, completion_tokens: 9 },
    },
    "[DONE]",
  ],
  google: [
    ...Array(CHUNKS).fill({
      candidates: [{ content: { role: "model", parts: [{ text: word }] } }],
      usageMetadata: { promptTokenCount: 1 },
    }),
    {
      candidates: [{ content: { role: "model", parts: [{ text: "" }] }, finishReason: "STOP" }],
      usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 9 },
    },
  ],
};

/** Reads the stream a few times to warm up, then more often while the CPU time is taken. */
const measureCpu = `
  for (let i = 0; i < 5; i++) await read();
  const before = process.cpuUsage();
  for (let i = 0; i < ${READS}; i++) {
    const text = await read();
    if (text.length !== ${word.length * CHUNKS}) throw new Error("wrong text: " + text.length);
  }
  const { user, system } = process.cpuUsage(before);
  console.log((user + system) / ${READS});
`;
/** From the start of the module to the moment the request is handed to fetch. */
const measureFirst = `
  const inner = globalThis.fetch;
  let at;
  globalThis.fetch = (...args) => { at ??= performance.now(); return inner(...args); };
  await read();
  console.log(Math.round((at - begun) * 1000));
`;

const ours = (provider: string, url: string) => `
  const begun = performance.now();
  async function read() {
    const { openModel } = await import(${JSON.stringify(`${root}src/providers/model.ts`)});
    const { model } = await openModel({ name: "${provider}/m", baseUrl: "${url}", apiKey: "k", fallbacks: [] }, { environment: {}, dir: "." });
    let text = "";
    const request = { messages: [{ role: "user", content: [{ type: "text", text: "Hi" }] }], tools: [] };
    for await (const event of model.stream(request, new AbortController().signal)) if (event.type === "text") text += event.text;
    return text;
  }
`;

const sdkPackages: Record<string, string> = {
  anthropic: `(await import("@ai-sdk/anthropic")).createAnthropic({ baseURL: url + "/v1", apiKey: "k" })("m")`,
  openai: `(await import("@ai-sdk/openai")).createOpenAI({ baseURL: url, apiKey: "k" }).responses("m")`,
  "openai-chat": `(await import("@ai-sdk/openai-compatible")).createOpenAICompatible({ name: "c", baseURL: url, apiKey: "k" })("m")`,
  google: `(await import("@ai-sdk/google")).createGoogleGenerativeAI({ baseURL: url + "/v1beta", apiKey: "k" })("m")`,
};
const theirs = (provider: string, url: string) => `
  const begun = performance.now();
  const url = "${url}";
  async function read() {
    const model = ${sdkPackages[provider]};
    let text = "";
    const { stream } = await model.doStream({ prompt: [{ role: "user", content: [{ type: "text", text: "Hi" }] }] });
    for await (const part of stream) if (part.type === "text-delta") text += part.delta;
    return text;
  }
`;

async function run(script: string): Promise<number> {
  const child = Bun.spawn([process.execPath, "-e", script], { cwd: root, stdout: "pipe", stderr: "inherit" });
  const out = await new Response(child.stdout).text();
  if ((await child.exited) !== 0) throw new Error("a measure failed");
  return Number(out);
}

const median = (values: number[]) => values.sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;

async function compare(what: string, unit: (micros: number) => string, script: string): Promise<void> {
  for (const [provider, events] of Object.entries(long)) {
    const body = sse(events, provider);
    // Each frame is a chunk of its own where the socket lets it be.
    await using server = await wireServer(() => ({ body }));
    const times: { ours: number[]; theirs: number[] } = { ours: [], theirs: [] };
    for (let round = 0; round < ROUNDS; round++) {
      times.ours.push(await run(ours(provider, server.url) + script));
      times.theirs.push(await run(theirs(provider, server.url) + script));
    }
    const [own, sdk] = [median(times.ours), median(times.theirs)];
    console.log(
      `${what.padEnd(22)} ${provider.padEnd(12)} omega ${unit(own).padStart(9)}   AI SDK ${unit(sdk).padStart(9)}   ${(own / sdk).toFixed(2)} of its time`,
    );
  }
}

const cpu = spawnSync("uname", ["-m"], { encoding: "utf8" }).stdout.trim();
console.log(`Bun ${Bun.version}, ${process.platform} ${cpu}, ${CHUNKS} chunks, median of ${ROUNDS} rounds`);
await compare("CPU per chunk", (micros) => `${(micros / CHUNKS).toFixed(2)} µs`, measureCpu);
await compare("time to first request", (micros) => `${(micros / 1000).toFixed(1)} ms`, measureFirst);
