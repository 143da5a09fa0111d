import { type ArgsDef, defineCommand } from "citty";
import { asOmegaError } from "../errors.ts";
import type { Server } from "../manifest/skill.ts";
import { exitCodeOf } from "../outcome.ts";
import { connect, type ServerState } from "../servers/connection.ts";
import type { Session } from "../servers/session.ts";
import { jsonText, oneLine, plain } from "../terminal.ts";
import { findTarget, type Opening, print, sharedArgs, withChildren } from "./connected.ts";
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
    if (given._.length === 0 && !rawArgs.includes("--")) {
      const { showMcpServers } = await import("./mcp-servers.ts");
      return await showMcpServers(given, (server) => withChildren(data, (opening) => look(server, opening)));
    }
    const { servers } = await findTarget("servers", rawArgs, args);
    const found = await withChildren(data, (opening) => Promise.all(servers.map((server) => look(server, opening))));
    print(given.json ? jsonText(found) : text(found));
    const isLacking = found.some(({ status, required }) => required && status !== "ready");
    return isLacking ? exitCodeOf("server-failed") : 0;
  },
});

type Found = Pick<ServerState, "name" | "status" | "protocol" | "tools" | "readyMs"> & {
  required: boolean;
  session: Pick<Session, "info" | "capabilities" | "instructions"> | null;
  error: string | null;
  hint: string | null;
};

async function look(server: Server, opening: Opening): Promise<Found> {
  const { name, required } = server;
  try {
    await using connection = await connect(server, { ...opening, onState: () => undefined });
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
