// What a server offers, read loosely: an entry without a string name is malformed and skipped, all else has a default.

import { OmegaError } from "../errors.ts";
import { isObject, type Params, type Peer, type RequestOptions } from "../mcp/json-rpc.ts";

/** Bounds on what a server can make us list. */
const MAX_PAGES = 1_000;
const MAX_TOOLS = 50_000;

export type ServerTool = { name: string; description: string; inputSchema: object; annotations: Params };
export type ToolList = { tools: ServerTool[]; malformed: number; duplicates: number };

export async function listTools(peer: Peer, label: string, options: RequestOptions): Promise<ToolList> {
  const tools = new Map<string, ServerTool>();
  const cursors = new Set<string>();
  let malformed = 0;
  let duplicates = 0;
  let cursor: string | undefined;
  do {
    const page = await peer.request("tools/list", cursor === undefined ? undefined : { cursor }, options);
    for (const entry of entriesOf(page, label)) {
      const tool = parseTool(entry);
      if (!tool) malformed++;
      else if (tools.has(tool.name)) duplicates++;
      else tools.set(tool.name, tool);
    }
    cursor = nextCursor(page);
    if (cursor !== undefined && cursors.has(cursor)) throw endless(label, "gives the same page again and again");
    if (cursor !== undefined) cursors.add(cursor);
    if (cursors.size > MAX_PAGES) throw endless(label, `has more than ${MAX_PAGES} pages`);
    if (tools.size > MAX_TOOLS) throw endless(label, `has more than ${MAX_TOOLS} tools`);
  } while (cursor !== undefined);
  return { tools: [...tools.values()], malformed, duplicates };
}

function entriesOf(page: unknown, label: string): unknown[] {
  const tools = isObject(page) ? page["tools"] : undefined;
  if (tools === undefined || tools === null) return [];
  if (!Array.isArray(tools)) throw new OmegaError("SERVER_START_FAILED", `${label} answered tools/list without a list`);
  return tools;
}

function nextCursor(page: unknown): string | undefined {
  const cursor = isObject(page) ? page["nextCursor"] : undefined;
  return typeof cursor === "string" && cursor !== "" ? cursor : undefined;
}

export function parseTool(entry: unknown): ServerTool | undefined {
  if (!isObject(entry) || typeof entry["name"] !== "string" || entry["name"] === "") return undefined;
  return {
    name: entry["name"],
    description: typeof entry["description"] === "string" ? entry["description"] : "",
    inputSchema: isObject(entry["inputSchema"]) ? entry["inputSchema"] : { type: "object" },
    annotations: isObject(entry["annotations"]) ? entry["annotations"] : {},
  };
}

function endless(label: string, what: string): OmegaError {
  return new OmegaError("SERVER_START_FAILED", `the tool list of ${label} ${what}`);
}
