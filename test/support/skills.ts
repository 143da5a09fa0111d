import { resolve } from "node:path";
import { root } from "./omega.ts";

/** The argv of a fixture server. */
export const fixture = (name: string) => resolve(root, "test/fixtures", name);

/** A manifest as JSON, which is YAML too. Every server allows all of its tools unless it says otherwise. */
export function manifest(servers: Record<string, object>, more: object = {}): string {
  const filled = Object.entries(servers).map(([name, server]) => [name, { tools: ["*"], ...server }]);
  return JSON.stringify(
    { description: "a test", prompt: "Work.", servers: Object.fromEntries(filled), ...more },
    null,
    2,
  );
}

export const fixtureServer = (name: string, more: object = {}) => ({ command: "node", args: [fixture(name)], ...more });

export const everything = {
  command: "node",
  args: [resolve(root, "node_modules/@modelcontextprotocol/server-everything/dist/index.js")],
};
