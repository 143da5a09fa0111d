// The flags by which a run is given its inputs; `run` and `plan` share them.

import type { ArgsDef } from "citty";
import type { Given } from "../run/prepare.ts";
import { valuesOf } from "./flags.ts";

export const givenArgs = {
  input: { type: "string", valueHint: "name=value", description: "an input of the skill; may be repeated" },
  "input-file": { type: "string", valueHint: "file|-", description: "inputs from a YAML or JSON file, or from stdin" },
  "env-file": { type: "string", valueHint: "file", description: "NAME=value lines for ${…} in the manifest" },
  workdir: { type: "string", valueHint: "folder", description: "the folder to work in" },
  match: {
    type: "string",
    valueHint: "text",
    description: "SKILL is a folder: take the one skill whose trigger matches",
  },
} as const satisfies ArgsDef;

type Parsed = { skill: string; _: string[] } & Partial<
  Record<"input-file" | "env-file" | "workdir" | "match", string | undefined>
>;

export function readGiven(args: Parsed, rawArgs: readonly string[]): Given {
  return {
    skill: args.skill,
    match: args.match,
    words: args._.slice(1),
    inputs: valuesOf("--input", rawArgs),
    inputFile: args["input-file"],
    envFile: args["env-file"],
    workdir: args.workdir,
  };
}
