// What the commands without a model share: which servers are meant (a skill's, or the one after `--`), a life in which they
// are connected and after which nothing of them is left, and that nothing they say shows a secret.

import { type ArgsDef, parseArgs } from "citty";
import * as v from "valibot";
import { asOmegaError, OmegaError } from "../errors.ts";
import { StdioServer } from "../manifest/server-schema.ts";
import type { Server, Skill } from "../manifest/skill.ts";
import { isObject, RpcError } from "../mcp/json-rpc.ts";
import { didYouMean } from "../nearest.ts";
import { openAudit } from "../records/audit.ts";
import { openStore } from "../records/store.ts";
import { createSecrets, mapStrings, type Secrets } from "../redact.ts";
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
  /** Absent: the server's command line was given. */
  skill: Skill | undefined;
  servers: readonly Server[];
  /** The words that are neither flags, nor the skill, nor the server's command line. */
  words: string[];
  /** What these servers were given and nobody is to be shown. */
  secrets: Secrets;
};

/** `omega tools SKILL …` or `omega tools … -- command args`. */
export async function findTarget(
  command: string,
  rawArgs: readonly string[],
  args: ArgsDef,
  { signal }: Lifetime,
): Promise<Target> {
  const end = rawArgs.indexOf("--");
  const parsed = parseArgs(rawArgs.slice(0, end === -1 ? undefined : end), args);
  const commandLine = end === -1 ? [] : rawArgs.slice(end + 1);
  if (end !== -1 && commandLine.length === 0) throw usage(command, "no command line of a server after --");
  if (commandLine.length > 0) {
    return { skill: undefined, servers: adHoc(commandLine), words: parsed._, secrets: createSecrets() };
  }
  const [path, ...words] = parsed._;
  if (path === undefined) throw usage(command, "give a skill, or a server's command line after --");
  const given = readGiven({ ...parsed, skill: path, _: [] }, rawArgs.slice(0, end === -1 ? undefined : end));
  const skill = await prepare(given, { run: newRunId(new Date().toISOString()), now: new Date() }, signal);
  return { skill, servers: chosen(skill.servers, parsed["server"]), words, secrets: skill.secrets };
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
export async function withChildren<T>(
  secrets: Secrets,
  lifetime: Lifetime,
  work: (opening: Opening) => Promise<T>,
): Promise<T> {
  const log = createLog(lifetime.verbose ? "verbose" : "normal");
  const { signal, hurry } = lifetime;
  const onWarning = (message: string) => log.warn(visible(message, secrets));
  try {
    const run = newRunId(new Date().toISOString());
    const store = openStore(onWarning);
    const children = await openChildren(run, onWarning, { store });
    const audit = openAudit(run, { clean: (text) => visible(text, secrets), store, required: false, skill: null });
    try {
      await using over = new AsyncDisposableStack();
      over.defer(audit.close);
      over.use(children);
      const result = await work({ children, audit, cwd: process.cwd(), signal, hurry, onWarning });
      signal.throwIfAborted();
      return result;
    } finally {
      for (const pid of children.summary().survivors) log.warn(`process ${pid} could not be ended`);
    }
  } catch (error) {
    throw errorWithout(secrets, error);
  }
}

export async function withServers<T>(
  { servers, secrets }: Pick<Target, "servers" | "secrets">,
  lifetime: Lifetime,
  work: (connections: readonly Connection[], opening: Opening) => Promise<T>,
): Promise<T> {
  return await withChildren(secrets, lifetime, async (opening) => {
    await using connected = await connectAll(servers, { ...opening, onState: () => undefined });
    return await work(connected.connections, opening);
  });
}

/** A server's "no" to what a person asked is an error for that person. */
export async function refusalsAsErrors<T>(label: string, answer: Promise<T>): Promise<T> {
  return await answer.catch((error: unknown) => {
    if (!(error instanceof RpcError)) throw error;
    const about = isObject(error.data) ? ` (${JSON.stringify(mapStrings(error.data, plain))})` : "";
    throw new OmegaError("SERVER_REFUSED", plain(`${label}: ${error.message}${about}`), { cause: error });
  });
}

/** What servers have said, fit to be shown. Before a text is cut, for of a cut secret the beginning would be left. */
export function hideSecrets<T>(value: T, { redact }: Secrets): T {
  return mapStrings(value, redact);
}

/** Lines that have become one, or words that have lost what was between them, may be a secret only now. */
export function print(text: string, { redact }: Secrets): void {
  const told = redact(text);
  process.stdout.write(told.endsWith("\n") ? told : `${told}\n`);
}

/** The same error as a person may read it: a server that does not start is told with its arguments and its last words. */
function errorWithout(secrets: Secrets, error: unknown): OmegaError {
  const known = asOmegaError(error);
  const { code, hint, cause, signal, retryAfterMs } = known;
  const told = new OmegaError(code, visible(known.message, secrets), {
    cause,
    ...(hint !== undefined && { hint: visible(hint, secrets) }),
    ...(signal !== undefined && { signal }),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  });
  const { stack } = error instanceof Error ? error : known;
  if (stack !== undefined) told.stack = visible(stack, secrets);
  return told;
}

function visible(text: string, secrets: Secrets): string {
  return plain(hideSecrets(text, secrets));
}
