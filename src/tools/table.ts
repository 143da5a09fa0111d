// The tools of many servers, and omega's own → one table of names that are safe and unique for every provider; a call → a
// result. Permissions are asked here and nowhere else.

import { errorResult, type ToolDefinition, type ToolResult } from "../conversation.ts";
import { OmegaError } from "../errors.ts";
import { isObject, type Params } from "../mcp/json-rpc.ts";
import { didYouMean } from "../nearest.ts";
import { originOf, type Permits } from "../permissions/permits.ts";
import type { ToolName } from "../permissions/rules.ts";
import type { Connection } from "../servers/connection.ts";
import type { ServerTool } from "../servers/discovery.ts";
import type { BuiltIn } from "./builtin/built-in.ts";
import { builtInCallable, type Callable, callable } from "./callable.ts";
import { nameForModels } from "./names.ts";

/** What a conversation can call. */
export type Toolbox = {
  /** Grows when a server offers more tools during the run. */
  readonly definitions: ToolDefinition[];
  originOf(name: string): string;
  call(name: string, argumentsText: string, signal: AbortSignal): Promise<ToolResult>;
  /** Why no more turns may follow. */
  halt(): OmegaError | undefined;
};

/** How often a tool was called: `sent` were really sent. */
export type Count = { sent: number; succeeded: number };

export type ToolTable = {
  /** For one conversation: with built-in tools of its own, and only the tools named, if any are. */
  toolbox(builtIns: readonly BuiltIn[], names?: readonly string[]): Toolbox;
  /** Tools that would have to be asked for, and nobody can be; they are not offered. */
  readonly undecided: readonly Undecided[];
  /** `server/tool` → its counts. */
  readonly counts: ReadonlyMap<string, Count>;
};

/** `by`: why it would have to be asked for. */
export type Undecided = { origin: string; by: string };

export type TableOptions = {
  permits: Permits;
  /** What the model gets to see of a result; of one that is `whole`, all of it. */
  shape(result: ToolResult, whole: boolean): ToolResult;
  /** What the model gets to see of a tool's name; the one that makes it safe comes after it. */
  shapeName(name: string): string;
  /** What the model gets to see of a definition. */
  shapeDefinition(definition: ToolDefinition): ToolDefinition;
  warn(message: string): void;
  /** Told of each tool that nobody has decided on, also of one that is there only later. */
  onUndecided?(origin: string): void;
};

type Entry = Callable & { definition: ToolDefinition; name: ToolName };

export function toolTable(connections: readonly Connection[], options: TableOptions): ToolTable {
  const { permits, shape, warn } = options;
  const entries = new Map<string, Entry>();
  const offered: ToolDefinition[] = [];
  const undecided: Undecided[] = [];
  const counts = new Map<string, Count>();
  const seen = new Map(connections.map((connection) => [connection, 0]));

  function addNewTools(): void {
    for (const [connection, count] of seen) {
      if (connection.tools.length === count) continue;
      for (const tool of connection.tools.slice(count)) add(connection, tool);
      seen.set(connection, connection.tools.length);
    }
  }

  function add(connection: Connection, tool: ServerTool): void {
    const name = { server: connection.server.name, tool: tool.name };
    const definition = options.shapeDefinition({
      name: nameForModels(connection.server.name, options.shapeName(tool.name), entries),
      origin: originOf(name),
      description: tool.description,
      inputSchema: tool.inputSchema,
    });
    entries.set(definition.name, { ...callable(connection, tool, warn), definition, name });
    if (isOffered(name)) offered.push(definition);
  }

  function isOffered(name: ToolName): boolean {
    const offer = permits.offer(name);
    const origin = originOf(name);
    if (offer.kind === "undecided" && !undecided.some((each) => each.origin === origin)) {
      undecided.push({ origin, by: offer.by });
      options.onUndecided?.(origin);
    }
    return offer.kind === "offered";
  }

  async function call(entry: Entry, argumentsText: string, signal: AbortSignal): Promise<ToolResult> {
    const { definition, name } = entry;
    const args = parseArguments(argumentsText);
    // What is not offered is refused whatever its arguments are: they need not be mended first.
    const isKept = !entry.isFree && permits.offer(name).kind !== "offered";
    const early = isKept && (await refused(name, isObject(args) ? args : {}, signal));
    if (early) return early;
    if (!isObject(args)) return errorResult("the arguments are not a JSON object");
    const wrong = await entry.check(args);
    if (wrong.length > 0) return errorResult(`the arguments do not fit the tool's schema:\n${wrong.join("\n")}`);
    const late = !entry.isFree && (await refused(name, args, signal));
    if (late) return late;
    const count = counts.get(definition.origin) ?? { sent: 0, succeeded: 0 };
    counts.set(definition.origin, count);
    count.sent++;
    const { content, isError } = await entry.call(args, signal);
    if (!isError) count.succeeded++;
    return { content, isError };
  }

  async function refused(name: ToolName, args: Params, signal: AbortSignal): Promise<ToolResult | undefined> {
    const refusal = await permits.refusal(name, args, signal);
    return refusal === undefined ? undefined : { ...errorResult(refusal), denied: true };
  }

  function toolbox(builtIns: readonly BuiltIn[], names?: readonly string[]): Toolbox {
    const own = new Map(builtIns.map((builtIn) => [builtIn.definition.name, ownEntry(builtIn, warn)]));
    const isWanted = ({ name, origin }: ToolDefinition) => !names || names.includes(name) || names.includes(origin);
    const isThere = ({ definition, isOffered: isOn, consent }: BuiltIn) =>
      (isOn?.() ?? true) && (consent === undefined || isOffered({ server: undefined, tool: definition.origin }));
    const find = (name: string) => {
      const entry = entries.get(name);
      return own.get(name) ?? (entry && isWanted(entry.definition) ? entry : undefined);
    };
    return {
      get definitions() {
        addNewTools();
        return [...offered.filter(isWanted), ...builtIns.filter(isThere).map(({ definition }) => definition)];
      },
      originOf: (name) => find(name)?.definition.origin ?? name,
      async call(name, argumentsText, signal) {
        const entry = find(name);
        if (entry) return shape(await untilAborted(call(entry, argumentsText, signal), signal), entry.isPaged);
        const known = [...offered.filter(isWanted).map((each) => each.name), ...own.keys()];
        return shape(errorResult(`there is no tool ${name}${didYouMean(name, known)}`), false);
      },
      halt: permits.halt,
    };
  }

  addNewTools();
  return { toolbox, undecided, counts };
}

/** A call that was given up has a result like any other: the conversation must stay whole. */
async function untilAborted(call: Promise<ToolResult>, signal: AbortSignal): Promise<ToolResult> {
  try {
    return await call;
  } catch (error) {
    if (!signal.aborted || error !== signal.reason) throw error;
    return errorResult(error instanceof Error ? error.message : String(error));
  }
}

function ownEntry(builtIn: BuiltIn, warn: (message: string) => void): Entry {
  const { definition } = builtIn;
  return { ...builtInCallable(builtIn, warn), definition, name: { server: undefined, tool: definition.origin } };
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
    return JSON.parse(text) as Params;
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof RangeError) return undefined;
    throw error;
  }
}
