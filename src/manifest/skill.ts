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
  tools: v.optional(v.array(text, "expected a list of tool names"), []),
  startupTimeout: v.optional(Duration, "120s"),
  timeout: v.optional(Duration, "120s"),
  stopGrace: v.optional(Duration, "2s"),
  maxMessage: v.optional(Size, "10MB"),
});

const ModelChoice = v.strictObject({
  name: text,
  baseUrl: v.optional(v.pipe(v.string(), v.url("expected a URL"))),
  fallbacks: v.optional(v.array(text, "expected a list of models"), []),
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
  model: "temperature maxTokens thinking apiKey headers price".split(" "),
  "servers.*":
    "cwd url headers transport auth allowInsecure inherit required concurrency restart protocol sampling".split(" "),
  limits: "repeat toolOutput depth tokens cost costPerDay toolCalls".split(" "),
};
