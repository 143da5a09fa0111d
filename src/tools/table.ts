// The tools of many servers → one table of names that are safe and unique for every provider; a call → a result.

import { createHash } from "node:crypto";
import { errorResult, type ToolDefinition, type ToolResult } from "../conversation.ts";
import { OmegaError } from "../errors.ts";
import { isObject } from "../mcp/json-rpc.ts";
import { didYouMean } from "../nearest.ts";
import type { Connection } from "../servers/connection.ts";
import { globToRegExp } from "./glob.ts";

const MAX_NAME = 64;

export type ToolTable = {
  definitions: ToolDefinition[];
  /** `server/tool` of tools that nobody has allowed; they are not offered. */
  undecided: string[];
  call(name: string, argumentsText: string, signal: AbortSignal): Promise<ToolResult>;
};

export function toolTable(connections: readonly Connection[], allowAll: boolean): ToolTable {
  const entries = new Map<string, { connection: Connection; tool: string; definition: ToolDefinition }>();
  const undecided: string[] = [];
  for (const connection of connections) {
    const { server, tools } = connection;
    const allowed = server.tools.map(globToRegExp);
    for (const tool of tools) {
      const origin = `${server.name}/${tool.name}`;
      if (!allowAll && !allowed.some((pattern) => pattern.test(tool.name))) undecided.push(origin);
      else {
        const name = uniqueName(server.name, tool.name, entries);
        const definition = { name, origin, description: tool.description, inputSchema: tool.inputSchema };
        entries.set(name, { connection, tool: tool.name, definition });
      }
    }
  }

  return {
    definitions: [...entries.values()].map(({ definition }) => definition),
    undecided,
    async call(name, argumentsText, signal) {
      const entry = entries.get(name);
      if (!entry) return errorResult(`there is no tool ${name}${didYouMean(name, [...entries.keys()])}`);
      const args = parseArguments(argumentsText);
      if (!isObject(args)) return errorResult("the arguments are not a JSON object");
      return entry.connection.call(entry.tool, args, signal);
    },
  };
}

/** The tools that a manifest names without a glob must exist. */
export function checkNamedTools({ server, tools }: Connection): void {
  const real = tools.map(({ name }) => name);
  const missing = server.tools.filter((name) => !name.includes("*") && !real.includes(name));
  const [first] = missing;
  if (first === undefined) return;
  throw new OmegaError(
    "SERVER_TOOL_MISSING",
    `server "${server.name}" has no tool ${missing.map((name) => `"${name}"`).join(", ")}${didYouMean(first, real)}`,
    { hint: `it offers: ${real.slice(0, 30).join(", ")}${real.length > 30 ? ", …" : ""}` },
  );
}

function parseArguments(text: string): unknown {
  if (text.trim() === "") return {};
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** `mcp__server__tool`; what is not allowed, too long or taken gets a short hash that depends on the real name alone. */
function uniqueName(server: string, tool: string, taken: ReadonlyMap<string, unknown>): string {
  const full = `mcp__${server}__${tool}`;
  const safe = full.replace(/[^A-Za-z0-9_-]/g, "_");
  if (safe === full && safe.length <= MAX_NAME && !taken.has(safe)) return safe;
  const hash = createHash("sha256").update(full).digest("hex").slice(0, 8);
  return `${safe.slice(0, MAX_NAME - hash.length - 1)}_${hash}`;
}
