// The Skill value that the rest of omega trusts: checked, merged, every template filled, durations in ms, sizes in bytes.

import type * as v from "valibot";
import type { Secrets } from "../redact.ts";
import type { Values } from "./document.ts";
import type { ResolvedInput } from "./inputs.ts";
import type { CheckedSkill } from "./load.ts";
import type { Expectation, Limits, Manifest, ModelFields, Permission } from "./schema.ts";
import type { StdioServer } from "./server-schema.ts";

export type ModelChoice = v.InferOutput<typeof ModelFields>;

/** `cwd` is always there, absolute. */
export type Server = v.InferOutput<typeof StdioServer> & { name: string };

export type Skill = {
  name: string;
  description: string;
  version: string | undefined;
  /** The file that was loaded, and its folder: what a manifest reads is relative to it. */
  file: string;
  dir: string;
  /** The local time, if a text of the manifest tells it or its date. */
  now: string | undefined;
  /** What the run works in, absolute. */
  workdir: string;
  inputs: readonly ResolvedInput[];
  model: ModelChoice | undefined;
  servers: readonly Server[];
  instructions: string | undefined;
  prompt: string;
  permissions: readonly Permission[];
  /** Tools that `allowed-tools` allows, as patterns. */
  allowedTools: readonly string[];
  unattended: Manifest["unattended"];
  limits: Limits;
  /** Files of its folder that are for omega, not for the model. */
  ownFiles: readonly string[];
  output: { schema: Values | undefined; file: string | undefined };
  expect: readonly Expectation[];
  skills: readonly CheckedSkill[];
  overlap: Manifest["overlap"];
  auditRequired: boolean;
  secrets: Secrets;
  warnings: readonly string[];
};
