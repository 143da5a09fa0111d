// `omega servers` without a skill: what ./.mcp.json and ~/.mcp.json hold. A file that came with a repository starts nothing
// unless a person says --connect.

import { OmegaError } from "../errors.ts";
import { listMcpServers, type McpServer, readyMcpServer } from "../manifest/mcp-servers.ts";
import type { Server } from "../manifest/skill.ts";
import { didYouMean } from "../nearest.ts";
import { exitCodeOf } from "../outcome.ts";
import { jsonText, oneLine, plain } from "../terminal.ts";
import { print } from "./connected.ts";
import { createLog } from "./log.ts";
import { columns } from "./table.ts";

type Given = { server?: string | undefined; connect?: boolean | undefined; json?: boolean | undefined };
type State = { status: string; error: string | null; tools: number };

export async function showMcpServers(given: Given, look: (server: Server) => Promise<State>): Promise<number> {
  const { servers, warnings } = await listMcpServers(process.cwd(), process.env);
  const log = createLog("normal");
  for (const warning of warnings) log.warn(plain(warning));
  const chosen = choose(servers, given.server);
  if (!given.connect) {
    print(given.json ? jsonText(chosen) : text(chosen.map((server) => [server, described(server)])));
    return 0;
  }
  const found = await Promise.all(chosen.map(async (server) => ({ ...server, ...(await tryOut(server.name, look)) })));
  print(given.json ? jsonText(found) : text(found.map((server) => [server, stateOf(server)])));
  return exitCodeOf(found.every(({ status }) => status === "ready") ? "done" : "server-failed");
}

function choose(servers: readonly McpServer[], name: string | undefined): readonly McpServer[] {
  const chosen = name === undefined ? servers : servers.filter((server) => server.name === name);
  if (name === undefined || chosen.length > 0) return chosen;
  const names = servers.map((server) => server.name);
  throw new OmegaError("USAGE", `no .mcp.json has a server "${name}"${didYouMean(name, names)}`, {
    hint: `there are: ${names.join(", ") || "none"}`,
  });
}

async function tryOut(name: string, look: (server: Server) => Promise<State>): Promise<State> {
  try {
    return await look(await readyMcpServer(name, process.cwd(), process.env));
  } catch (error) {
    if (!(error instanceof OmegaError) || error.outcome !== "invalid") throw error;
    return { status: "failed", error: error.message, tools: 0 };
  }
}

function text(rows: readonly [McpServer, string][]): string {
  if (rows.length === 0) return "no servers: there is no .mcp.json here or in the home folder that names any";
  return columns(rows.map(([{ name, file }, words]) => [oneLine(name), oneLine(words), `from ${oneLine(file)}`]));
}

function described({ command, host, error }: McpServer): string {
  return error ?? command ?? host ?? "neither command nor url";
}

function stateOf({ status, error, tools }: State): string {
  return error === null ? `${status}, ${tools} tools` : `${status}: ${error}`;
}
