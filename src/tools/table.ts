// The tools of many servers → one table of names that are safe and unique for every provider; a call → a result.

import { errorResult, type ToolDefinition, type ToolResult } from "../conversation.ts";
import { OmegaError } from "../errors.ts";
import { isObject, type Params } from "../mcp/json-rpc.ts";
import { didYouMean } from "../nearest.ts";
import type { CallResult, Connection } from "../servers/connection.ts";
import type { ServerTool } from "../servers/discovery.ts";
import { type Check, createCheck } from "./check.ts";
import { isAllowed } from "./glob.ts";
import { nameForModels } from "./names.ts";

export type ToolTable = {
  /** Grows when a server offers more tools during the run. */
  readonly definitions: ToolDefinition[];
  /** `server/tool` of tools that nobody has allowed; they are not offered. */
  readonly undecided: string[];
  call(name: string, argumentsText: string, signal: AbortSignal): Promise<ToolResult>;
};

export type TableOptions = { allowAll: boolean; warn(message: string): void };

export function toolTable(connections: readonly Connection[], { allowAll, warn }: TableOptions): ToolTable {
  const entries = new Map<string, CallableTool & { definition: ToolDefinition }>();
  const undecided: string[] = [];
  const seen = new Map(connections.map((connection) => [connection, 0]));

  function addNewTools(): void {
    for (const [connection, count] of seen) {
      for (const tool of connection.tools.slice(count)) add(connection, tool);
      seen.set(connection, connection.tools.length);
    }
  }

  function add(connection: Connection, tool: ServerTool): void {
    const { server } = connection;
    const origin = `${server.name}/${tool.name}`;
    if (!allowAll && !isAllowed(server.tools, tool.name)) return void undecided.push(origin);
    const name = nameForModels(server.name, tool.name, entries);
    const definition = { name, origin, description: tool.description, inputSchema: tool.inputSchema };
    entries.set(name, { ...callable(connection, tool, warn), definition });
  }

  addNewTools();
  return {
    get definitions() {
      addNewTools();
      return [...entries.values()].map(({ definition }) => definition);
    },
    undecided,
    async call(name, argumentsText, signal) {
      const entry = entries.get(name);
      if (!entry) return errorResult(`there is no tool ${name}${didYouMean(name, [...entries.keys()])}`);
      const args = parseArguments(argumentsText);
      if (!isObject(args)) return errorResult("the arguments are not a JSON object");
      const { content, isError } = await entry.call(args, signal);
      return { content, isError };
    },
  };
}

export type CallableTool = { call(args: Params, signal: AbortSignal): Promise<CallResult> };

/** A tool whose arguments are checked before a call, and whose structured output after it. */
export function callable(connection: Connection, tool: ServerTool, warn: (message: string) => void): CallableTool {
  const origin = `${connection.server.name}/${tool.name}`;
  const checkInput = createCheck(tool.inputSchema, `the input schema of ${origin}`, warn);
  const checkOutput = tool.outputSchema && createCheck(tool.outputSchema, `the output schema of ${origin}`, warn);
  return {
    async call(args, signal) {
      const wrong = await checkInput(args);
      if (wrong.length > 0) {
        return {
          ...errorResult(`the arguments do not fit the tool's schema:\n${wrong.join("\n")}`),
          answer: undefined,
        };
      }
      const result = await connection.call(tool.name, args, signal);
      return checkOutput && !result.isError ? await checked(result, checkOutput, origin, warn) : result;
    },
  };
}

/** A result that breaks its own promise is still a result: the model gets it, with a word of warning. */
async function checked(
  result: CallResult,
  check: Check,
  origin: string,
  warn: (message: string) => void,
): Promise<CallResult> {
  const structured = isObject(result.answer) ? result.answer["structuredContent"] : undefined;
  const wrong = structured === undefined ? ["there is no structured content"] : await check(structured);
  if (wrong.length === 0) return result;
  const text = `the output of ${origin} does not fit its schema: ${wrong.join("; ")}`;
  warn(text);
  return { ...result, content: [...result.content, { type: "text", text: `[${text}]` }] };
}

/** The tools that a manifest names without a glob must exist. */
export function missingTools({ server, tools }: Connection): OmegaError | undefined {
  const real = tools.map(({ name }) => name);
  const missing = server.tools.filter((name) => !name.includes("*") && !real.includes(name));
  const [first] = missing;
  if (first === undefined) return undefined;
  return new OmegaError(
    "SERVER_TOOL_MISSING",
    `server "${server.name}" has no tool ${missing.map((name) => `"${name}"`).join(", ")}${didYouMean(first, real)}`,
    { hint: `it offers: ${real.slice(0, 30).join(", ")}${real.length > 30 ? ", …" : ""}` },
  );
}

function parseArguments(text: string): unknown {
  if (text.trim() === "") return {};
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof RangeError) return undefined;
    throw error;
  }
}
