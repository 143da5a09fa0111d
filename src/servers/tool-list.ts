// The tools of one server over a run. What a model has been told stays as it was: added tools are appended, removed ones
// stay (a call to one gives the server's error), a changed definition is a warning and the old one holds.

import { OmegaError } from "../errors.ts";
import { RpcError } from "../mcp/json-rpc.ts";
import { oneLine } from "../terminal.ts";
import { type Listed, parseTool, type ServerTool } from "./discovery.ts";
import { listAll, MAX_ENTRIES } from "./pages.ts";
import type { Ask } from "./session.ts";

/** Between two looks at a list that a server says has changed. */
const PAUSE_MS = 500;
const MAX_WARNINGS = 20;

export type ToolList = {
  readonly tools: readonly ServerTool[];
  /** A first listing, or the one after a restart. */
  take(listed: Listed<ServerTool>): void;
  /** Looks again, at most once per pause however often it is asked. */
  refresh(ask: Ask, closing: AbortSignal): Promise<void>;
};

export function createToolList(label: string, warn: (message: string) => void): ToolList {
  const tools: ServerTool[] = [];
  const warned = new Set<string>();
  let looking = false;
  let again = false;

  function warnOnce(message: string): void {
    if (warned.has(message) || warned.size === MAX_WARNINGS) return;
    warned.add(message);
    warn(message);
  }

  function add(listed: readonly ServerTool[]): void {
    const known = new Map(tools.map((tool) => [tool.name, tool]));
    for (const tool of listed) {
      const old = known.get(tool.name);
      if (!old && tools.length < MAX_ENTRIES) tools.push(tool);
      else if (!old) warnOnce(`${label} adds tools without end; what came after ${MAX_ENTRIES} is left out`);
      else if (JSON.stringify(old) !== JSON.stringify(tool)) {
        warnOnce(
          `${label}: the definition of tool "${oneLine(tool.name, 64)}" changed; the one from the start of the run holds`,
        );
      }
    }
  }

  return {
    tools,
    take({ entries, warnings }) {
      add(entries);
      for (const message of warnings) warnOnce(message);
    },
    async refresh(ask, closing) {
      again = true;
      if (looking) return;
      looking = true;
      try {
        while (again && !closing.aborted) {
          again = false;
          add((await listAll(ask, label, "tools/list", "tools")).flatMap((entry) => parseTool(entry) ?? []));
          await new Promise((resolve) => setTimeout(resolve, PAUSE_MS).unref());
        }
      } catch (error) {
        if (!(error instanceof RpcError || error instanceof OmegaError)) throw error;
        if (!closing.aborted) warnOnce(`${label} changed its tools, and they could not be listed: ${error.message}`);
      } finally {
        looking = false;
      }
    },
  };
}
