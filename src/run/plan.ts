// What a run would do, as far as it can be told without starting anything. Secrets by name and source, never by value.

import { asText } from "../manifest/inputs.ts";
import type { Skill } from "../manifest/skill.ts";
import { keysOf } from "../providers/model.ts";
import { withoutSecrets } from "../redact.ts";
import { randomWord } from "./envelope.ts";

export type Plan = ReturnType<typeof planOf>;

/** A run id such as a run would get; it stands for itself in what is shown. */
export const planRun = () => `plan-${randomWord()}`;

export function planOf(skill: Skill, model: string | undefined) {
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
    limits: { turns: skill.limits.turns, timeMs: skill.limits.time },
    warnings: skill.warnings,
  };
}
