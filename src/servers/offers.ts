// What a server offers besides tools. Asked for only when a command or a tool needs it: nothing of this is on the way of a run.

import type { Connection } from "./connection.ts";
import {
  type Listed,
  listPrompts,
  listResources,
  listTemplates,
  type Prompt,
  type Resource,
  type Template,
} from "./discovery.ts";
import type { Ask } from "./session.ts";

const asking =
  ({ request }: Connection, signal: AbortSignal): Ask =>
  (method, params) =>
    request(method, params, signal);

const labelOf = ({ server }: Connection) => `server "${server.name}"`;

export const hasResources = ({ session }: Connection) => session.capabilities["resources"] !== undefined;
export const hasPrompts = ({ session }: Connection) => session.capabilities["prompts"] !== undefined;

export async function resourcesOf(connection: Connection, signal: AbortSignal): Promise<Listed<Resource | Template>> {
  if (!hasResources(connection)) return { entries: [], warnings: [] };
  const ask = asking(connection, signal);
  const label = labelOf(connection);
  const [resources, templates] = await Promise.all([listResources(ask, label), listTemplates(ask, label)]);
  return {
    entries: [...resources.entries, ...templates.entries],
    warnings: [...resources.warnings, ...templates.warnings],
  };
}

export async function promptsOf(connection: Connection, signal: AbortSignal): Promise<Listed<Prompt>> {
  if (!hasPrompts(connection)) return { entries: [], warnings: [] };
  return await listPrompts(asking(connection, signal), labelOf(connection));
}
