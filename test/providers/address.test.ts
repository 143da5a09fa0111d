// Where each provider is, and who gets which key.

import { describe, expect, test } from "bun:test";
import type { ModelChoice } from "../../src/manifest/skill.ts";
import { keysFound, locate, openModel } from "../../src/providers/model.ts";
import { presets } from "../../src/providers/presets.ts";
import { collect, hasty, open, question } from "../support/ask.ts";
import { root } from "../support/omega.ts";
import { wireServer } from "../support/wire-server.ts";

const place = (name: string, environment: Record<string, string>, more: Partial<ModelChoice> = {}) =>
  locate({ name, fallbacks: [], ...more }, presets[name.split("/")[0]!]!, environment);

type Case = [
  what: string,
  name: string,
  environment: Record<string, string>,
  more: Partial<ModelChoice>,
  url: string,
  headers: object,
];
const bearer = { authorization: "Bearer k" };
const version = { "anthropic-version": "2023-06-01" };
const cases: Case[] = [
  [
    "a key",
    "anthropic/m",
    { ANTHROPIC_API_KEY: "k" },
    {},
    "https://api.anthropic.com",
    { ...version, "x-api-key": "k" },
  ],
  ["a token", "anthropic/m", { ANTHROPIC_AUTH_TOKEN: "k" }, {}, "https://api.anthropic.com", { ...version, ...bearer }],
  [
    "a host with /v1",
    "anthropic/m",
    { ANTHROPIC_BASE_URL: "http://gate/v1/", ANTHROPIC_API_KEY: "k" },
    {},
    "http://gate",
    { ...version, "x-api-key": "k" },
  ],
  [
    "custom headers",
    "anthropic/m",
    { ANTHROPIC_API_KEY: "k", ANTHROPIC_CUSTOM_HEADERS: "X-A: 1\nx-b: 2:3" },
    {},
    "https://api.anthropic.com",
    { ...version, "x-api-key": "k", "x-a": "1", "x-b": "2:3" },
  ],
  [
    "an organisation",
    "openai/m",
    { OPENAI_API_KEY: "k", OPENAI_ORG_ID: "o", OPENAI_PROJECT_ID: "p" },
    {},
    "https://api.openai.com/v1",
    { ...bearer, "openai-organization": "o", "openai-project": "p" },
  ],
  [
    "the first of three keys",
    "google/m",
    { GEMINI_API_KEY: "g", GOOGLE_API_KEY: "k" },
    {},
    "https://generativelanguage.googleapis.com",
    { "x-goog-api-key": "k" },
  ],
  ["a host with /v1beta", "google/m", { GOOGLE_GEMINI_BASE_URL: "http://gate/v1beta" }, {}, "http://gate", {}],
  [
    "a resource",
    "azure/m",
    { AZURE_OPENAI_ENDPOINT: "https://r.openai.azure.com/", AZURE_OPENAI_API_KEY: "k" },
    {},
    "https://r.openai.azure.com/openai/v1",
    { "api-key": "k" },
  ],
  ["no key", "ollama/m", {}, {}, "http://127.0.0.1:11434/v1", {}],
  ["a host without scheme and port", "ollama/m", { OLLAMA_HOST: "box" }, {}, "http://box:11434/v1", {}],
  ["a host to listen on", "ollama/m", { OLLAMA_HOST: "0.0.0.0:9999" }, {}, "http://127.0.0.1:9999/v1", {}],
  [
    "the cloud",
    "ollama/m",
    { OLLAMA_HOST: "https://ollama.com", OLLAMA_API_KEY: "k" },
    {},
    "https://ollama.com/v1",
    bearer,
  ],
  [
    "a host that stops at the host",
    "groq/m",
    { GROQ_BASE_URL: "https://gate", GROQ_API_KEY: "k" },
    {},
    "https://gate/openai/v1",
    bearer,
  ],
  ["a key", "together/m", { TOGETHER_API_KEY: "k" }, {}, "https://api.together.xyz/v1", bearer],
  [
    "a host that the manifest names, which gets no key of the environment",
    "openai-chat/m",
    { OPENAI_API_KEY: "k", OPENAI_ORG_ID: "o" },
    { baseUrl: "https://elsewhere/v1" },
    "https://elsewhere/v1",
    {},
  ],
  [
    "the provider's own host, which the manifest names too",
    "openai-chat/m",
    { OPENAI_API_KEY: "k" },
    { baseUrl: "https://api.openai.com/v1" },
    "https://api.openai.com/v1",
    bearer,
  ],
  [
    "the provider's own host without its encryption, which gets no key",
    "openai-chat/m",
    { OPENAI_API_KEY: "k" },
    { baseUrl: "http://api.openai.com/v1" },
    "http://api.openai.com/v1",
    {},
  ],
  [
    "a key that the manifest gives, to the host that it names",
    "openai-chat/m",
    { OPENAI_API_KEY: "other" },
    { baseUrl: "https://elsewhere/v1", apiKey: "k" },
    "https://elsewhere/v1",
    bearer,
  ],
];
describe("with", () => {
  for (const [what, name, environment, more, url, headers] of cases) {
    test(`${what}: ${name.split("/")[0]} is at ${url}`, () => {
      expect(place(name, environment, more)).toMatchObject({ url });
      expect(place(name, environment, more).headers).toEqual(headers as Record<string, string>);
    });
  }
});

