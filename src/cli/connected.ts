// What the commands without a model share: which servers are meant (a skill's, or the one after `--`), and a life in which
// they are connected and after which nothing of them is left.

import { type ArgsDef, parseArgs } from "citty";
import * as v from "valibot";
import { OmegaError } from "../errors.ts";
import { StdioServer } from "../manifest/server-schema.ts";
import type { Server } from "../manifest/skill.ts";
import { isObject, RpcError } from "../mcp/json-rpc.ts";
import { didYouMean } from "../nearest.ts";
import { openChildren } from "../run/children.ts";
import { newRunId } from "../run/envelope.ts";
import { prepare } from "../run/prepare.ts";
import { connectAll } from "../run/ready.ts";
import type { Connection, ConnectOptions } from "../servers/connection.ts";
import { plain } from "../terminal.ts";
import { givenArgs, readGiven } from "./given.ts";
import type { Lifetime } from "./lifetime.ts";
import { createLog } from "./log.ts";

export const sharedArgs = {
  skill: {
    type: "positional",
    required: false,
    description: "the manifest, or its folder; instead of a skill, a server's command line may follow --",
  },
  input: givenArgs.input,
  "input-file": givenArgs["input-file"],
  "env-file": givenArgs["env-file"],
  workdir: givenArgs.workdir,
  server: { type: "string", valueHint: "name", description: "only this server of the skill" },
  json: { type: "boolean", description: "print JSON" },
  verbose: { type: "boolean", alias: "v", description: "more on stderr" },
} as const satisfies ArgsDef;

export type Target = {
  servers: readonly Server[];
  /** The words that are neither flags, nor the skill, nor the server's command line. */
  words: string[];
  isAdHoc: boolean;
};

/** `omega tools SKILL …` or `omega tools … -- command args`. */
export async function findTarget(command: string, rawArgs: readonly string[], args: ArgsDef): Promise<Target> {
  const end = rawArgs.indexOf("--");
  const parsed = parseArgs(rawArgs.slice(0, end === -1 ? undefined : end), args);
  const commandLine = end === -1 ? [] : rawArgs.slice(end + 1);
  if (end !== -1 && commandLine.length === 0) throw usage(command, "no command line of a server after --");
  if (commandLine.length > 0) return { servers: adHoc(commandLine), words: parsed._, isAdHoc: true };
  const [skill, ...words] = parsed._;
  if (skill === undefined) throw usage(command, "give a skill, or a server's command line after --");
  const given = readGiven({ ...parsed, skill, _: [] }, rawArgs.slice(0, end === -1 ? undefined : end));
  const { servers } = await prepare(given, { run: newRunId(new Date().toISOString()), now: new Date() });
  return { servers: chosen(servers, parsed["server"]), words, isAdHoc: false };
}

function adHoc([command, ...args]: readonly string[]): Server[] {
  const server = v.parse(StdioServer, { command, args, tools: ["*"] });
  return [{ ...server, name: "server", cwd: process.cwd() }];
}

function chosen(servers: readonly Server[], name: unknown): readonly Server[] {
  if (typeof name !== "string") return servers;
  const found = servers.filter((server) => server.name === name);
  if (found.length > 0) return found;
  const names = servers.map((server) => server.name);
  throw new OmegaError("USAGE", `the skill has no server "${name}"${didYouMean(name, names)}`, {
    hint: `it has: ${names.join(", ") || "none"}`,
  });
}

export function usage(command: string, message: string): OmegaError {
  return new OmegaError("USAGE", message, { hint: `omega ${command} --help` });
}

export type Opening = Omit<ConnectOptions, "onState">;

/** Opens what `work` needs and ends it again; says what could not be ended. */
export async function withChildren<T>(lifetime: Lifetime, work: (opening: Opening) => Promise<T>): Promise<T> {
  const log = createLog(lifetime.verbose ? "verbose" : "normal");
  const { signal, hurry } = lifetime;
  const onWarning = (message: string) => log.warn(plain(message));
  const children = await openChildren(newRunId(new Date().toISOString()), onWarning);
  try {
    await using _ = children;
    const result = await work({ children, cwd: process.cwd(), signal, hurry, onWarning });
    signal.throwIfAborted();
    return result;
  } finally {
    for (const pid of children.summary().survivors) log.warn(`process ${pid} could not be ended`);
  }
}

export async function withServers<T>(
  servers: readonly Server[],
  lifetime: Lifetime,
  work: (connections: readonly Connection[], opening: Opening) => Promise<T>,
): Promise<T> {
  return await withChildren(lifetime, async (opening) => {
    await using connected = await connectAll(servers, { ...opening, onState: () => undefined });
    return await work(connected.connections, opening);
  });
}

/** A server's "no" to what a person asked is an error for that person. */
export async function refusalsAsErrors<T>(label: string, answer: Promise<T>): Promise<T> {
  return await answer.catch((error: unknown) => {
    if (!(error instanceof RpcError)) throw error;
    const about = isObject(error.data) ? ` (${JSON.stringify(error.data)})` : "";
    throw new OmegaError("SERVER_REFUSED", plain(`${label}: ${error.message}${about}`), { cause: error });
  });
}

export function print(text: string): void {
  process.stdout.write(text.endsWith("\n") ? text : `${text}\n`);
}
