// A list of a server, all its pages, within bounds on what a server can make us hold.

import { OmegaError } from "../errors.ts";
import { isObject } from "../mcp/json-rpc.ts";
import type { Ask } from "./session.ts";

const MAX_PAGES = 1_000;
export const MAX_ENTRIES = 50_000;
const MAX_CHARACTERS = 32_000_000;

/** The entries under `field` of every page of `method`. */
export async function listAll(ask: Ask, label: string, method: string, field: string): Promise<unknown[]> {
  const refuse = (what: string) => new OmegaError("SERVER_START_FAILED", `${label}: the list of ${field} ${what}`);
  const entries: unknown[] = [];
  const cursors = new Set<Cursor>();
  let characters = 0;
  let cursor: Cursor | undefined;
  do {
    const page = await ask(method, cursor === undefined ? undefined : { cursor });
    const more = isObject(page) ? (page[field] ?? []) : [];
    if (!Array.isArray(more)) throw refuse(`that ${method} answered is not a list`);
    for (const entry of more) {
      entries.push(entry);
      characters += JSON.stringify(entry)?.length ?? 0;
    }
    cursor = nextCursor(page);
    if (cursor !== undefined && cursors.has(cursor)) throw refuse("comes round to the same page again");
    if (cursor !== undefined) cursors.add(cursor);
    characters += String(cursor).length;
    if (cursors.size > MAX_PAGES) throw refuse(`has more than ${MAX_PAGES} pages`);
    if (entries.length > MAX_ENTRIES) throw refuse(`has more than ${MAX_ENTRIES} entries`);
    if (characters > MAX_CHARACTERS) throw refuse(`has more than ${MAX_CHARACTERS} characters`);
  } while (cursor !== undefined);
  return entries;
}

/** Text by the specification; a server that counts its pages means the same. */
type Cursor = string | number;

function nextCursor(page: unknown): Cursor | undefined {
  const cursor = isObject(page) ? page["nextCursor"] : undefined;
  return (typeof cursor === "string" && cursor !== "") || typeof cursor === "number" ? cursor : undefined;
}
