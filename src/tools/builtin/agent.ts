// `agent`: a sub-agent with the same tools, permissions and servers, and what is left of the limits. What it does is the
// run's business, handed down as a function.

import type { ToolResult } from "../../conversation.ts";
import { type BuiltIn, define } from "./built-in.ts";

export type AgentTask = { task: string; tools: readonly string[] | undefined };
export type RunAgent = (task: AgentTask, signal: AbortSignal) => Promise<ToolResult>;

export const AGENT = "agent";

export function agentTool(runAgent: RunAgent): BuiltIn {
  return {
    definition: define(
      AGENT,
      "Give a part of the work to a sub-agent. It sees nothing of this conversation: the task must say all it needs. It has your tools, and gives back its final answer. Several can work at once.",
      {
        task: { type: "string", minLength: 1, description: "what to do, and what to give back" },
        tools: { type: "array", items: { type: "string" }, description: "only these of your tools; default: all" },
      },
      ["task"],
    ),
    consent: "limits.depth",
    call: (args, signal) =>
      runAgent({ task: String(args["task"]), tools: args["tools"] as string[] | undefined }, signal),
  };
}
