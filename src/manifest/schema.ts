// Everything a manifest may say. This schema is the single source: of the checks, the types, `omega schema` and
// docs/manifest.md. What stands here but is not built yet is refused by not-supported.ts.

import * as v from "valibot";
import { anyText, fields, flag, listOf, mapOf, matching, number, oneOf, shapeOf, text, whole } from "./schema-parts.ts";
import { Servers } from "./server-schema.ts";
import { count, duration, size, unlike } from "./units.ts";

/** What a pattern for tools must look like to match any; flags are held to it too. */
export const namesTools = /^(?:[^/]*\/.+|mcp__.+__.+|.*\*.*|agent|skill__.+)$/s;

const isMap = (input: unknown) => typeof input === "object" && input !== null && !Array.isArray(input);

const modelName = (description: string) =>
  matching(/^[^/\s]+\/\S.*$/, "provider/name, for example anthropic/claude-sonnet-4-5", description);

const ModelName = v.pipe(
  modelName("`provider/name`"),
  v.transform((name) => ({ name, fallbacks: [] })),
);

export const ModelFields = fields({
  name: modelName("`provider/name`"),
  fallbacks: v.optional(
    listOf(modelName("`provider/name`"), "models tried in order when one is unavailable or has no key"),
    [],
  ),
  temperature: v.optional(number("the sampling temperature")),
  maxTokens: v.optional(whole("the longest answer, in tokens")),
  thinking: v.optional(oneOf(["off", "low", "medium", "high"], "how much the model may think before it answers")),
  baseUrl: v.optional(text("the address of the provider's API")),
  apiKey: v.optional(text('the key, for example "${KEY}"; default: the provider\'s own variable')),
  headers: v.optional(mapOf(anyText("a header's value"), "headers sent with every request; their values are secrets")),
  price: v.optional(
    fields({
      input: number("US dollars per million tokens"),
      output: number("US dollars per million tokens"),
      cacheRead: v.optional(number("US dollars per million tokens")),
      cacheWrite: v.optional(number("US dollars per million tokens")),
    }),
  ),
});

const Input = fields({
  type: v.optional(
    oneOf(["string", "number", "integer", "boolean", "array", "object"], "what kind of value it is"),
    "string",
  ),
  description: v.optional(text("what it is for")),
  default: v.optional(
    v.pipe(v.unknown(), v.description("its value when none is given; without it the input is required")),
  ),
  enum: v.optional(listOf(v.unknown(), "the only values it may have")),
  secret: v.optional(flag("never shown, and not allowed in instructions or prompt"), false),
  env: v.optional(
    matching(/^[A-Za-z_][A-Za-z0-9_]*$/, "the name of an environment variable", "the variable that may give it"),
  ),
});
export type Input = v.InferOutput<typeof Input>;

const fileOf = (description: string) => fields({ file: text(description) });

const instructionsFile = fileOf("a file in the skill's folder");
const instructionsText = text("the text itself");
const promptText = text("the text itself");
const serverPrompt = fields({
  server: text("the server that has the prompt"),
  name: text("the prompt's name"),
  arguments: v.optional(mapOf(anyText("a value"), "the prompt's arguments"), {}),
});

const toolPattern = (description: string) =>
  v.pipe(
    text(description),
    v.check(
      (pattern) => namesTools.test(pattern),
      ({ input }) => unlike("server/tool, mcp__server__tool, agent or skill__name, with * for anything", input),
    ),
  );

const Permission = fields({
  tool: toolPattern("`server/tool` or `mcp__server__tool`; `*` matches anything"),
  args: v.optional(mapOf(anyText("a glob"), "globs on fields of the arguments, by path")),
  action: oneOf(["allow", "deny", "ask"], "what happens to a call that matches"),
});

const jsonSchema = mapOf(v.unknown(), "a JSON Schema");
const when = v.optional(oneOf(["done", "always"], "when the check is made"), "done");
const toolCheck = fields({
  tool: toolPattern("`server/tool`; `*` matches anything"),
  min: v.optional(whole("at least so many successful calls; default 1 where there is no `max`", 0)),
  max: v.optional(whole("at most so many calls", 0)),
  when,
});
const fileCheck = fields({ file: text("a file that must exist, relative to the workdir"), when });
const argv = (description: string) =>
  v.pipe(
    listOf(anyText("a word"), description),
    v.check((words) => words.length > 0, "expected a command, got an empty list"),
  );
const commandCheck = fields({ command: argv("a command that must exit with 0"), when });
const checks = [toolCheck, fileCheck, commandCheck] as const;

const hasField = (input: unknown, name: string) => isMap(input) && Object.hasOwn(Object(input), name);

export const Limits = fields({
  turns: v.optional(whole("model requests"), 50),
  time: v.optional(duration("the whole run"), "30m"),
  repeat: v.optional(whole("the same call again and again"), 5),
  toolOutput: v.optional(size("what the model sees of one result"), "100KB"),
  depth: v.optional(whole("sub-agents within sub-agents", 0), 0),
  tokens: v.optional(count("input, output and cache, sub-agents included")),
  cost: v.optional(number("US dollars")),
  costPerDay: v.optional(number("US dollars, all runs of the skill in a day")),
  toolCalls: v.optional(count("calls of tools")),
});

