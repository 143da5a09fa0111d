// One run, as a story: load the skill, choose the model, start the servers, converse, end everything, say how it went.

import type { Model } from "../conversation.ts";
import { addUsage } from "../conversation.ts";
import { asOmegaError, OmegaError } from "../errors.ts";
import type { RunEvent } from "../events.ts";
import { converse } from "../loop/converse.ts";
import type { Skill } from "../manifest/skill.ts";
import { missingTools, toolTable } from "../tools/table.ts";
import { openChildren } from "./children.ts";
import { type Envelope, emptyTally, envelope, graver, type Tally } from "./envelope.ts";
import { type Given, prepare } from "./prepare.ts";
import { connectAll } from "./ready.ts";

export type RunOptions = Given & {
  model: string | undefined;
  /** Allow the tools that nobody has decided on. */
  yes: boolean;
  signal: AbortSignal;
  /** Aborted by a second signal: skip the grace times. */
  hurry: AbortSignal;
};

/** Yields what happens; returns how it ended. Never throws: a run without an envelope would be a run without an end. */
export async function* run(options: RunOptions): AsyncGenerator<RunEvent, Envelope> {
  const tally = emptyTally();
  try {
    const skill = await prepare(options, { run: tally.run, now: new Date(tally.startedAt) });
    tally.skill = skill.name;
    using deadline = startDeadline(skill.limits.time, options.signal);
    yield* watch(attempt(skill, options, tally, deadline), tally);
  } catch (error) {
    tally.error = options.signal.aborted ? asOmegaError(options.signal.reason) : asOmegaError(error);
    const { code, cause } = tally.error;
    if (code === "INTERNAL" && cause instanceof Error) yield { type: "debug", message: cause.stack ?? cause.message };
  }
  yield* tellWarnings(tally);
  tally.error = graver(tally.error, tally.loss());
  return envelope(tally);
}

async function* attempt(
  skill: Skill,
  options: RunOptions,
  tally: Tally,
  { signal, at: deadlineAt }: Deadline,
): AsyncGenerator<RunEvent> {
  for (const message of skill.warnings) yield { type: "warning", message };
  const model = yield* chooseModel(skill, options, tally);
  yield { type: "start", run: tally.run, skill: skill.name, model: model.name, at: tally.startedAt };

  await using children = await openChildren(tally.run, (message) => tally.untold.push(message));
  tally.children = children.summary;
  await using servers = await connectAll(skill.servers, {
    ...options,
    children,
    cwd: skill.workdir,
    signal,
    onState: (state) => tally.servers.set(state.name, state),
    onWarning: (message) => tally.untold.push(message),
  });
  tally.loss = () => servers.connections.find(({ server, loss }) => server.required && loss())?.loss();
  for (const connection of servers.connections) {
    const { name, protocol, tools, readyMs } = connection.state();
    yield { type: "server", name, protocol: protocol ?? "", tools, readyMs: readyMs ?? 0 };
    const missing = missingTools(connection);
    if (missing && connection.server.required) throw missing;
    if (missing) yield { type: "warning", message: missing.message };
  }
  const tools = toolTable(servers.connections, { allowAll: options.yes, warn: (text) => tally.untold.push(text) });
  tally.undecided = tools.undecided;
  refuseUndecided(skill, tools.definitions, tools.undecided);

  const { instructions: system, prompt } = skill;
  const text = yield* converse({ model, tools, system, prompt, turns: skill.limits.turns, deadlineAt }, signal);
  yield { type: "answer", text };
}

/** Keeps the counts of the envelope while the events pass by. */
async function* watch(events: AsyncGenerator<RunEvent>, tally: Tally): AsyncGenerator<RunEvent> {
  for await (const event of events) {
    if (event.type === "turn") tally.turns = event.turn;
    else if (event.type === "call") tally.toolCalls++;
    else if (event.type === "usage") {
      tally.usage = addUsage(tally.usage, event.usage);
      tally.cost = tally.cost === null || event.cost === null ? null : tally.cost + event.cost;
    } else if (event.type === "answer") tally.text = event.text;
    else if (event.type === "warning") tally.warnings.push(event.message);
    else if (event.type === "fallback") {
      tally.model = event.model;
      tally.warnings.push(`went on with ${event.model}: ${event.reason}`);
    }
    yield event;
    yield* tellWarnings(tally);
  }
}

function* tellWarnings(tally: Tally): Generator<RunEvent> {
  for (const message of tally.untold.splice(0)) {
    tally.warnings.push(message);
    yield { type: "warning", message };
  }
}

async function* chooseModel(skill: Skill, options: RunOptions, tally: Tally): AsyncGenerator<RunEvent, Model> {
  const { keysFound, keysOf, openModel } = await import("../providers/model.ts");
  // What a flag names is relative to the caller, what a manifest names to the manifest.
  const flag = options.model ?? (skill.model ? undefined : process.env["OMEGA_MODEL"]);
  const choice = flag === undefined ? skill.model : { name: flag, fallbacks: [] };
  if (!choice) {
    const found = keysFound(process.env).join(", ") || "none";
    throw new OmegaError("MODEL_UNKNOWN", `no model is set (keys found: ${found})`, {
      hint: "give --model provider/name, set model: in the manifest, or export OMEGA_MODEL",
    });
  }
  for (const key of keysOf(choice, process.env)) skill.secrets.add(key);
  const dir = flag === undefined ? skill.dir : process.cwd();
  const { model, passedOver } = await openModel(choice, { environment: process.env, dir });
  tally.model = model.name;
  for (const reason of passedOver) yield { type: "warning", message: `${reason}; ${model.name} takes its place` };
  if (model.name.startsWith("replay/")) {
    yield { type: "warning", message: `${model.name} is a script, not a model: its turns were written by hand` };
  }
  return model;
}

/** A server none of whose tools may be used is a mistake that costs tokens: told before the first one is spent. */
function refuseUndecided(skill: Skill, offered: readonly { origin: string }[], undecided: readonly string[]): void {
  for (const { name } of skill.servers) {
    const waiting = undecided
      .filter((origin) => origin.startsWith(`${name}/`))
      .map((origin) => origin.slice(name.length + 1));
    if (waiting.length === 0 || offered.some(({ origin }) => origin.startsWith(`${name}/`))) continue;
    throw new OmegaError("TOOLS_UNDECIDED", `no tool of server "${name}" is allowed`, {
      hint: `name the tools this skill may use, under servers.${name}:\n  tools: [${waiting
        .slice(0, 20)
        .map((tool) => JSON.stringify(tool))
        .join(", ")}]\nor allow all with --yes`,
    });
  }
}

type Deadline = { signal: AbortSignal; at: number; [Symbol.dispose](): void };

function startDeadline(ms: number, outer: AbortSignal): Deadline {
  const controller = new AbortController();
  const reason = () =>
    new OmegaError("LIMIT_TIME", `the limit of ${ms / 1000} s was reached`, { hint: "raise limits.time" });
  const timer = setTimeout(() => controller.abort(reason()), ms);
  const signal = AbortSignal.any([outer, controller.signal]);
  return { signal, at: Date.now() + ms, [Symbol.dispose]: () => clearTimeout(timer) };
}
