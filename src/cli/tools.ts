import { defineCommand } from "citty";
import type { Connection } from "../servers/connection.ts";
import { jsonText, oneLine, plain } from "../terminal.ts";
import { isAllowed } from "../tools/glob.ts";
import { nameForModels } from "../tools/names.ts";
import { tokensOf } from "../tools/weight.ts";
import { findTarget, hideSecrets, print, sharedArgs, usage, withServers } from "./connected.ts";
import { columns } from "./table.ts";

export default defineCommand({
  meta: { name: "tools", description: "List the tools of a skill's servers, and about how many tokens each one costs" },
  args: sharedArgs,
  async run({ args, rawArgs, data }) {
    const target = await findTarget("tools", rawArgs, sharedArgs, data);
    const { words, secrets } = target;
    if (words.length > 0) throw usage("tools", `too many words: ${words.join(" ")}`);
    const described = await withServers(target, data, async (connections) => connections.map(describe));
    const found = hideSecrets(described, secrets);
    print(args.json ? jsonText(found.flatMap(({ tools }) => tools)) : found.map(text).join("\n"), secrets);
    return 0;
  },
});

type Found = ReturnType<typeof describe>;

function describe({ server, tools, state, session }: Connection) {
  const taken = new Map<string, true>();
  return {
    server: server.name,
    protocol: state().protocol,
    instructions: session.instructions,
    tools: tools.map(({ name, description, inputSchema, outputSchema, annotations }) => {
      const nameForModel = nameForModels(server.name, name, taken);
      taken.set(nameForModel, true);
      return {
        server: server.name,
        name,
        nameForModel,
        isAllowed: isAllowed(server.tools, name),
        estimatedTokens: tokensOf(nameForModel, description, inputSchema),
        description,
        annotations,
        inputSchema,
        outputSchema: outputSchema ?? null,
      };
    }),
  };
}

function text({ server, protocol, instructions, tools }: Found): string {
  const total = tools.reduce((sum, { estimatedTokens }) => sum + estimatedTokens, 0);
  const head = `${server}: MCP ${protocol}, ${tools.length} tools, about ${total} tokens (estimate: characters / 4)\n`;
  const rows = tools.map(({ name, estimatedTokens, isAllowed, annotations, description }) => {
    const marks = [isAllowed ? "" : "not in tools:", annotations["readOnlyHint"] === true ? "read-only" : ""];
    return [oneLine(name, 64), `~${estimatedTokens}`, marks.filter(Boolean).join(", "), oneLine(description, 100)];
  });
  const advice = instructions === undefined ? "" : `  instructions: ${oneLine(plain(instructions), 300)}\n`;
  return head + advice + columns(rows, "  ");
}
