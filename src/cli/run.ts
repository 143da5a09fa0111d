import { defineCommand } from "citty";
import { OmegaError } from "../errors.ts";
import { parseLimits } from "../manifest/limit-flags.ts";
import { plainScreen } from "../report/plain.ts";
import { createReporter, type Format, formats } from "../report/report.ts";
import { readTape } from "../run/deck.ts";
import { run } from "../run/run.ts";
import { personAtTerminal } from "./ask-person.ts";
import { openCassette, refuseSameFile } from "./cassette-file.ts";
import { valuesOf } from "./flags.ts";
import { givenArgs, readGiven } from "./given.ts";
import type { Lifetime } from "./lifetime.ts";
import { createLog, isAnimated } from "./log.ts";
import { permissionArgs, readPermissions } from "./permission-flags.ts";

export default defineCommand({
  meta: {
    name: "run",
    description: "Run a skill: start its servers, let the model work, end everything, say how it went",
  },
  args: {
    skill: {
      type: "positional",
      required: true,
      description: "the manifest, or its folder; words after it are added to the prompt",
    },
    ...givenArgs,
    model: { type: "string", valueHint: "provider/name", description: "the model to ask, instead of the manifest's" },
    format: { type: "enum", options: [...formats], default: "text", description: "what stdout gets" },
    json: { type: "boolean", description: "the same as --format json" },
    ...permissionArgs,
    unattended: { type: "boolean", description: "ask nobody, even at a terminal" },
    limit: {
      type: "string",
      valueHint: "name=value",
      description: "a limit instead of the manifest's; may be repeated",
    },
    cassette: { type: "string", valueHint: "file", description: "record the model's and the servers' traffic" },
    replay: { type: "string", valueHint: "file", description: "play a cassette: no server, no key, no network" },
    output: { type: "string", valueHint: "file", description: "where the answer is written, instead of output.file" },
    quiet: { type: "boolean", description: "no progress, only warnings and errors" },
    verbose: { type: "boolean", alias: "v", description: "more on stderr" },
  },
  async run({ args, rawArgs, data }) {
    const { signal, hurry }: Lifetime = data;
    const log = createLog(args.quiet ? "quiet" : args.verbose ? "verbose" : "normal");
    const format: Format = args.json ? "json" : args.format;
    const given = readGiven(args, rawArgs);
    const readsStdin = given.words.includes("-") || given.inputFile === "-";
    const isLive = isAnimated() && !args.quiet && format !== "stream-json";
    using screen = isLive
      ? (await import("../report/live.ts")).liveScreen({
          terminal: process.stderr,
          isShared: process.stdout.isTTY,
          verbose: args.verbose ?? false,
          signal,
        })
      : plainScreen({ progress: log.info, warn: log.warn, error: log.error });
    const reporter = createReporter(format, screen, (text) => process.stdout.write(text));
    const ask = personAtTerminal(readsStdin || (args.unattended ?? false), screen);
    refuseTwoModels(args);
    // Where a line cannot be written the run ends too, and all that it has started.
    await using events = run({
      ...given,
      ...readPermissions(args.yes, rawArgs),
      model: args.model,
      limits: parseLimits(valuesOf("--limit", rawArgs)),
      played:
        args.replay === undefined ? undefined : readTape(args.replay, args.workdir ? { workdir: args.workdir } : {}),
      onTape: args.cassette === undefined ? undefined : openCassette(args.cassette, (line) => log.warn(line)),
      output: args.output,
      ask,
      signal,
      hurry,
    });
    while (true) {
      const { done, value } = await events.next();
      if (done) {
        reporter.end(value);
        return value.exitCode;
      }
      if (value.type !== "debug" || args.verbose) reporter.event(value);
    }
  },
});

type Sides = Partial<Record<"model" | "replay" | "cassette", string | undefined>>;

function refuseTwoModels({ model, replay, cassette }: Sides): void {
  if (model !== undefined && replay !== undefined) {
    throw new OmegaError("USAGE", "--replay plays the model too, and --model names another one", {
      hint: "for the model's side alone, with real servers: --model replay/FILE.jsonl",
    });
  }
  const script = /^replay\/(.*)$/s.exec(model ?? "")?.[1];
  refuseSameFile(cassette, { "--replay": replay, "--model": script });
}
