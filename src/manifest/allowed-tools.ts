// `allowed-tools` of a SKILL.md: names of MCP tools allow them; the built-in tools of other agents are not here, and a
// warning says which server would offer them.

import type { Manifest } from "./schema.ts";

const filesystem = "a server such as @modelcontextprotocol/server-filesystem";
const offeredBy: Record<string, string> = {
  Bash: "an MCP server for the commands it needs (for git: @cyanheads/git-mcp-server)",
  Write: filesystem,
  Edit: filesystem,
  MultiEdit: filesystem,
  Glob: filesystem,
  Grep: filesystem,
  LS: filesystem,
  WebFetch: "a server that fetches pages",
  WebSearch: "a server of a search engine",
};

/** `patterns`: `server/tool`, as rules have them. */
export type AllowedTools = { patterns: readonly string[]; warnings: readonly string[] };

export function allowedTools(manifest: Manifest): AllowedTools {
  const patterns: string[] = [];
  const warnings: string[] = [];
  for (const entry of entriesOf(manifest["allowed-tools"])) {
    const [, server, tool = "*"] = /^mcp__(.+?)(?:__(.+))?$/.exec(entry) ?? [];
    if (server !== undefined && Object.hasOwn(manifest.servers, server)) patterns.push(`${server}/${tool}`);
    else if (server !== undefined) {
      warnings.push(`allowed-tools: ${entry} has no effect: the skill declares no server "${server}"`);
      // The files of the skill itself are offered by ReadSkillFile.
    } else if (entry !== "Read") warnings.push(`allowed-tools: ${entry} is not here; ${whoOffers(entry)}`);
  }
  return { patterns, warnings };
}

/** Spaces and commas separate, but not within parentheses: `Bash(git log:*) Read`. */
function entriesOf(value: string | readonly string[] | undefined): string[] {
  const texts = typeof value === "string" ? [value] : (value ?? []);
  return [...new Set(texts.flatMap((text) => text.match(/[^\s,(]+(?:\([^)]*\))?/g) ?? []))];
}

function whoOffers(entry: string): string {
  const name = entry.replace(/\(.*$/s, "");
  const offer = Object.hasOwn(offeredBy, name) ? offeredBy[name] : undefined;
  return offer ? `declare ${offer} under servers:` : "no server is known to offer it";
}
