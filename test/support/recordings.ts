// The recorded traffic under ../shared, as turns that can be replayed. Nothing of it is copied here.

import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { sse } from "./ask.ts";
import { root } from "./omega.ts";
import type { Reply } from "./wire-server.ts";

const folder = resolve(root, "../shared/fixtures/providers");

export type Recording = {
  file: string;
  provider: string;
  shows: string[];
  /** One or, where a file holds several answers after each other, more. */
  turns: Reply[];
  isStream: boolean;
  request: { path: string; body: any } | undefined;
  status: number;
};

const providers: Record<string, string> = {
  "anthropic-messages": "anthropic",
  "openai-chat": "openai-chat",
  "openai-compatible": "openai-chat",
  "openai-responses": "openai",
  "google-generative-ai": "google",
};

export function recordings(): Recording[] {
  const index: { file: string; kind: string; shows: string[] }[] = JSON.parse(
    readFileSync(`${folder}/index.json`, "utf8"),
  );
  return index.map(({ file, kind, shows }) => {
    const content = readFileSync(`${folder}/${file}`, "utf8");
    const provider = providers[file.split("/")[0]!]!;
    const isStream = kind === "chunks" || kind === "sse" || kind === "http-sse";
    const exchange = kind.startsWith("http") ? JSON.parse(content) : undefined;
    const status = exchange?.response.status ?? (shows.includes("error-body") ? 400 : 200);
    const turns = toTurns(
      kind,
      provider,
      exchange ? exchange.response.body : content,
      exchange?.response.headers,
      status,
    );
    return { file, provider, shows, turns, isStream, request: exchange?.request, status };
  });
}

function toTurns(kind: string, provider: string, content: any, headers: any, status: number): Reply[] {
  if (kind === "sse" || kind === "http-sse") return [{ body: content }];
  if (kind === "json" || kind === "http-json") {
    const body = typeof content === "string" ? content : JSON.stringify(content);
    return [{ status, headers: { ...headers, "content-type": "application/json" }, body }];
  }
  const lines = content.split("\n").filter((line: string) => line.trim() !== "");
  const turns: string[][] = [];
  for (const line of lines) {
    const last = turns.at(-1);
    const isNext =
      /"type":"(message_start|response\.created)"/.test(line) &&
      /"(message_stop|response\.(completed|incomplete))"/.test(last?.at(-1) ?? "");
    if (last && !isNext) last.push(line);
    else turns.push([line]);
  }
  return turns.map((turn) => ({
    body: `${sse(turn.map(parsed), provider)}${provider === "openai-chat" ? "data: [DONE]\n\n" : ""}`,
  }));
}

/** A line that is no JSON is replayed as it is. */
function parsed(line: string): unknown {
  try {
    JSON.parse(line);
    return { type: JSON.parse(line).type, toJSON: () => JSON.parse(line) };
  } catch {
    return line;
  }
}
