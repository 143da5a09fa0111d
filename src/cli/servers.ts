import { type ArgsDef, defineCommand } from "citty";
import { asOmegaError } from "../errors.ts";
import type { Server } from "../manifest/skill.ts";
import { exitCodeOf } from "../outcome.ts";
import type { Secrets } from "../redact.ts";
import { connect, type ServerState } from "../servers/connection.ts";
import type { Session } from "../servers/session.ts";
import { jsonText, oneLine, plain } from "../terminal.ts";
import { findTarget, hideSecrets, type Opening, print, sharedArgs, withChildren } from "./connected.ts";
import type { Lifetime } from "./lifetime.ts";
import { columns } from "./table.ts";

const args = {
  ...sharedArgs,
  connect: { type: "boolean", description: "without a skill: also start the servers of .mcp.json" },
} as const satisfies ArgsDef;

export default defineCommand({
  meta: {
    name: "servers",
    description: "Start a skill's servers and show how each is; without a skill: list .mcp.json",
  },
  args,
  async run({ args: given, rawArgs, data }) {
    const isAlone = given._.length === 0 && !rawArgs.includes("--");
    const target = isAlone ? await inMcpJson(given) : await inSkill(rawArgs, data);
    if (!target) return 0;
    const { servers, secrets } = target;
    const looked = await withChildren(secrets, data, (opening) =>
      Promise.all(servers.map((server) => look(server, opening))),
    );
    const found = hideSecrets(looked, secrets);
    print(given.json ? jsonText(found) : text(found), secrets);
    const isLacking = looked.some(({ status, required }) => required && status !== "ready");
    return isLacking ? exitCodeOf("server-failed") : 0;
  },
});

type Given = { server?: string | undefined; connect?: boolean | undefined; json?: boolean | undefined };
type Startable = Pick<Server, "name" | "required"> & { ready(): Server };

type Target = { servers: readonly Startable[]; secrets: Secrets };

async function inSkill(rawArgs: readonly string[], lifetime: Lifetime): Promise<Target> {
  const { servers, secrets } = await findTarget("servers", rawArgs, args, lifetime);
  return { servers: servers.map((server) => ({ ...server, ready: () => server })), secrets };
}

/** Those to start; none where the list itself was asked for. */
async function inMcpJson(given: Given): Promise<Target | undefined> {
  const { describeMcpServers, findMcpServers } = await import("./mcp-servers.ts");
  const { servers, secrets } = await findMcpServers(given.server);
  if (given.connect && servers.length > 0) {
    return { servers: servers.map((server) => ({ ...server, required: true })), secrets };
  }
  print(describeMcpServers(servers, given.json ?? false), secrets);
  return undefined;
}

type Found = Pick<ServerState, "name" | "status" | "protocol" | "tools" | "readyMs"> & {
  required: boolean;
  session: Pick<Session, "info" | "capabilities" | "instructions"> | null;
  error: string | null;
  hint: string | null;
};

async function look({ name, required, ready }: Startable, opening: Opening): Promise<Found> {
  try {
    await using connection = await connect(ready(), { ...opening, onState: () => undefined });
    const { info, capabilities, instructions } = connection.session;
    const { status, protocol, tools, readyMs } = connection.state();
    const session = { info, capabilities, instructions };
    return { name, required, status, protocol, tools, readyMs, session, error: null, hint: null };
  } catch (error) {
    opening.signal.throwIfAborted();
    const { message, hint = null } = asOmegaError(error);
    const nothing = { protocol: null, tools: 0, readyMs: null, session: null };
    return { name, required, status: "failed", ...nothing, error: message, hint };
  }
}

function text(found: readonly Found[]): string {
  const rows = found.map(({ name, status, protocol, tools, readyMs, session, error }) =>
    error === null
      ? [name, status, `MCP ${protocol}`, `${tools} tools`, `${readyMs} ms`, described(session)]
      : [name, status, oneLine(error)],
  );
  const hints = found.flatMap(({ name, hint }) => (hint === null ? [] : [`${name}: ${plain(hint)}\n`]));
  return columns(rows) + hints.join("");
}

/** `name version`, as the server says it of itself. */
function described(session: Found["session"]): string {
  const { name, version } = session?.info ?? {};
  return oneLine([name, version].filter((word) => typeof word === "string").join(" "), 60);
}
