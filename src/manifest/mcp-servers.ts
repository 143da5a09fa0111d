// The servers of ./.mcp.json and ~/.mcp.json by themselves, without a skill.

import { resolve } from "node:path";
import * as v from "valibot";
import { OmegaError } from "../errors.ts";
import { createSecrets, type Secrets } from "../redact.ts";
import { type McpFiles, openMcpFiles } from "./mcp-json.ts";
import { invalid, type Problem } from "./problem.ts";
import { inherited } from "./resolve-servers.ts";
import { InheritedServer } from "./server-schema.ts";
import type { Server } from "./skill.ts";

export type McpServer = {
  name: string;
  file: string;
  /** As written. Arguments may hold keys, and an address may too: neither is here. */
  command: string | null;
  origin: string | null;
  env: readonly string[];
  error: string | null;
  /** With its variables filled in; throws what a skill that inherits it would be told. */
  ready(): Server;
};

export async function listMcpServers(cwd: string, environment: NodeJS.ProcessEnv) {
  const files = await openMcpFiles(cwd, environment["HOME"] ?? environment["USERPROFILE"]);
  /** Grows as servers are made ready. */
  const secrets = createSecrets();
  const servers = files.list().map(({ name, file }): McpServer => {
    const ready = () => readyServer(name, files, { cwd, environment, secrets });
    try {
      const { command = null, url, env } = files.find(name).entry;
      return { name, file, command, origin: originOf(url), env: Object.keys(env), error: null, ready };
    } catch (error) {
      if (!(error instanceof OmegaError)) throw error;
      return { name, file, command: null, origin: null, env: [], error: error.message, ready };
    }
  });
  return { servers, warnings: files.warnings, secrets };
}

function originOf(url: string | undefined): string | null {
  return url !== undefined && URL.canParse(url) ? new URL(url).origin : null;
}

type Context = { cwd: string; environment: NodeJS.ProcessEnv; secrets: Secrets };

function readyServer(name: string, files: McpFiles, context: Context): Server {
  const problems: Problem[] = [];
  const launch = inherited(name, files, {
    ...context,
    sourceOf: () => "the environment",
    report: (problem) => problems.push(problem),
  });
  if (problems.length > 0) throw invalid(problems);
  const { inherit: _, ...common } = v.parse(InheritedServer, { inherit: true, tools: ["*"] });
  return { ...common, ...launch, name, cwd: resolve(context.cwd, launch.cwd ?? ".") };
}
