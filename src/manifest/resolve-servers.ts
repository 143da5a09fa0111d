// The servers of a skill with their final values: templates filled, inherited ones taken from .mcp.json, folders absolute.

import { resolve } from "node:path";
import { OmegaError } from "../errors.ts";
import { type Secrets, SHORTEST_SECRET } from "../redact.ts";
import { atField } from "./check-templates.ts";
import { type Fill, fillLaunch } from "./fill.ts";
import type { CheckedSkill } from "./load.ts";
import { type McpFiles, openMcpFiles } from "./mcp-json.ts";
import type { Problem } from "./problem.ts";
import { findVariable, isSecretName } from "./references.ts";
import type { Server } from "./skill.ts";
import { fillTemplate, Unfilled } from "./template.ts";

type Context = {
  cwd: string;
  workdir: string;
  environment: NodeJS.ProcessEnv;
  sourceOf(name: string): string;
  fill: Fill;
  secrets: Secrets;
  report(problem: Problem): void;
  /** Nothing will be started: what is inherited need not be there. */
  isPlayed: boolean;
};

type Declared = CheckedSkill["manifest"]["servers"][string];

export async function resolveServers(
  { manifest }: CheckedSkill,
  context: Context,
): Promise<{ servers: Server[]; warnings: readonly string[] }> {
  const declared = Object.entries(manifest.servers);
  const home = context.environment["HOME"] ?? context.environment["USERPROFILE"];
  const inherits = declared.some(([, server]) => "inherit" in server);
  const files = inherits && !context.isPlayed ? await openMcpFiles(context.cwd, home) : undefined;
  const servers = declared.map(([name, server]) => {
    const launch = launchOf(name, server, context, files);
    for (const variable of Object.keys(launch.env)) collectSecret(variable, launch.env[variable], context);
    return { ...launch, name, cwd: resolve(context.workdir, launch.cwd ?? ".") };
  });
  return { servers, warnings: files?.warnings ?? [] };

  function launchOf(name: string, server: Declared, { fill }: Context, mcp: McpFiles | undefined) {
    if ("command" in server) return fillLaunch(server, ["servers", name], fill);
    if ("inherit" in server && mcp) {
      const { inherit: _, ...common } = server;
      return { ...common, ...inherited(name, mcp, context) };
    }
    if ("inherit" in server && context.isPlayed) {
      const { inherit: _, ...common } = server;
      return { ...common, command: `‹${name}›`, args: [], env: {}, cwd: undefined };
    }
    throw new Error(`server "${name}" is of a kind that check.ts refuses`);
  }
}

/** A variable that is passed through by name, or written out, is as secret as one that is put in. */
function collectSecret(
  name: string,
  value: string | null | undefined,
  { environment, secrets, sourceOf }: Context,
): void {
  if (!isSecretName(name)) return;
  const passed = environment[name];
  if (value === null && passed !== undefined) secrets.add({ name, value: passed, source: sourceOf(name) });
  // A short literal is a word: `AUTH: none`.
  else if (value && value.length >= SHORTEST_SECRET) secrets.add({ name, value, source: "the manifest" });
}

export type InheritContext = Pick<Context, "cwd" | "environment" | "sourceOf" | "secrets" | "report">;

export function inherited(
  name: string,
  mcp: McpFiles,
  context: InheritContext,
): Pick<Server, "command" | "args" | "env" | "cwd"> {
  const { file, folder, fields, path, entry } = mcp.find(name);
  const { command, url, ...rest } = entry;
  if (command === undefined) {
    const why = url === undefined ? "has no command" : "is an HTTP server: not supported by this version";
    throw new OmegaError("MANIFEST_INVALID", `server "${name}" of ${file} ${why}`);
  }
  const ours = findVariable({ ...context, dir: folder });
  const places: Record<string, string | undefined> = {
    workspaceFolder: context.cwd,
    userHome: context.environment["HOME"],
  };
  const variable = (reference: string) => {
    const place = Object.hasOwn(places, reference) ? places[reference] : undefined;
    if (place !== undefined) return place;
    if (reference.startsWith("input:")) throw new Unfilled("nobody can be asked for ${input:…}; use ${NAME}");
    return ours(reference.replace(/^env:/, ""));
  };
  const launch = fillLaunch({ ...rest, command }, path, (text, at) =>
    fillTemplate(text, {
      variable,
      onProblem: atField(fields, at, context.report),
    }),
  );
  return launch.cwd === undefined ? launch : { ...launch, cwd: resolve(folder, launch.cwd) };
}
