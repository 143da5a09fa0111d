// The only file that decides the fate of our own process: words of the command line, signals, exit code.

import type { CommandDef } from "citty";
import type { Lifetime } from "./cli/lifetime.ts";
import { asOmegaError, OmegaError } from "./errors.ts";
import { exitCodeOf, type Signal } from "./outcome.ts";
import { versionDetails } from "./version.ts";

// biome-ignore lint/suspicious/noExplicitAny: citty's command type is invariant in its arguments
type Commands = Record<string, () => Promise<CommandDef<any>>>;

const commands: Commands = {
  run: async () => (await import("./cli/run.ts")).default,
  plan: async () => (await import("./cli/plan.ts")).default,
  validate: async () => (await import("./cli/validate.ts")).default,
  schema: async () => (await import("./cli/schema.ts")).default,
  init: async () => (await import("./cli/init.ts")).default,
  completions: async () => (await import("./cli/completions.ts")).default,
};

export async function main(words: readonly string[], table: Commands): Promise<void> {
  const verbose = words.includes("-v") || words.includes("--verbose");
  const lifetime = watchSignals(verbose);
  // A reader that has seen enough closes its end of our stdout; the run goes on and its exit code stands.
  for (const stream of [process.stdout, process.stderr]) {
    stream.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code !== "EPIPE") throw error;
    });
  }
  try {
    process.exitCode = await dispatch(words, table, lifetime);
  } catch (error) {
    await tellError(error, verbose);
  } finally {
    lifetime[Symbol.dispose]();
  }
}

async function dispatch(words: readonly string[], table: Commands, lifetime: Lifetime): Promise<number> {
  const [name, ...rest] = words;
  if (name === "--version" || name === "-V") return printVersion(rest);
  const asksHelp = rest
    .slice(0, rest.includes("--") ? rest.indexOf("--") : undefined)
    .some((word) => word === "--help" || word === "-h");
  if (name === undefined || name === "--help" || name === "-h" || name === "help")
    return printHelp(table, rest[0], name === undefined);
  const load = Object.hasOwn(table, name) ? table[name] : undefined;
  if (!load) throw await unknownCommand(name, Object.keys(table));
  if (asksHelp) return printHelp(table, name, false);

  const [{ runCommand }, { checkFlags }, command] = await Promise.all([
    import("citty"),
    import("./cli/flags.ts"),
    load(),
  ]);
  checkFlags(name, rest, await resolved(command.args));
  try {
    const { result } = await runCommand(command, { rawArgs: rest, data: { ...lifetime, commands: table } });
    return typeof result === "number" ? result : 0;
  } catch (error) {
    if (error instanceof Error && error.name === "CLIError") {
      throw new OmegaError("USAGE", error.message, { hint: `omega ${name} --help`, cause: error });
    }
    throw error;
  }
}

/** The first signal asks the run to end; the second skips the grace times. */
function watchSignals(verbose: boolean): Lifetime & Disposable {
  const controller = new AbortController();
  const hurry = new AbortController();
  const onSignal = (signal: Signal) => {
    if (controller.signal.aborted) hurry.abort();
    controller.abort(new OmegaError("INTERRUPTED", `interrupted by ${signal}`, { signal }));
  };
  const onUncaught = (error: unknown) => {
    controller.abort(asOmegaError(error));
    void tellError(error, verbose);
  };
  const signals: Signal[] = ["SIGHUP", "SIGINT", "SIGTERM"];
  for (const signal of signals) process.on(signal, onSignal);
  process.on("uncaughtException", onUncaught);
  process.on("unhandledRejection", onUncaught);
  return {
    signal: controller.signal,
    hurry: hurry.signal,
    verbose,
    [Symbol.dispose]() {
      for (const signal of signals) process.off(signal, onSignal);
    },
  };
}

async function tellError(error: unknown, verbose: boolean): Promise<void> {
  const { createLog } = await import("./cli/log.ts");
  const known = asOmegaError(error);
  const stack = verbose && error instanceof Error ? `\n${error.stack}` : "";
  createLog("normal").error(`${known.outcome}: ${known.message}${known.hint ? `\n  ${known.hint}` : ""}${stack}`);
  process.exitCode = exitCodeOf(known.outcome, known.signal);
}

function printVersion(words: readonly string[]): number {
  const details = versionDetails();
  process.stdout.write(`${words.includes("--json") ? JSON.stringify(details) : `omega ${details.version}`}\n`);
  return 0;
}

async function printHelp(table: Commands, name: string | undefined, isMistake: boolean): Promise<number> {
  const { helpText } = await import("./cli/help.ts");
  if (name !== undefined && !Object.hasOwn(table, name)) throw await unknownCommand(name, Object.keys(table));
  const text = await helpText(table, name);
  (isMistake ? process.stderr : process.stdout).write(text);
  return isMistake ? exitCodeOf("invalid") : 0;
}

async function unknownCommand(name: string, known: string[]): Promise<OmegaError> {
  const { didYouMean } = await import("./nearest.ts");
  const what = name.startsWith("-") ? "flag" : "command";
  return new OmegaError("USAGE", `no ${what} ${name}${didYouMean(name, known)}`, { hint: "omega --help" });
}

async function resolved<T>(
  value: T | Promise<T> | (() => T | Promise<T>) | undefined,
): Promise<T | Record<string, never>> {
  return (typeof value === "function" ? await (value as () => T | Promise<T>)() : await value) ?? {};
}

if (import.meta.main) await main(process.argv.slice(2), commands);
