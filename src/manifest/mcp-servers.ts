// The servers of ./.mcp.json and ~/.mcp.json by themselves, without a skill: a list, and one of them made ready to start.

import * as v from "valibot";
import { OmegaError } from "../errors.ts";
import { createSecrets } from "../redact.ts";
import { type Inheritable, openMcpFiles } from "./mcp-json.ts";
import { invalid, type Problem } from "./problem.ts";
import { resolveServers } from "./resolve-servers.ts";
import { InheritedServer } from "./server-schema.ts";
import type { Server } from "./skill.ts";

export type McpServer = {
  name: string;
  file: string;
  /** As written. Arguments may hold keys, and an address may too: neither is here. */
  command: string | null;
  host: string | null;
  env: readonly string[];
  error: string | null;
};

export async function listMcpServers(cwd: string, environment: NodeJS.ProcessEnv) {
  const files = await openMcpFiles(cwd, environment["HOME"] ?? environment["USERPROFILE"]);
  const servers = files.list().map(({ name, file }): McpServer => {
    try {
      const { command = null, url, env } = files.find(name).entry;
      return { name, file, command, host: hostOf(url), env: Object.keys(env), error: null };
    } catch (error) {
      if (!(error instanceof OmegaError)) throw error;
      return { name, file, command: null, host: null, env: [], error: error.message };
    }
  });
  return { servers, warnings: files.warnings };
}

function hostOf(url: Inheritable["entry"]["url"]): string | null {
  return url !== undefined && URL.canParse(url) ? new URL(url).origin : null;
}

/** With its variables filled in; throws what a skill that inherits it would be told. */
export async function readyMcpServer(name: string, cwd: string, environment: NodeJS.ProcessEnv): Promise<Server> {
  const problems: Problem[] = [];
  const declared = v.parse(InheritedServer, { inherit: true, tools: ["*"] });
  const { servers } = await resolveServers(
    { manifest: { servers: { [name]: declared } } },
    {
      cwd,
      workdir: cwd,
      environment,
      sourceOf: () => "the environment",
      fill: (text) => text,
      secrets: createSecrets(),
      allowed: { byServer: new Map(), warnings: [] },
      report: (problem) => problems.push(problem),
    },
  );
  const [server] = servers;
  if (problems.length > 0 || !server) throw invalid(problems);
  return server;
}
