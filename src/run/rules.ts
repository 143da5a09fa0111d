// What a manifest and a command line say about tools → one list of rules, in the order of their weight.

import type { CheckedSkill } from "../manifest/load.ts";
import type { Skill } from "../manifest/skill.ts";
import { didYouMean } from "../nearest.ts";
import type { Rule } from "../permissions/rules.ts";

export type PermissionFlags = {
  allow: readonly string[];
  deny: readonly string[];
  /** Allow what nobody has decided on. */
  yes: boolean;
};

type Declared = Pick<Skill, "permissions" | "allowedTools" | "servers">;

/** Rules that a person wrote as such: a sub-skill must obey them too. `place` tells its own rules from those above it. */
export function explicitRules({ permissions }: Pick<Skill, "permissions">, flags: PermissionFlags, place = ""): Rule[] {
  return [
    ...flags.deny.map((tool): Rule => ({ tool, action: "deny", by: `--deny ${tool}` })),
    ...flags.allow.map((tool): Rule => ({ tool, action: "allow", by: `--allow ${tool}` })),
    ...permissions.map((rule, index): Rule => ({ ...rule, by: `${place}permissions[${index}]` })),
  ];
}

export function allRules(skill: Declared, flags: PermissionFlags, place = ""): Rule[] {
  const { allowedTools, servers } = skill;
  const named = servers.flatMap(({ name, tools }) =>
    tools.map((tool): Rule => ({ tool: `${name}/${tool}`, action: "allow", by: `${place}servers.${name}.tools` })),
  );
  return [
    ...explicitRules(skill, flags, place),
    ...allowedTools.map((tool): Rule => ({ tool, action: "allow", by: `${place}allowed-tools` })),
    ...named,
    { tool: "agent", action: "allow", by: "limits.depth" },
    { tool: "skill__*", action: "allow", by: "skills" },
    ...(flags.yes ? [{ tool: "*", action: "allow", by: "--yes" } as const] : []),
  ];
}

/** Rules on servers that there are not: a deny with a slip in it denies nothing. */
export function deadRules(skill: Pick<Skill, "permissions" | "servers" | "skills">, flags: PermissionFlags): string[] {
  const servers = [...skill.servers.map(({ name }) => name), ...skill.skills.flatMap(serversOf)];
  return explicitRules(skill, flags).flatMap(({ tool, by }) => {
    const [, spelled, server = spelled] = /^mcp__([^*]+?)__|^(?!mcp__)([^*/]+)\//.exec(tool) ?? [];
    if (server === undefined || servers.includes(server)) return [];
    return [`${by}: no server is called "${server}"${didYouMean(server, servers)}`];
  });
}

function serversOf({ manifest, skills }: CheckedSkill): string[] {
  return [...Object.keys(manifest.servers), ...skills.flatMap(serversOf)];
}