export const Manifest = fields({
  name: v.optional(
    matching(/^[a-z0-9-]{1,64}$/, "at most 64 of a-z, 0-9 and -", "the skill's name; default: the folder's or file's"),
  ),
  description: text("what the skill does, in a sentence"),
  version: v.optional(text("the skill's own version")),
  license: v.optional(text("the skill's licence")),
  compatibility: v.optional(text("what the skill needs around it, for people")),
  metadata: v.optional(mapOf(v.unknown(), "anything else, for other programs")),
  requires: v.optional(text("the versions of omega it works with, a semver range")),
  trigger: v.optional(text('keywords, `"a|b"`; `omega run --match "text" DIR` runs the one skill that matches')),
  inputs: v.optional(
    mapOf(
      Input,
      "values that a run is given: `--input` > `--input-file` > `env` > `default`",
      matching(/^[A-Za-z_][A-Za-z0-9_-]*$/, "a name of letters, digits, - and _", "an input's name"),
    ),
    {},
  ),
  workdir: v.optional(
    text("the folder the run works in, relative to the current one; `--workdir` > `workdir` > the current folder"),
  ),
  envFile: v.optional(text("a file of `NAME=value` lines for `${…}`, in the skill's folder")),
  model: v.optional(
    shapeOf(
      [ModelName, ModelFields],
      (input) => (isMap(input) ? ModelFields : ModelName),
      "the model; `--model` > `model` > `OMEGA_MODEL`",
    ),
  ),
  servers: v.optional(Servers, {}),
  "allowed-tools": v.optional(
    shapeOf(
      [text("names separated by spaces or commas"), listOf(text("a name"), "a list of names")],
      (input) => (Array.isArray(input) ? listOf(text("a name"), "a list of names") : text("names")),
      "tools allowed by a `SKILL.md`; `mcp__server__tool` counts here, others are named in a warning",
    ),
  ),
  permissions: v.optional(listOf(Permission, "rules on tool calls; the first that matches decides"), []),
  unattended: v.optional(oneOf(["deny", "fail"], "what happens to a call that nobody can be asked about"), "deny"),
  instructions: v.optional(
    shapeOf(
      [instructionsText, instructionsFile],
      (input) => (isMap(input) ? instructionsFile : instructionsText),
      "the system prompt: text, or `{ file }`",
    ),
  ),
  prompt: v.optional(
    shapeOf(
      [promptText, serverPrompt],
      (input) => (isMap(input) ? serverPrompt : promptText),
      "the task; words on the command line are added to it",
    ),
    "Do what your instructions say.",
  ),
  limits: v.optional(Limits, {}),
  output: v.optional(
    fields({
      schema: v.optional(
        shapeOf(
          [jsonSchema, fileOf("a JSON Schema in the skill's folder")],
          (input) => (hasField(input, "file") ? fileOf("a JSON Schema in the skill's folder") : jsonSchema),
          "what the answer must look like: a JSON Schema, or `{ file }`",
        ),
      ),
      file: v.optional(text("where the answer is written, relative to the workdir")),
    }),
  ),
  expect: v.optional(
    listOf(
      shapeOf(
        checks,
        (input) => (hasField(input, "file") ? fileCheck : hasField(input, "command") ? commandCheck : toolCheck),
        "a check: `tool`, `file` or `command`",
      ),
      "was the work done? Decides the outcome",
    ),
    [],
  ),
  retry: v.optional(
    fields({
      attempts: whole("how often, the first time included"),
      on: v.optional(
        listOf(oneOf(["failed", "unavailable", "server-failed"], "an outcome"), "the outcomes that are tried again"),
        ["failed"],
      ),
      afterWrites: v.optional(flag("also after a tool has changed something"), false),
    }),
  ),
  skills: v.optional(listOf(text("a skill in this skill's folder"), "sub-skills, offered as tools"), []),
  overlap: v.optional(
    oneOf(["skip", "wait", "fail", "allow"], "what to do while another run of this skill is on"),
    "allow",
  ),
  hooks: v.optional(
    fields({
      success: v.optional(argv("after a good run")),
      failure: v.optional(argv("after any other run")),
      always: v.optional(argv("after every run")),
    }),
  ),
  elicit: v.optional(mapOf(mapOf(v.unknown(), "answers by field"), "answers to what servers ask for, by server")),
  roots: v.optional(listOf(text("a folder"), "the folders servers are told of")),
  escalate: v.optional(text("a folder for what needs a person")),
  audit: v.optional(
    v.pipe(
      v.literal("required", ({ input }) => unlike('"required"', input)),
      v.description("`required`: no audit, no run"),
    ),
  ),
});
export type Manifest = v.InferOutput<typeof Manifest>;
export type Limits = v.InferOutput<typeof Limits>;
export type Permission = v.InferOutput<typeof Permission>;
export type Expectation = Manifest["expect"][number];
