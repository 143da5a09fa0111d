// `finish`: how a model says how it went, and, where the manifest has a schema, the only way to give the answer.

import type { ToolDefinition } from "../../conversation.ts";
import { OmegaError } from "../../errors.ts";
import { FINISH } from "../../events.ts";
import { isObject, type Params } from "../../mcp/json-rpc.ts";
import { type Check, createCheck, createStrictCheck } from "../check.ts";
import { define } from "./built-in.ts";

const statuses = ["done", "nothing-to-do", "blocked"] as const;

export type Finished = {
  status: (typeof statuses)[number];
  summary: string;
  /** What a blocked model would have needed. */
  missing: string[];
  output?: unknown;
};

export type FinishTool = {
  definition: ToolDefinition;
  /** Done without it is not done. */
  wantsOutput: boolean;
  /** What is said, or why it cannot be taken. */
  accept(args: unknown): Promise<Finished | string>;
};

/** Throws if the manifest's schema cannot be checked: an answer that nobody can check must not pass for a good one. */
export function finishTool(schema: Params | undefined): FinishTool {
  const definition = describe(schema);
  const check = createCheck(definition.inputSchema as Params, "finish", () => undefined);
  const checkOutput = schema && checkOf(schema);
  return {
    definition,
    wantsOutput: schema !== undefined,
    async accept(args) {
      if (!isObject(args)) return "the arguments are not a JSON object";
      const { output, ...said } = args;
      const wrong = await check(said);
      if (wrong.length > 0) return `the arguments do not fit the tool's schema:\n${wrong.join("\n")}`;
      const { status, summary, missing } = said as Pick<Finished, "status" | "summary"> & Partial<Finished>;
      if (status === "done" && checkOutput) {
        if (output === undefined) return "status done needs the answer, in output";
        const faults = await checkOutput(output);
        if (faults.length > 0) return `the output does not fit its schema:\n${faults.join("\n")}`;
      }
      return { status, summary, missing: missing ?? [], ...(output !== undefined && { output }) };
    },
  };
}

function describe(schema: Params | undefined): ToolDefinition {
  const how = schema
    ? "The answer must be given here, in output, as its schema says."
    : "Put what the reader should get into summary, unless you have just written it as text.";
  const { hoisted, output } = schema ? embed(schema) : { hoisted: {}, output: {} };
  const { inputSchema, ...rest } = define(
    FINISH,
    `Say how the work went, when it is over, in a turn of its own. done: it is done, and you have seen that it is. nothing-to-do: there was nothing to do. blocked: it cannot be done; name the tools or things that you lack in missing. ${how}`,
    {
      status: { type: "string", enum: statuses },
      summary: { type: "string", description: "what was done or found, or why it could not be done" },
      missing: { type: "array", items: { type: "string" } },
      output: { description: schema ? "the answer" : "the result as data, if there is any", ...output },
    },
    ["status", "summary"],
  );
  return { ...rest, inputSchema: { ...inputSchema, ...hoisted } };
}

/** A schema inside another one: its definitions move to the root, and what refers to the rest of it must say the new way. */
function embed({ $schema: _, $id: __, $defs, definitions, ...schema }: Params): { hoisted: Params; output: Params } {
  const moved = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(moved);
    if (!isObject(value)) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, inner]) => [key, key === "$ref" ? there(inner) : moved(inner)]),
    );
  };
  const hoisted = { ...($defs !== undefined && { $defs }), ...(definitions !== undefined && { definitions }) };
  return { hoisted: moved(hoisted) as Params, output: moved(schema) as Params };
}

function there(reference: unknown): unknown {
  if (typeof reference !== "string" || !reference.startsWith("#")) return reference;
  return /^#\/(\$defs|definitions)\//.test(reference) ? reference : `#/properties/output${reference.slice(1)}`;
}

function checkOf(schema: Params): Check {
  try {
    return createStrictCheck(schema);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new OmegaError("MANIFEST_INVALID", `output.schema cannot be checked: ${why}`, { cause: error });
  }
}
