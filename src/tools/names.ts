// Names that are safe and unique for every provider: letters, digits, _ and -, at most 64.

import { createHash } from "node:crypto";

const MAX_NAME = 64;

/**
 * `mcp__server__tool` as it stands where that is safe; otherwise with a short hash of the real name. Both depend on the real
 * name alone, so the order of servers and tools changes nothing; a name that looks like another's hashed one gives way.
 */
export function nameForModels(server: string, tool: string, taken: ReadonlyMap<string, unknown>): string {
  return safeName(`mcp__${server}__${tool}`, taken);
}

export function safeName(full: string, taken: ReadonlyMap<string, unknown>): string {
  const safe = full.replace(/[^A-Za-z0-9_-]/g, "_");
  if (safe === full && safe.length <= MAX_NAME && !/_[0-9a-f]{8}$/.test(safe)) return safe;
  const digest = createHash("sha256").update(full).digest("hex");
  for (let length = 8; ; length++) {
    const name = `${safe.slice(0, MAX_NAME - length - 1)}_${digest.slice(0, length)}`;
    if (!taken.has(name) || length === digest.length) return name;
  }
}
