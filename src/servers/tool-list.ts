// The tools of one server over a run. What a model has been told stays as it was: added tools are appended, removed ones
// stay (a call to one gives the server's error), a changed definition is a warning and the old one holds.

import { OmegaError } from "../errors.ts";
import { RpcError } from "../mcp/json-rpc.ts";
import { type Listed, parseTool, type ServerTool } from "./discovery.ts";
import { listAll } from "./pages.ts";
import type { Ask } from "./session.ts";

/** Between two looks at a list that a server says has changed. */
const PAUSE_MS = 500;

export type ToolList = {
  readonly tools: readonly ServerTool[];
  /** A first listing, or the one after a restart. */
  take(listed: Listed<ServerTool>): void;
  /** Looks again, at most once per pause however often it is asked. */
  refresh(connect: () => Promise<Ask>, closing: AbortSignal): Promise<void>;
};

export function createToolList(label: string, warn: (message: string) => void): ToolList {
  const tools: ServerTool[] = [];
  const warned = new Set<string>();
  let looking = false;
  let again = false;

  function warnOnce(message: string): void {
    if (!warned.has(message)) warn(message);
    warned.add(message);
  }

  function add(listed: readonly ServerTool[]): void {
    const known = new Map(tools.map((tool) => [tool.name, tool]));
    for (const tool of listed) {
      const old = known.get(tool.name);
      if (!old) tools.push(tool);
      else if (JSON.stringify(old) !== JSON.stringify(tool)) {
        warnOnce(`${label}: the definition of tool "${tool.name}" changed; the one from the start of the run holds`);
      }
    }
  }

  return {
    tools,
    take({ entries, warnings }) {
      add(entries);
      for (const message of warnings) warnOnce(message);
    },
    async refresh(connect, closing) {
      again = true;
      if (looking) return;
      looking = true;
      try {
        while (again && !closing.aborted) {
          again = false;
          const ask = await connect();
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
