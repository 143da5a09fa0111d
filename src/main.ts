// The only file that decides the fate of our own process: words of the command line, signals, exit code.

import type { CommandDef } from "citty";
import type { Lifetime } from "./cli/lifetime.ts";
import { asOmegaError, OmegaError, systemCode } from "./errors.ts";
import { exitCodeOf, type Signal } from "./outcome.ts";
import { versionDetails } from "./version.ts";

// biome-ignore lint/suspicious/noExplicitAny: citty's command type is invariant in its arguments
type Commands = Record<string, () => Promise<CommandDef<any>>>;

/** How long a process takes at most to leave once its work is done, if its output is taken. */
const LEAVING_MS = 250;

const commands: Commands = {
  run: async () => (await import("./cli/run.ts")).default,
  plan: async () => (await import("./cli/plan.ts")).default,
  validate: async () => (await import("./cli/validate.ts")).default,
  schema: async () => (await import("./cli/schema.ts")).default,
  init: async () => (await import("./cli/init.ts")).default,
  completions: async () => (await import("./cli/completions.ts")).default,
  servers: async () => (await import("./cli/servers.ts")).default,
  tools: async () => (await import("./cli/tools.ts")).default,
  call: async () => (await import("./cli/call.ts")).default,
  resources: async () => (await import("./cli/resources.ts")).default,
  prompts: async () => (await import("./cli/prompts.ts")).default,
  test: async () => (await import("./cli/test.ts")).default,
  sweep: async () => (await import("./cli/sweep.ts")).default,
  doctor: async () => (await import("./cli/doctor.ts")).default,
  models: async () => (await import("./cli/models.ts")).default,
};

export async function main(words: readonly string[], table: Commands): Promise<void> {
  if (asksVersion(words)) return printVersion(words.includes("--json"));
  // What follows -- is a server's command line, not ours.
  const ours = words.slice(0, words.includes("--") ? words.indexOf("--") : undefined);
  const verbose = ours.includes("-v") || ours.includes("--verbose");
  const { ignoresHangup } = await import("./processes/proc.ts");
  const lifetime = watchSignals(verbose, ignoresHangup());
  watchOutput();
  try {
    const code = await dispatch(words, table, lifetime);
    // What broke after the command had come to its end.
    const trouble = lifetime.signal.aborted ? asOmegaError(lifetime.signal.reason) : undefined;
    if (trouble && trouble.outcome !== "interrupted" && code !== exitCodeOf(trouble.outcome)) throw trouble;
    process.exitCode = code;
  } catch (error) {
    await tellError(error, verbose);
    const { refusedEnvelope } = await import("./cli/refused-run.ts");
    const due = refusedEnvelope(ours, error);
    if (due !== undefined) process.stdout.write(`${due}\n`);
  } finally {
    lifetime[Symbol.dispose]();
  }
}

/** A reader that has seen enough closes its end of our stdout: the run goes on and its exit code stands. */
function watchOutput(): void {
  let isLost = false;
  process.stdout.on("error", (error) => {
    const code = systemCode(error) ?? String(error);
    if (isLost || code === "EPIPE") return;
    isLost = true;
    throw new OmegaError("OUTPUT_FILE", `stdout cannot be written (${code}): what was to stand there is lost`, {
      hint: "free space where it leads; the answer of a run is in its record too",
      cause: error,
    });
  });
  // Nobody is left to be told: to tell that would fail again, and again.
  process.stderr.on("error", () => undefined);
}

async function dispatch(words: readonly string[], table: Commands, lifetime: Lifetime): Promise<number> {
  const [name, ...rest] = words;
  const asksHelp = rest
    .slice(0, rest.includes("--") ? rest.indexOf("--") : undefined)
    .some((word) => word === "--help" || word === "-h");
  if (name === undefined || name === "--help" || name === "-h" || name === "help")
    return printHelp(table, rest[0], name === undefined);
  if (name === "--version" || name === "-V") {
    throw new OmegaError("USAGE", `${name} takes --json and nothing else`, { hint: "omega --help" });
  }
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
function watchSignals(verbose: boolean, ignoresHangup: boolean): Lifetime & Disposable {
  const controller = new AbortController();
  const hurry = new AbortController();
  const onSignal = (signal: Signal) => {
    if (controller.signal.aborted) hurry.abort();
    controller.abort(new OmegaError("INTERRUPTED", `interrupted by ${signal}`, { signal }));
  };
  let isOver = false;
  // A command that still goes on ends itself by the signal, and tells why; after its end nobody else would.
  const onUncaught = (error: unknown) => {
    if (isOver || controller.signal.aborted) void tellError(error, verbose);
    else controller.abort(asOmegaError(error));
  };
  const signals: Signal[] = ignoresHangup ? ["SIGINT", "SIGTERM"] : ["SIGHUP", "SIGINT", "SIGTERM"];
  for (const signal of signals) process.on(signal, onSignal);
  process.on("uncaughtException", onUncaught);
  process.on("unhandledRejection", onUncaught);
  return {
    signal: controller.signal,
    hurry: hurry.signal,
    verbose,
    // After its end a run keeps its own exit code; but if nobody takes its output, a signal must be able to end us.
    [Symbol.dispose]() {
      isOver = true;
      setTimeout(() => {
        for (const signal of signals) process.off(signal, onSignal);
      }, LEAVING_MS).unref();
    },
  };
}

async function tellError(error: unknown, verbose: boolean): Promise<void> {
  const [{ createLog }, { plain }] = await Promise.all([import("./cli/log.ts"), import("./terminal.ts")]);
  const known = asOmegaError(error);
  const stack = verbose && error instanceof Error ? `\n${error.stack}` : "";
  const text = `${known.outcome}: ${known.message}${known.hint ? `\n${known.hint.replace(/^/gm, "  ")}` : ""}${stack}`;
  createLog("normal").error(plain(text));
  process.exitCode = exitCodeOf(known.outcome, known.signal);
}

function asksVersion([first, ...rest]: readonly string[]): boolean {
  return (first === "--version" || first === "-V") && rest.every((word) => word === "--json");
}

/** Before anything else and by console.log: to touch process.stdout would more than double the start. */
function printVersion(asJson: boolean): void {
  const details = versionDetails();
  console.log(asJson ? JSON.stringify(details) : `omega ${details.version}`);
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
