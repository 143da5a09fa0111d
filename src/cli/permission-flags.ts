// The flags that decide over tools; `run` and `plan` share them.

import type { ArgsDef } from "citty";
import { OmegaError } from "../errors.ts";
import { namesTools } from "../manifest/schema.ts";
import type { PermissionFlags } from "../run/rules.ts";
import { valuesOf } from "./flags.ts";

export const permissionArgs = {
  allow: { type: "string", valueHint: "server/tool", description: "allow a tool; * matches anything; may be repeated" },
  deny: {
    type: "string",
    valueHint: "server/tool",
    description: "refuse a tool, whatever else allows it; may be repeated",
  },
  yes: { type: "boolean", description: "allow the tools that nobody has decided on" },
} as const satisfies ArgsDef;

export function readPermissions(yes: boolean | undefined, rawArgs: readonly string[]): PermissionFlags {
  return { allow: patterns("--allow", rawArgs), deny: patterns("--deny", rawArgs), yes: yes ?? false };
}

function patterns(flag: string, rawArgs: readonly string[]): string[] {
  const given = valuesOf(flag, rawArgs);
  const wrong = given.find((pattern) => !namesTools.test(pattern));
  if (wrong === undefined) return given;
  throw new OmegaError("USAGE", `${flag} takes server/tool, with * for anything, not "${wrong}"`);
}
