// `skill__<name>`: a sub-skill as a tool, its inputs as the tool's schema. Secret inputs are none of the model's business.

import type { ToolResult } from "../../conversation.ts";
import type { CheckedSkill } from "../../manifest/load.ts";
import type { Params } from "../../mcp/json-rpc.ts";
import { safeName } from "../names.ts";
import type { BuiltIn } from "./built-in.ts";

export type RunSubSkill = (skill: CheckedSkill, inputs: Params, signal: AbortSignal) => Promise<ToolResult>;

export const nameOfSkill = ({ name }: Pick<CheckedSkill, "name">) => `skill__${name}`;

export function subSkillTool(skill: CheckedSkill, runSubSkill: RunSubSkill): BuiltIn {
  const { manifest } = skill;
  const name = nameOfSkill(skill);
  return {
    definition: {
      name: safeName(name, new Map()),
      origin: name,
      description: manifest.description,
      inputSchema: schemaOf(manifest.inputs),
    },
    consent: "skills",
    call: (inputs, signal) => runSubSkill(skill, inputs, signal),
  };
}

function schemaOf(inputs: CheckedSkill["manifest"]["inputs"]): object {
  const open = Object.entries(inputs).filter(([, input]) => !input.secret);
  const properties = open.map(([name, { type, description, enum: values, default: value }]) => [
    name,
    {
      type,
      ...(description !== undefined && { description }),
      ...(values && { enum: values }),
      ...(value !== undefined && { default: value }),
    },
  ]);
  const required = open.filter(([, input]) => input.default === undefined && input.env === undefined);
  return {
    type: "object",
    properties: Object.fromEntries(properties),
    required: required.map(([name]) => name),
    additionalProperties: false,
  };
}
