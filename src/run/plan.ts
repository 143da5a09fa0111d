// What a run would do, as far as it can be told without starting anything. Secrets by name and source, never by value.

import { asText } from "../manifest/inputs.ts";
import type { ModelChoice, Skill } from "../manifest/skill.ts";
import { openPermits } from "../permissions/permits.ts";
import { possible } from "../permissions/rules.ts";
import { keysOf } from "../providers/model.ts";
import { findPrice } from "../providers/prices.ts";
import { mapStrings, withoutSecrets } from "../redact.ts";
import type { Connection } from "../servers/connection.ts";
import { nameForModels } from "../tools/names.ts";
import { tokensOf } from "../tools/weight.ts";
import { randomWord } from "./envelope.ts";
import { allRules, deadRules, explicitRules, type PermissionFlags } from "./rules.ts";

export type Plan = Awaited<ReturnType<typeof planOf>>;
export type PlannedTool = ReturnType<typeof planTools>[number];

/** A run id such as a run would get; it stands for itself in what is shown. */
export const planRun = () => `plan-${randomWord()}`;

export async function planOf(skill: Skill, model: string | undefined, flags: PermissionFlags) {
  const hide = (text: string) => withoutSecrets(text, secrets);
  const { baseUrl, headers, apiKey: _, ...choice } = skill.model ?? { name: undefined, fallbacks: [] };
  const fromFlag = model ?? (skill.model ? undefined : process.env["OMEGA_MODEL"]);
  const chosen = fromFlag === undefined ? skill.model : { name: fromFlag, fallbacks: [] };
  const keys = chosen ? keysOf(chosen, process.env) : [];
  for (const key of keys) skill.secrets.add(key);
  const secrets = skill.secrets.list();
  return {
    skill: skill.name,
    version: skill.version ?? null,
    description: skill.description,
    file: skill.file,
    workdir: hide(skill.workdir),
    model:
      fromFlag !== undefined
        ? { name: fromFlag, fallbacks: [], source: model === undefined ? "$OMEGA_MODEL" : "--model" }
        : skill.model
          ? {
              ...choice,
              ...(baseUrl !== undefined && { baseUrl: hide(baseUrl) }),
              ...(headers && { headers: Object.keys(headers) }),
              source: "the manifest",
            }
          : null,
    keys: keys.map(({ name }) => name),
    inputs: skill.inputs.map(({ name, value, secret, source }) => ({
      name,
      value: secret ? `‹${name}›` : hide(asText(value)),
      source,
      secret,
    })),
    secrets: secrets.map(({ name, source }) => ({ name, source })),
    servers: skill.servers.map((server) => ({
      name: server.name,
      argv: [server.command, ...server.args].map(hide),
      cwd: hide(server.cwd ?? skill.workdir),
      env: Object.keys(server.env),
      tools: server.tools,
      required: server.required,
    })),
    instructions: skill.instructions === undefined ? null : hide(skill.instructions),
    prompt: hide(skill.prompt),
    permissions: explicitRules(skill, flags).map(({ tool, args, action, by }) => ({
      tool,
      args: args ?? {},
      action,
      by,
    })),
    limits: { ...skill.limits, timeMs: skill.limits.time, toolOutputBytes: skill.limits.toolOutput },
    worstCost: await worstCost(skill, chosen),
    output: skill.output.file === undefined ? null : hide(skill.output.file),
    expect: skill.expect.map((check) => mapStrings(check, hide)),
    skills: skill.skills.map(({ name, manifest }) => ({ name, description: manifest.description })),
    overlap: skill.overlap,
    warnings: [...skill.warnings, ...deadRules(skill, flags)],
  };
}

/** US dollars that a run may cost at the most; null if no limit bounds it, or nobody knows a price. */
async function worstCost({ limits }: Skill, model: ModelChoice | undefined): Promise<number | null> {
  if (limits.cost !== undefined || limits.costPerDay !== undefined) {
    return Math.min(limits.cost ?? Number.POSITIVE_INFINITY, limits.costPerDay ?? Number.POSITIVE_INFINITY);
  }
  if (limits.tokens === undefined || !model) return null;
  const prices = await Promise.all(
    [model.name, ...model.fallbacks].map(
      async (name) => (name === model.name && model.price) || (await findPrice(name)),
    ),
  );
  let dearest = 0;
  for (const price of prices) {
    if (!price) return null;
    dearest = Math.max(dearest, price.input, price.output, price.cacheRead ?? 0, price.cacheWrite ?? 0);
  }
  return (dearest * limits.tokens) / 1_000_000;
}

/** What a model would be offered of a server that is connected, and why. */
export function planTools(skill: Skill, flags: PermissionFlags, connections: readonly Connection[]) {
  const rules = allRules(skill, flags);
  const permits = openPermits({ rules, explicit: [], unattended: skill.unattended });
  const taken = new Map<string, true>();
  return connections.flatMap(({ server, tools }) =>
    tools.map(({ name, description, inputSchema }) => {
      const nameForModel = nameForModels(server.name, name, taken);
      taken.set(nameForModel, true);
      const tool = { server: server.name, tool: name };
      return {
        server: server.name,
        name,
        nameForModel,
        /** As nobody could be asked. */
        unattended: permits.offer(tool).kind,
        decisions: possible(rules, tool).map(({ action, by }) => ({ action, by })),
        estimatedTokens: tokensOf(nameForModel, description, inputSchema),
      };
    }),
  );
}
