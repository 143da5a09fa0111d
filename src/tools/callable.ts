// A tool that can be called: its arguments are checked before, and, if it is a server's, its structured output after it.

import { errorResult } from "../conversation.ts";
import { isObject, type Params } from "../mcp/json-rpc.ts";
import type { CallResult, Connection } from "../servers/connection.ts";
import type { ServerTool } from "../servers/discovery.ts";
import type { BuiltIn } from "./builtin/built-in.ts";
import { type Check, createCheck } from "./check.ts";

export type Callable = {
  check: Check;
  /** Needs no permission. */
  isFree: boolean;
  /** Its results must not be cut. */
  isPaged: boolean;
  /** `args` have been checked. */
  call(args: Params, signal: AbortSignal): Promise<CallResult>;
};

type Warn = (message: string) => void;

export function callable(connection: Connection, tool: ServerTool, warn: Warn): Callable {
  const origin = `${connection.server.name}/${tool.name}`;
  const checkOutput = tool.outputSchema && createCheck(tool.outputSchema, `the output schema of ${origin}`, warn);
  return {
    check: createCheck(tool.inputSchema, `the input schema of ${origin}`, warn),
    isFree: false,
    isPaged: false,
    async call(args, signal) {
      const result = await connection.call(tool.name, args, signal);
      return checkOutput && !result.isError ? await checked(result, checkOutput, origin, warn) : result;
    },
  };
}

export function builtInCallable(builtIn: BuiltIn, warn: Warn): Callable {
  const { definition, consent } = builtIn;
  return {
    check: createCheck(definition.inputSchema as Params, `the input schema of ${definition.name}`, warn),
    isFree: consent === undefined,
    isPaged: builtIn.isPaged ?? false,
    call: async (args, signal) => ({ ...(await builtIn.call(args, signal)), answer: undefined }),
  };
}

/** For who calls a tool without a table. */
export async function callChecked(tool: Callable, args: Params, signal: AbortSignal): Promise<CallResult> {
  const wrong = await tool.check(args);
  if (wrong.length === 0) return await tool.call(args, signal);
  return { ...errorResult(`the arguments do not fit the tool's schema:\n${wrong.join("\n")}`), answer: undefined };
}

/** A result that breaks its own promise is still a result: the model gets it, with a word of warning. */
async function checked(result: CallResult, check: Check, origin: string, warn: Warn): Promise<CallResult> {
  const structured = isObject(result.answer) ? result.answer["structuredContent"] : undefined;
  const wrong = structured === undefined ? ["there is no structured content"] : await check(structured);
  if (wrong.length === 0) return result;
  const text = `the output of ${origin} does not fit its schema: ${wrong.join("; ")}`;
  warn(text);
  return { ...result, content: [...result.content, { type: "text", text: `[${text}]` }] };
}
