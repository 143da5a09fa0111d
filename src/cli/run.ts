import { defineCommand } from "citty";
import { parseLimits } from "../manifest/limit-flags.ts";
import { createReporter, type Format, formats } from "../report/report.ts";
import { run } from "../run/run.ts";
import { personAtTerminal } from "./ask-person.ts";
import { valuesOf } from "./flags.ts";
import { givenArgs, readGiven } from "./given.ts";
import type { Lifetime } from "./lifetime.ts";
import { createLog } from "./log.ts";
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
    const person = personAtTerminal(readsStdin || (args.unattended ?? false));
    const reporter = createReporter(format, {
      stdout: (text) => process.stdout.write(text),
      progress: (line) => person.tell(() => log.info(line)),
      warn: (line) => person.tell(() => log.warn(line)),
      error: (line) => person.tell(() => log.error(line)),
    });
    // Where a line cannot be written the run ends too, and all that it has started.
    await using events = run({
      ...given,
      ...readPermissions(args.yes, rawArgs),
      model: args.model,
      limits: parseLimits(valuesOf("--limit", rawArgs)),
      output: args.output,
      ask: person.ask,
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
