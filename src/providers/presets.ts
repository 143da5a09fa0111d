// The providers by name. To add one that speaks a known wire: one entry here. Keys and hosts come from the variables that
// each community uses.

import type { OpenWire, Quirks } from "./wire.ts";
import { openWire } from "./wire.ts";

export type Preset = {
  wire(): Promise<OpenWire>;
  /** Undefined: the environment or the manifest must say. */
  baseUrl?: string;
  /** Variables with the address, the first that is set counts; some lack scheme, port or path. */
  hosts: readonly string[];
  keys: readonly string[];
  needsKey: boolean;
  maxTools?: number;
  quirks?: Quirks;
  /** How the key is sent; a Bearer token if nothing is said. */
  auth?(key: string, variable: string | undefined): Record<string, string>;
  /** Headers that the environment asks for. */
  headers?(environment: NodeJS.ProcessEnv): Record<string, string>;
  /** The address as this community writes it → the one that the wire's path is put behind. */
  address?(url: string, environment: NodeJS.ProcessEnv): string;
  /** Where the API lists its models, behind the address. */
  models?: string;
};

const anthropicWire = async () => openWire((await import("./anthropic.ts")).anthropic);
const responsesWire = async () => openWire((await import("./openai-responses.ts")).openaiResponses);
const chatWire = async () => openWire((await import("./openai-chat.ts")).openaiChat);
const geminiWire = async () => openWire((await import("./gemini.ts")).gemini);

const openaiEnvironment = {
  baseUrl: "https://api.openai.com/v1",
  hosts: ["OPENAI_BASE_URL"],
  keys: ["OPENAI_API_KEY"],
  needsKey: true,
  maxTools: 128,
  headers: (environment: NodeJS.ProcessEnv) => ({
    ...(environment["OPENAI_ORG_ID"] && { "openai-organization": environment["OPENAI_ORG_ID"] }),
    ...(environment["OPENAI_PROJECT_ID"] && { "openai-project": environment["OPENAI_PROJECT_ID"] }),
  }),
};

/** A server that speaks the chat wire; its variables are `NAME_API_KEY` and `NAME_BASE_URL`. */
function compatible(name: string, baseUrl: string, more: Partial<Preset> = {}): Preset {
  return {
    wire: chatWire,
    baseUrl,
    hosts: [`${name}_BASE_URL`],
    keys: [`${name}_API_KEY`],
    needsKey: true,
    ...more,
    quirks: { handBack: ["reasoning_content", "reasoning_details"], ...more.quirks },
  };
}

export const presets: Record<string, Preset> = {
  anthropic: {
    wire: anthropicWire,
    baseUrl: "https://api.anthropic.com",
    hosts: ["ANTHROPIC_BASE_URL"],
    keys: ["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"],
    needsKey: true,
    auth: (key, variable) =>
      variable === "ANTHROPIC_AUTH_TOKEN" ? { authorization: `Bearer ${key}` } : { "x-api-key": key },
    headers: (environment) => ({
      "anthropic-version": "2023-06-01",
      ...headerLines(environment["ANTHROPIC_CUSTOM_HEADERS"] ?? ""),
    }),
    address: (url) => url.replace(/\/v1$/, ""),
    models: "v1/models?limit=1000",
  },
  openai: { wire: responsesWire, ...openaiEnvironment },
  google: {
    wire: geminiWire,
    baseUrl: "https://generativelanguage.googleapis.com",
    hosts: ["GOOGLE_GEMINI_BASE_URL"],
    keys: ["GOOGLE_API_KEY", "GEMINI_API_KEY", "GOOGLE_GENERATIVE_AI_API_KEY"],
    needsKey: true,
    maxTools: 512,
    auth: (key) => ({ "x-goog-api-key": key }),
    address: (url) => url.replace(/\/v1(beta)?$/, ""),
    models: "v1beta/models?pageSize=1000",
  },
  "openai-chat": {
    wire: chatWire,
    ...openaiEnvironment,
    quirks: { handBack: ["reasoning_content", "reasoning_details"], maxTokensField: "max_completion_tokens" },
  },
  azure: {
    wire: chatWire,
    hosts: ["AZURE_OPENAI_ENDPOINT", "AZURE_OPENAI_BASE_URL"],
    keys: ["AZURE_OPENAI_API_KEY"],
    needsKey: true,
    maxTools: 128,
    quirks: { maxTokensField: "max_completion_tokens" },
    auth: (key) => ({ "api-key": key }),
    address: (url) => (/\/openai\/v1$/.test(url) ? url : `${url.replace(/\/openai$/, "")}/openai/v1`),
  },
  ollama: compatible("OLLAMA", "http://127.0.0.1:11434/v1", {
    hosts: ["OLLAMA_HOST"],
    needsKey: false,
    quirks: { handBack: [] },
    address: ollamaAddress,
  }),
  lmstudio: compatible("LM_STUDIO", "http://127.0.0.1:1234/v1", {
    hosts: ["LMSTUDIO_BASE_URL", "LM_STUDIO_API_BASE"],
    needsKey: false,
    quirks: { handBack: [] },
  }),
  vllm: compatible("VLLM", "http://127.0.0.1:8000/v1", { needsKey: false, quirks: { handBack: [] } }),
  openrouter: compatible("OPENROUTER", "https://openrouter.ai/api/v1", {
    quirks: { effort: "reasoning", handBack: ["reasoning_details"], cacheMarks: /^anthropic\// },
  }),
  groq: compatible("GROQ", "https://api.groq.com/openai/v1", {
    maxTools: 128,
    quirks: { handBack: ["reasoning"] },
    // The vendor's own variable stops at the host.
    address: (url) => (/\/openai\/v1$|\/v1$/.test(url) ? url : `${url}/openai/v1`),
  }),
  mistral: compatible("MISTRAL", "https://api.mistral.ai/v1", { quirks: { shortIds: true } }),
  deepseek: compatible("DEEPSEEK", "https://api.deepseek.com", {
    quirks: { effort: "thinking", handBack: ["reasoning_content"] },
  }),
  xai: compatible("XAI", "https://api.x.ai/v1", { quirks: { handBack: [] } }),
  together: compatible("TOGETHER", "https://api.together.xyz/v1"),
  fireworks: compatible("FIREWORKS", "https://api.fireworks.ai/inference/v1"),
};

/** Headers as lines of `name: value`. */
function headerLines(lines: string): Record<string, string> {
  const pairs = lines.split("\n").map((line) => line.split(/:(.*)/s).map((part) => part.trim()));
  return Object.fromEntries(pairs.flatMap(([name, value]) => (name && value ? [[name.toLowerCase(), value]] : [])));
}

/** `box`, `0.0.0.0:11434`, `https://ollama.com`: scheme, port and path may be missing; 0.0.0.0 is no place to go to. */
function ollamaAddress(host: string): string {
  const full = new URL(/^https?:\/\//.test(host) ? host : `http://${host}`);
  if (full.hostname === "0.0.0.0") full.hostname = "127.0.0.1";
  if (full.port === "" && !host.includes("://")) full.port = "11434";
  return `${full.origin}${full.pathname === "/" ? "/v1" : full.pathname.replace(/\/+$/, "")}`;
}