test("without a key a provider that needs one says which variable it wants", () => {
  for (const [name, { needsKey, keys }] of Object.entries(presets)) {
    const environment = name === "azure" ? { AZURE_OPENAI_ENDPOINT: "https://r" } : {};
    if (needsKey) expect(() => place(`${name}/m`, environment)).toThrow(keys[0]!);
    else expect(() => place(`${name}/m`, environment)).not.toThrow();
  }
});

test("a manifest that brings its own header of authority needs no key", () => {
  expect(() => place("openai/m", {}, { headers: { Authorization: "Bearer x" } })).not.toThrow();
});

test("an address that is no URL is told as such", () => {
  expect(() => place("openai/m", { OPENAI_BASE_URL: "not a url" })).toThrow("is not a URL");
});

test("the keys that are found are named, never shown", () => {
  expect(keysFound({ OPENAI_API_KEY: "sk-secret", GROQ_API_KEY: "", XAI_API_KEY: "x" })).toEqual([
    "OPENAI_API_KEY",
    "XAI_API_KEY",
  ]);
});

test("a name without a provider, without a model, or with a provider nobody knows is refused with what is known", async () => {
  for (const [name, message] of [
    ["gpt-5", "is not provider/name"],
    ["openai/", "is not provider/name"],
    ["opnai/x", 'did you mean "openai"?'],
    ["constructor/x", 'no provider "constructor"'],
  ]) {
    expect(openModel({ name: name!, fallbacks: [] }, { environment: {}, dir: "." })).rejects.toThrow(message!);
  }
});

test("every request goes to the right path with the manifest's headers, which win", async () => {
  await using server = await wireServer(() => ({ status: 400, body: "" }));
  const paths = {
    "anthropic/m": "/v1/messages",
    "openai/m": "/responses",
    "openai-chat/m": "/chat/completions",
    "google/a b": "/v1beta/models/a%20b:streamGenerateContent?alt=sse",
  };
  for (const [name, path] of Object.entries(paths)) {
    const choice = {
      name,
      baseUrl: server.url,
      apiKey: "k",
      headers: { "X-Team": "docs", Authorization: "Basic mine", "X-API-Key": "mine" },
      fallbacks: [],
    };
    const { model } = await openModel(choice, { environment: {}, dir: ".", patience: hasty });
    await collect(model.stream(question, new AbortController().signal));
    const request = server.requests.at(-1);
    expect(request?.path).toBe(path);
    expect(request?.headers).toMatchObject({
      "x-team": "docs",
      authorization: "Basic mine",
      "x-api-key": "mine",
      "content-type": "application/json",
    });
  }
});

test("more tools than the provider takes are refused before anything is sent, with the way out", async () => {
  const tools = Array.from({ length: 129 }, (_, index) => ({
    name: `t${index}`,
    origin: `s/t${index}`,
    description: "",
    inputSchema: {},
  }));
  const { model } = await openModel(
    { name: "openai/m", apiKey: "k", fallbacks: [] },
    { environment: {}, dir: ".", patience: hasty },
  );
  const { error } = await collect(model.stream({ ...question, tools }, new AbortController().signal));
  expect(error).toMatchObject({
    code: "TOOLS_TOO_MANY",
    outcome: "invalid",
    message: "openai/m takes 128 tools, the skill offers 129",
    hint: expect.stringContaining("tools:"),
  });
});

test("a wire is loaded only when a model that speaks it is opened", async () => {
  const sources = await Array.fromAsync(new Bun.Glob("src/**/*.ts").scan(root), (file) =>
    Bun.file(`${root}/${file}`).text(),
  );
  const statics = sources.flatMap(
    (source) =>
      source.match(/^import .* from ".*\/(anthropic|openai-responses|openai-chat|gemini|price-table|replay)\.ts"/gm) ??
      [],
  );
  expect(statics.filter((line) => !line.startsWith("import type"))).toEqual([]);
});

test("a key that no header can carry is refused before anything is sent, and not told", async () => {
  for (const key of ["sk-first-half\nsecond-half", "sk-key-of-“quotes”", "sk-\0key"]) {
    const error = await open("openai/m", "http://127.0.0.1:9/v1", { apiKey: key }).catch((error: unknown) => error);
    expect(error).toMatchObject({
      outcome: "invalid",
      message: "openai/m: the header authorization cannot be sent with the value it has",
    });
    expect(String(error)).not.toContain("sk-");
  }
  await open("openai/m", "http://127.0.0.1:9/v1", { apiKey: "sk-with-its-line-end\n" });
});
