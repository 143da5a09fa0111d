import { defineCommand } from "citty";
import { textOf } from "../conversation.ts";
import { OmegaError } from "../errors.ts";
import type { Server, Skill } from "../manifest/skill.ts";
import type { Params } from "../mcp/json-rpc.ts";
import { didYouMean } from "../nearest.ts";
import { exitCodeOf } from "../outcome.ts";
import { originOf } from "../permissions/permits.ts";
import { decide, type ToolName } from "../permissions/rules.ts";
import { explicitRules } from "../run/rules.ts";
import { readStdin } from "../run/stdin.ts";
import type { CallResult, Connection } from "../servers/connection.ts";
import type { ServerTool } from "../servers/discovery.ts";
import { jsonText, plain } from "../terminal.ts";
import { callable, callChecked } from "../tools/callable.ts";
import { nameForModels } from "../tools/names.ts";
import { argumentsFromWords } from "../tools/words.ts";
import { findTarget, hideSecrets, print, sharedArgs, usage, withServers } from "./connected.ts";

const MAX_ERROR = 2_000;

const args = {
  ...sharedArgs,
  tool: {
    type: "positional",
    required: false,
    description: "tool, or server/tool; after it its arguments: name=value, a JSON object, or - for JSON on stdin",
  },
} as const;

export default defineCommand({
  meta: { name: "call", description: "Call one tool and print its result; exit 1 if the tool says it failed" },
  args,
  async run({ args: { json }, rawArgs, data }) {
    const { skill, servers, words, secrets } = await findTarget("call", rawArgs, args, data);
    const [name, ...rest] = words;
    if (name === undefined) throw usage("call", "give the tool to call");
    const given: string[] = [];
    for (const word of rest) given.push(word === "-" ? (await readStdin(data.signal)).toString("utf8") : word);
    const target = { servers: serversFor(name, servers), secrets };
    return await withServers(target, data, async (connections, { signal, onWarning }) => {
      const { connection, tool } = findTool(name, connections);
      const asked = argumentsFromWords(given, tool.inputSchema);
      if (skill) obeyRules(skill, { server: connection.server.name, tool: tool.name }, asked);
      const answered = await callChecked(callable(connection, tool, onWarning), asked, signal);
      signal.throwIfAborted();
      const loss = connection.loss();
      if (loss) throw loss;
      const result = hideSecrets(answered, secrets);
      if (result.answer === undefined && !json) {
        throw new OmegaError("SERVER_REFUSED", describe(result).slice(0, MAX_ERROR));
      }
      print(json ? jsonText(result.answer ?? { content: result.content, isError: true }) : describe(result), secrets);
      return result.isError ? exitCodeOf("failed") : 0;
    });
  },
});

/** What would be asked for is allowed: it is a person who calls. */
function obeyRules(skill: Skill, name: ToolName, given: Params): void {
  const { action, by } = decide(explicitRules(skill, { allow: [], deny: [], yes: false }), name, given);
  if (action !== "deny") return;
  throw new OmegaError("CALL_DENIED", `${by} denies this call of ${plain(originOf(name))}`, {
    hint: `the rule stands in ${skill.file}`,
  });
}

/** `server/tool` needs only that server. */
function serversFor(name: string, servers: readonly Server[]): readonly Server[] {
  const named = servers.filter((server) => name.startsWith(`${server.name}/`));
  return named.length > 0 ? named : servers;
}

function findTool(name: string, connections: readonly Connection[]): { connection: Connection; tool: ServerTool } {
  const all = connections.flatMap((connection) => connection.tools.map((tool) => ({ connection, tool })));
  const found = all.filter(({ connection: { server }, tool }) =>
    [tool.name, `${server.name}/${tool.name}`, nameForModels(server.name, tool.name, new Map())].includes(name),
  );
  const [only, another] = found;
  if (only && !another) return only;
  const origins = (only ? found : all).map(({ connection, tool }) => `${connection.server.name}/${tool.name}`);
  if (only) throw new OmegaError("USAGE", `more than one server has a tool "${name}"`, { hint: origins.join(", ") });
  const names = all.flatMap(({ tool }, index) => [tool.name, origins[index] ?? ""]);
  throw new OmegaError("USAGE", `there is no tool "${name}"${didYouMean(name, names)}`, {
    hint: `there are: ${plain(origins.slice(0, 30).join(", ")) || "none"}`,
  });
}

function describe({ content }: CallResult): string {
  const images = content.flatMap((part) =>
    part.type === "image"
      ? [`[image ${part.mimeType}, ${part.data.length} characters of base64; --json shows it]`]
      : [],
  );
  return plain([textOf(content), ...images].filter((part) => part !== "").join("\n"));
}
