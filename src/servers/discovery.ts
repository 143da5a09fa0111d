// What a server offers, read loosely: an entry without a name is malformed and skipped, all else has a default.

import { isObject, METHOD_NOT_FOUND, type Params, RpcError } from "../mcp/json-rpc.ts";
import { listAll } from "./pages.ts";
import type { Ask, Session } from "./session.ts";

export type ServerTool = {
  name: string;
  description: string;
  inputSchema: Params;
  outputSchema: Params | undefined;
  annotations: Params;
};
export type Resource = { uri: string; name: string; description: string; mimeType: string | undefined };
export type Template = Omit<Resource, "uri"> & { uriTemplate: string };
export type PromptArgument = { name: string; description: string; required: boolean };
export type Prompt = { name: string; description: string; arguments: PromptArgument[] };

export type Listed<T> = { entries: T[]; warnings: string[] };

export async function listTools(ask: Ask, label: string, { capabilities }: Session): Promise<Listed<ServerTool>> {
  // Some servers offer tools without saying so; only one that does not know the method has none.
  const entries = await orNone(listAll(ask, label, "tools/list", "tools"), capabilities["tools"] === undefined);
  return collect(entries, label, "tools", parseTool, ({ name }) => name);
}

export async function listResources(ask: Ask, label: string): Promise<Listed<Resource>> {
  const entries = await orNone(listAll(ask, label, "resources/list", "resources"), true);
  return collect(entries, label, "resources", parseResource, ({ uri }) => uri);
}

export async function listTemplates(ask: Ask, label: string): Promise<Listed<Template>> {
  const entries = await orNone(listAll(ask, label, "resources/templates/list", "resourceTemplates"), true);
  return collect(entries, label, "resource templates", parseTemplate, ({ uriTemplate }) => uriTemplate);
}

export async function listPrompts(ask: Ask, label: string): Promise<Listed<Prompt>> {
  const entries = await orNone(listAll(ask, label, "prompts/list", "prompts"), true);
  return collect(entries, label, "prompts", parsePrompt, ({ name }) => name);
}

async function orNone(entries: Promise<unknown[]>, mayLack: boolean): Promise<unknown[]> {
  try {
    return await entries;
  } catch (error) {
    if (mayLack && error instanceof RpcError && error.code === METHOD_NOT_FOUND) return [];
    throw error;
  }
}

function collect<T>(
  entries: readonly unknown[],
  label: string,
  what: string,
  parse: (entry: unknown) => T | undefined,
  keyOf: (item: T) => string,
): Listed<T> {
  const items = new Map<string, T>();
  let malformed = 0;
  let duplicates = 0;
  for (const entry of entries) {
    const item = parse(entry);
    if (!item) malformed++;
    else if (items.has(keyOf(item))) duplicates++;
    else items.set(keyOf(item), item);
  }
  const warnings: string[] = [];
  if (malformed > 0) warnings.push(`${label}: ${malformed} malformed ${what} skipped`);
  if (duplicates > 0) warnings.push(`${label}: ${duplicates} ${what} with a name that was already taken skipped`);
  return { entries: [...items.values()], warnings };
}

export function parseTool(entry: unknown): ServerTool | undefined {
  const name = nonEmpty(entry, "name");
  if (name === undefined || !isObject(entry)) return undefined;
  return {
    name,
    description: textAt(entry, "description"),
    inputSchema: inputSchema(entry["inputSchema"]),
    outputSchema: isObject(entry["outputSchema"]) ? entry["outputSchema"] : undefined,
    annotations: isObject(entry["annotations"]) ? entry["annotations"] : {},
  };
}

/** Providers refuse a whole request for one tool whose schema is not an object's. */
function inputSchema(schema: unknown): Params {
  if (!isObject(schema)) return { type: "object" };
  if (schema["type"] === undefined) return { type: "object", ...schema };
  return schema["type"] === "object" ? schema : { type: "object" };
}

function parseResource(entry: unknown): Resource | undefined {
  const uri = nonEmpty(entry, "uri");
  return uri === undefined || !isObject(entry) ? undefined : { uri, ...describe(entry, uri) };
}

function parseTemplate(entry: unknown): Template | undefined {
  const uriTemplate = nonEmpty(entry, "uriTemplate");
  return uriTemplate === undefined || !isObject(entry) ? undefined : { uriTemplate, ...describe(entry, uriTemplate) };
}

function parsePrompt(entry: unknown): Prompt | undefined {
  const name = nonEmpty(entry, "name");
  if (name === undefined || !isObject(entry)) return undefined;
  const given = Array.isArray(entry["arguments"]) ? entry["arguments"].filter(isObject) : [];
  return {
    name,
    description: textAt(entry, "description"),
    arguments: given.flatMap((argument) => {
      const name = nonEmpty(argument, "name");
      const required = argument["required"] === true;
      return name === undefined ? [] : [{ name, description: textAt(argument, "description"), required }];
    }),
  };
}

function describe(entry: Params, fallback: string): Omit<Resource, "uri"> {
  const mimeType = nonEmpty(entry, "mimeType");
  return { name: nonEmpty(entry, "name") ?? fallback, description: textAt(entry, "description"), mimeType };
}

function nonEmpty(entry: unknown, key: string): string | undefined {
  const value = isObject(entry) ? entry[key] : undefined;
  return typeof value === "string" && value !== "" ? value : undefined;
}

function textAt(entry: Params, key: string): string {
  return nonEmpty(entry, key) ?? "";
}
