// `omega servers` without a skill: what ./.mcp.json and ~/.mcp.json hold. A file that came with a repository starts nothing
// unless a person says --connect.

import { OmegaError } from "../errors.ts";
import { listMcpServers, type McpServer } from "../manifest/mcp-servers.ts";
import { didYouMean } from "../nearest.ts";
import type { Secrets } from "../redact.ts";
import { jsonText, oneLine, plain } from "../terminal.ts";
import { createLog } from "./log.ts";
import { columns } from "./table.ts";

export type Found = { servers: readonly McpServer[]; secrets: Secrets };

export async function findMcpServers(name: string | undefined): Promise<Found> {
  const { servers, warnings, secrets } = await listMcpServers(process.cwd(), process.env);
  const log = createLog("normal");
  for (const warning of warnings) log.warn(plain(warning));
  const chosen = name === undefined ? servers : servers.filter((server) => server.name === name);
  if (name === undefined || chosen.length > 0) return { servers: chosen, secrets };
  const names = servers.map((server) => server.name);
  throw new OmegaError("USAGE", `no .mcp.json has a server "${name}"${didYouMean(name, names)}`, {
    hint: `there are: ${names.join(", ") || "none"}`,
  });
}

export function describeMcpServers(servers: readonly McpServer[], asJson: boolean): string {
  if (asJson) return jsonText(servers.map(({ ready: _, ...shown }) => shown));
  if (servers.length === 0) return "no servers: there is no .mcp.json here or in the home folder that names any";
  return columns(
    servers.map(({ name, file, command, origin, error }) => {
      const what = error ?? command ?? origin ?? "neither command nor url";
      return [oneLine(name), oneLine(what), `from ${oneLine(file)}`];
    }),
  );
}
