import { defineCommand } from "citty";
import { textOf } from "../conversation.ts";
import { OmegaError } from "../errors.ts";
import { isObject } from "../mcp/json-rpc.ts";
import { didYouMean } from "../nearest.ts";
import type { Connection } from "../servers/connection.ts";
import type { Prompt } from "../servers/discovery.ts";
import { promptsOf } from "../servers/offers.ts";
import { parseToolResult } from "../servers/tool-result.ts";
import { jsonText, oneLine, plain } from "../terminal.ts";
import {
  findTarget,
  hideSecrets,
  type Opening,
  print,
  refusalsAsErrors,
  sharedArgs,
  withServers,
} from "./connected.ts";
import { columns } from "./table.ts";

const args = {
  ...sharedArgs,
  name: {
    type: "positional",
    required: false,
    description: "a prompt to fill in, with its arguments as name=value; without it they are listed",
  },
} as const;

type Found = { connection: Connection; prompt: Prompt };

export default defineCommand({
  meta: { name: "prompts", description: "List the prompts of a skill's servers, or fill one in" },
  args,
  async run({ args: { json }, rawArgs, data }) {
    const target = await findTarget("prompts", rawArgs, args, data);
    const { words, secrets } = target;
    const [name, ...rest] = words;
    await withServers(target, data, async (connections, opening) => {
      const found = (await Promise.all(connections.map((connection) => promptsFrom(connection, opening)))).flat();
      if (name === undefined) {
        const entries = hideSecrets(found.map(asEntry), secrets);
        return print(json ? jsonText(entries) : list(entries), secrets);
      }
      const { connection, prompt } = choose(name, found);
      const params = { name: prompt.name, arguments: textArguments(rest) };
      const asked = connection.request("prompts/get", params, opening.signal);
      const answer = hideSecrets(await refusalsAsErrors(connection.server.name, asked), secrets);
      print(json ? jsonText(answer) : messages(answer), secrets);
    });
    return 0;
  },
});

async function promptsFrom(connection: Connection, { signal, onWarning }: Opening): Promise<Found[]> {
  const { entries, warnings } = await refusalsAsErrors(connection.server.name, promptsOf(connection, signal));
  warnings.forEach(onWarning);
  return entries.map((prompt) => ({ connection, prompt }));
}

const asEntry = ({ connection, prompt }: Found) => ({ server: connection.server.name, ...prompt });

function list(entries: readonly ReturnType<typeof asEntry>[]): string {
  const rows = entries.map(({ server, name, description, arguments: args }) => [
    server,
    oneLine(name, 64),
    args.map(({ name, required }) => oneLine(required ? `${name}=…` : `[${name}=…]`, 40)).join(" "),
    oneLine(description, 80),
  ]);
  return columns(rows) || "no prompts";
}

function choose(name: string, found: readonly Found[]): Found {
  const matches = found.filter(
    ({ connection, prompt }) => prompt.name === name || `${connection.server.name}/${prompt.name}` === name,
  );
  const [first, another] = matches;
  if (first && !another) return first;
  const names = (first ? matches : found).map(({ connection, prompt }) => `${connection.server.name}/${prompt.name}`);
  const hint = plain(names.slice(0, 30).join(", ")) || "there are none";
  if (first) throw new OmegaError("USAGE", `more than one server has a prompt "${name}"`, { hint });
  const known = found.map(({ prompt }) => prompt.name);
  throw new OmegaError("USAGE", `there is no prompt "${name}"${didYouMean(name, known)}`, { hint });
}

/** A prompt's arguments are text, whatever they look like. */
function textArguments(words: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    words.map((word) => {
      const [key = "", value] = word.split(/=(.*)/s);
      if (value === undefined || key === "") throw new OmegaError("USAGE", `expected name=value, got "${word}"`);
      return [key, value];
    }),
  );
}

function messages(answer: unknown): string {
  const list = isObject(answer) && Array.isArray(answer["messages"]) ? answer["messages"].filter(isObject) : [];
  const texts = list.map(({ role, content }) => {
    const { content: parts } = parseToolResult({ content: [content].flat() });
    const others = parts.flatMap((part) => (part.type === "image" ? [`[image ${part.mimeType}]`] : []));
    return `${String(role)}: ${[textOf(parts), ...others].filter(Boolean).join("\n")}`;
  });
  return plain(texts.join("\n"));
}
