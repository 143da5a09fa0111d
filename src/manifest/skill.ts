// What a manifest may say, and the Skill value that the rest of omega trusts. The schema is the single source.

import * as v from "valibot";
import { Duration, Size } from "./units.ts";

const text = v.pipe(v.string("expected text"), v.nonEmpty("expected some text"));

const StdioServer = v.strictObject({
  command: text,
  args: v.optional(v.array(v.string("expected text"), "expected a list"), []),
  env: v.optional(
    v.record(v.string(), v.nullable(v.string("expected text (quote it)")), "expected names and values"),
    {},
  ),
  cwd: v.optional(text),
  tools: v.optional(v.array(text, "expected a list of tool names"), []),
  required: v.optional(v.boolean("expected true or false"), true),
  startupTimeout: v.optional(Duration, "120s"),
  timeout: v.optional(Duration, "120s"),
  stopGrace: v.optional(Duration, "2s"),
  maxMessage: v.optional(Size, "10MB"),
  /** Undefined: 16, or 1 for a bare server. */
  concurrency: v.optional(v.pipe(v.number("expected a number"), v.integer("expected a whole number"), v.minValue(1))),
  restart: v.optional(v.picklist(["never", "on-failure"]), "never"),
  protocol: v.optional(v.picklist(["auto", "legacy", "modern"]), "auto"),
});

const ModelChoice = v.strictObject({
  name: text,
  baseUrl: v.optional(v.pipe(v.string(), v.url("expected a URL"))),
  fallbacks: v.optional(v.array(text, "expected a list of models"), []),
  temperature: v.optional(v.number("expected a number")),
  maxTokens: v.optional(v.pipe(v.number("expected a number"), v.integer("expected a whole number"), v.minValue(1))),
  thinking: v.optional(v.picklist(["off", "low", "medium", "high"])),
  apiKey: v.optional(text),
  headers: v.optional(v.record(v.string(), v.string("expected text (quote it)"))),
  /** US dollars per million tokens. */
  price: v.optional(
    v.strictObject({
      input: v.number(),
      output: v.number(),
      cacheRead: v.optional(v.number()),
      cacheWrite: v.optional(v.number()),
    }),
  ),
});
export type ModelChoice = v.InferOutput<typeof ModelChoice>;

const serverName = v.pipe(
  v.string(),
  v.regex(/^(?!.*__)[A-Za-z0-9_-]{1,64}$/, "expected a name of letters, digits, - and single _"),
);

export const Manifest = v.strictObject({
  name: v.optional(v.pipe(v.string(), v.regex(/^[a-z0-9-]{1,64}$/, "expected at most 64 of a-z, 0-9 and -"))),
  description: text,
  model: v.optional(
    v.lazy((input) =>
      typeof input === "string"
        ? v.pipe(
            text,
            v.transform((name) => ({ name, fallbacks: [] })),
          )
        : ModelChoice,
    ),
  ),
  servers: v.optional(v.record(serverName, StdioServer, "expected names and servers"), {}),
  instructions: v.optional(text),
  prompt: v.optional(text, "Do what your instructions say."),
  limits: v.optional(
    v.strictObject({
      turns: v.optional(v.pipe(v.number("expected a number"), v.integer("expected a whole number"), v.minValue(1)), 50),
      time: v.optional(Duration, "30m"),
    }),
    {},
  ),
});
export type Manifest = v.InferOutput<typeof Manifest>;

export type Server = v.InferOutput<typeof StdioServer> & { name: string };

export type Skill = Omit<Manifest, "name" | "servers"> & {
  name: string;
  servers: readonly Server[];
  /** The manifest's folder: what a manifest reads is relative to it. */
  dir: string;
};

/** Fields of the design that this version refuses by name rather than as unknown. */
export const notSupportedYet: Record<string, readonly string[]> = {
  "": "version license compatibility metadata requires inputs workdir envFile permissions unattended output expect retry skills overlap hooks elicit roots escalate audit trigger".split(
    " ",
  ),
  "servers.*": "url headers transport auth allowInsecure inherit sampling".split(" "),
  limits: "repeat toolOutput depth tokens cost costPerDay toolCalls".split(" "),
};
