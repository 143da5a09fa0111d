import type { ToolDefinition, ToolResult } from "../../conversation.ts";
import type { Params } from "../../mcp/json-rpc.ts";

/** A tool of omega's own; its origin is its name. */
export type BuiltIn = {
  definition: ToolDefinition;
  /** Absent: always. */
  isOffered?(): boolean;
  /** Rules on its name decide over it; where none does, the manifest's own field is the consent, named here. */
  consent?: string;
  /** Its results are never too long, and say themselves where they go on. */
  isPaged?: true;
  /** `args` fit the definition's schema. */
  call(args: Params, signal: AbortSignal): Promise<ToolResult>;
};

export function define(name: string, description: string, properties: object, required: readonly string[]) {
  const inputSchema = { type: "object", properties, required, additionalProperties: false };
  return { name, origin: name, description, inputSchema } satisfies ToolDefinition;
}

export function textResult(text: string): ToolResult {
  return { content: [{ type: "text", text }], isError: false };
}
