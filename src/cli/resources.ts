import { defineCommand } from "citty";
import { OmegaError } from "../errors.ts";
import { isObject, RpcError } from "../mcp/json-rpc.ts";
import type { Connection } from "../servers/connection.ts";
import type { Resource, Template } from "../servers/discovery.ts";
import { hasResources, resourcesOf } from "../servers/offers.ts";
import { jsonText, oneLine, plain } from "../terminal.ts";
import {
  findTarget,
  hideSecrets,
  type Opening,
  print,
  refusalsAsErrors,
  sharedArgs,
  usage,
  withServers,
} from "./connected.ts";
import { columns } from "./table.ts";

const args = {
  ...sharedArgs,
  uri: { type: "positional", required: false, description: "a resource to read; without it they are listed" },
} as const;

export default defineCommand({
  meta: { name: "resources", description: "List the resources of a skill's servers, or read one" },
  args,
  async run({ args: { json }, rawArgs, data }) {
    const target = await findTarget("resources", rawArgs, args, data);
    const { words, secrets } = target;
    const [uri, ...rest] = words;
    if (rest.length > 0) throw usage("resources", `too many words: ${rest.join(" ")}`);
    await withServers(target, data, async (connections, opening) => {
      if (uri === undefined) {
        const entries = hideSecrets(await list(connections, opening), secrets);
        return print(json ? jsonText(entries) : table(entries), secrets);
      }
      const answer = hideSecrets(await read(uri, connections, opening), secrets);
      print(json ? jsonText(answer) : contents(answer), secrets);
    });
    return 0;
  },
});

type Found = (Resource | Template) & { server: string };

async function list(connections: readonly Connection[], { signal, onWarning }: Opening): Promise<Found[]> {
  const found = await Promise.all(
    connections.map(async (connection) => {
      const server = connection.server.name;
      const { entries, warnings } = await refusalsAsErrors(server, resourcesOf(connection, signal));
      warnings.forEach(onWarning);
      return entries.map((entry) => ({ server, ...entry }));
    }),
  );
  return found.flat();
}

function table(found: readonly Found[]): string {
  const rows = found.map((entry) => [
    entry.server,
    oneLine("uri" in entry ? entry.uri : entry.uriTemplate, 100),
    entry.mimeType ?? "",
    oneLine(entry.name, 40),
    oneLine(entry.description, 80),
  ]);
  return columns(rows) || "no resources";
}

/** The first server that knows it; if none does, the last refusal is told. */
async function read(uri: string, connections: readonly Connection[], { signal }: Opening): Promise<unknown> {
  let refusal = new OmegaError("SERVER_REFUSED", "no server offers resources");
  for (const connection of connections.filter(hasResources)) {
    try {
      return await connection.request("resources/read", { uri }, signal);
    } catch (error) {
      if (!(error instanceof RpcError)) throw error;
      refusal = new OmegaError("SERVER_REFUSED", plain(`${connection.server.name}: ${error.message}`), {
        cause: error,
      });
    }
  }
  throw refusal;
}

function contents(answer: unknown): string {
  const parts = isObject(answer) && Array.isArray(answer["contents"]) ? answer["contents"].filter(isObject) : [];
  const texts = parts.map(({ text, blob, mimeType, uri }) => {
    if (typeof text === "string") return text;
    const size = typeof blob === "string" ? blob.length : 0;
    return `[${String(uri)} ${String(mimeType ?? "")}, ${size} characters of base64; --json shows them]`;
  });
  return plain(texts.join("\n"));
}
