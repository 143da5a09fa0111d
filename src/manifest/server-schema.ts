// What a manifest may say of a server: stdio, HTTP, or taken by name from an .mcp.json.

import * as v from "valibot";
import { anyText, fields, flag, listOf, mapOf, matching, oneOf, shapeOf, text, whole } from "./schema-parts.ts";
import { duration, size } from "./units.ts";

/** How long a server may take to start, and to answer a request, unless the manifest says otherwise. */
const PATIENCE = "120s";

const common = {
  tools: v.optional(
    listOf(
      text("a tool's real name, or a glob"),
      "the tools offered to the model, and allowed: real names, which must exist, or globs with `*`",
    ),
    [],
  ),
  required: v.optional(flag("false: the run goes on with a warning if this server does not start"), true),
  startupTimeout: v.optional(duration("how long it may take to start and list its tools"), PATIENCE),
  timeout: v.optional(duration("how long it may take to answer a request"), PATIENCE),
  stopGrace: v.optional(duration("how long it may take to leave by itself at the end"), "2s"),
  /** Undefined: 16, or 1 for a bare server. */
  concurrency: v.optional(whole("how many requests may be open at once; default 16, for a bare server 1")),
  restart: v.optional(oneOf(["never", "on-failure"], "start it again when it dies in the middle of a run"), "never"),
  maxMessage: v.optional(size("the longest message it may send"), "10MB"),
  protocol: v.optional(oneOf(["auto", "legacy", "modern"], "the era of MCP to speak"), "auto"),
  sampling: v.optional(flag("let it ask the run's model"), false),
};

export const StdioServer = fields({
  command: text("the program to start; no shell is involved"),
  args: v.optional(listOf(anyText("an argument"), "its arguments"), []),
  env: v.optional(
    mapOf(
      v.nullable(anyText("a value; nothing passes omega's own variable through")),
      "variables for it, besides a safe few",
    ),
    {},
  ),
  cwd: v.optional(text("the folder it starts in, relative to the workdir; default: the workdir")),
  ...common,
});

export const HttpServer = fields({
  url: text("the address of the server"),
  headers: v.optional(
    mapOf(anyText("a header's value"), "headers sent with every request; their values are secrets"),
    {},
  ),
  transport: v.optional(oneOf(["http", "sse"], "streamable HTTP, or the older HTTP with SSE"), "http"),
  auth: v.optional(
    fields({
      clientId: v.optional(text("the OAuth client's id")),
      clientSecret: v.optional(text("the OAuth client's secret")),
      scope: v.optional(text("the scopes to ask for")),
    }),
  ),
  allowInsecure: v.optional(flag("allow plain http off this machine"), false),
  ...common,
});

export const InheritedServer = fields({
  inherit: v.pipe(
    v.literal(true, "expected true: inherit takes the server of this name from .mcp.json"),
    v.description("take the server of this name from `./.mcp.json`, else from `~/.mcp.json`"),
  ),
  ...common,
});

const shapes = [StdioServer, HttpServer, InheritedServer] as const;
const onlyHttp = ["url", "headers", "transport", "auth", "allowInsecure"];

/** The first of command, url and inherit that is there says which kind was meant. */
function chooseShape(input: unknown): (typeof shapes)[number] {
  const has = (name: string) => typeof input === "object" && input !== null && Object.hasOwn(input, name);
  if (has("command")) return StdioServer;
  if (onlyHttp.some(has)) return HttpServer;
  return has("inherit") ? InheritedServer : StdioServer;
}

/** The shape that would have taken a field this one does not have. */
export function foreignTransport(field: string): string | undefined {
  if (onlyHttp.includes(field)) return "url (HTTP)";
  if (field === "inherit") return "inherit";
  return ["command", "args", "env", "cwd"].includes(field) ? "command (stdio)" : undefined;
}

export const Servers = mapOf(
  shapeOf(shapes, chooseShape, "a server: `command` (stdio), `url` (HTTP) or `inherit: true`"),
  "the MCP servers of this skill, by name",
  matching(
    /^(?!.*__)[A-Za-z0-9_-]{1,64}$/,
    "a server's name of at most 64 letters, digits, - and single _",
    "a server's name: letters, digits, `-` and single `_`",
  ),
);
