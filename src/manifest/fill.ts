// Which fields of a manifest are templates, and of which kind. `fill` decides what becomes of each.

import type { Path } from "./document.ts";
import type { Manifest } from "./schema.ts";
import type { ModelChoice, Server } from "./skill.ts";

/** `inGlob`: a star that is put in would match anything. */
export type Scope = { variables?: boolean; forModel?: boolean; inGlob?: boolean };
export type Fill = (text: string, path: Path, scope: Scope) => string;

const settings: Scope = { variables: true };

type Launch = Pick<Server, "command" | "args" | "env" | "cwd">;

export function fillLaunch<S extends Launch>(server: S, path: Path, fill: Fill): S {
  const { cwd } = server;
  return {
    ...server,
    command: fill(server.command, [...path, "command"], settings),
    args: server.args.map((text, index) => fill(text, [...path, "args", index], settings)),
    env: mapValues(server.env, (text, name) => text && fill(text, [...path, "env", name], settings)),
    ...(cwd !== undefined && { cwd: fill(cwd, [...path, "cwd"], settings) }),
  };
}

export function fillModel(model: ModelChoice, fill: Fill): ModelChoice {
  const { apiKey, baseUrl, headers } = model;
  return {
    ...model,
    ...(apiKey !== undefined && { apiKey: fill(apiKey, ["model", "apiKey"], settings) }),
    ...(baseUrl !== undefined && { baseUrl: fill(baseUrl, ["model", "baseUrl"], settings) }),
    ...(headers && { headers: mapValues(headers, (text, name) => fill(text, ["model", "headers", name], settings)) }),
  };
}

export type Outcomes = Pick<Manifest, "permissions" | "output" | "expect">;

/** What decides over calls and over the end of a run. */
export function fillOutcomes({ permissions, output, expect }: Outcomes, fill: Fill): Outcomes {
  return {
    permissions: permissions.map(({ args, ...rule }, index) => ({
      ...rule,
      ...(args && {
        args: mapValues(args, (glob, name) => fill(glob, ["permissions", index, "args", name], { inGlob: true })),
      }),
    })),
    output: output && {
      ...output,
      ...(output.file !== undefined && { file: fill(output.file, ["output", "file"], {}) }),
    },
    expect: expect.map((check, index) => {
      if ("file" in check) return { ...check, file: fill(check.file, ["expect", index, "file"], {}) };
      if (!("command" in check)) return check;
      const command = check.command.map((word, at) => fill(word, ["expect", index, "command", at], {}));
      return { ...check, command };
    }),
  };
}

export function fillPrompt({ prompt }: Manifest, fill: Fill): string {
  return typeof prompt === "string" ? fill(prompt, ["prompt"], { forModel: true }) : "";
}

function mapValues<In, Out>(values: Record<string, In>, change: (value: In, name: string) => Out): Record<string, Out> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, change(value, name)]));
}
