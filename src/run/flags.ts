// What the command line says over the manifest; where a run is played, what it said then.

import { resolve } from "node:path";
import type { Head } from "../cassette/tape.ts";
import type { Skill } from "../manifest/skill.ts";
import type { RunOptions } from "./run.ts";

export function withFlags(skill: Skill, { limits, output }: RunOptions): Skill {
  const file = output === undefined ? skill.output.file : resolve(output);
  return { ...skill, limits: { ...skill.limits, ...limits }, output: { ...skill.output, file } };
}

/** The flags of then, where no others are given. */
export function withFlagsOfThen(options: RunOptions, { given = {} }: Head): RunOptions {
  const { allow, deny, yes, limits } = options;
  return {
    ...options,
    allow: allow.length > 0 ? allow : (given.allow ?? []),
    deny: deny.length > 0 ? deny : (given.deny ?? []),
    yes: yes || (given.yes ?? false),
    limits: { ...given.limits, ...limits },
  };
}
