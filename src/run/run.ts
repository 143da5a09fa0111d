// One run, as a story: load the skill, choose the model, start the servers, converse, end everything, say how it went.

import type { Model } from "../conversation.ts";
import { addUsage } from "../conversation.ts";
import { asOmegaError, OmegaError } from "../errors.ts";
import type { RunEvent } from "../events.ts";
import { converse } from "../loop/converse.ts";
import type { Skill } from "../manifest/skill.ts";
import { openChildren } from "../processes/children.ts";
import { checkNamedTools, toolTable } from "../tools/table.ts";
import { type Envelope, emptyTally, envelope, type Tally } from "./envelope.ts";
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
    yield* watch(attempt(skill, options, tally, deadline.signal), tally);
  } catch (error) {
    tally.error = options.signal.aborted ? asOmegaError(options.signal.reason) : asOmegaError(error);
  }
  return envelope(tally);
}

async function* attempt(
  skill: Skill,
  options: RunOptions,
  tally: Tally,
  signal: AbortSignal,
): AsyncGenerator<RunEvent> {
  for (const message of skill.warnings) yield { type: "warning", message };
  const model = yield* chooseModel(skill, options, tally);
  yield { type: "start", run: tally.run, skill: skill.name, model: model.name, at: tally.startedAt };

  await using children = openChildren(tally.run);
  tally.children = children.summary;
  await using servers = await connectAll(skill.servers, { ...options, children, cwd: skill.workdir, signal, tally });
  for (const { state, warnings } of servers.connections) {
    const { name, protocol, tools, readyMs } = state();
    yield { type: "server", name, protocol: protocol ?? "", tools, readyMs: readyMs ?? 0 };
    for (const message of warnings) yield { type: "warning", message };
  }
  servers.connections.forEach(checkNamedTools);
  const tools = toolTable(servers.connections, options.yes);
  tally.undecided = tools.undecided;
  refuseUndecided(skill, tools.definitions, tools.undecided);

  const { instructions: system, prompt } = skill;
  const text = yield* converse({ model, tools, system, prompt, turns: skill.limits.turns }, signal);
  yield { type: "answer", text };
}

/** Keeps the counts of the envelope while the events pass by. */
async function* watch(events: AsyncGenerator<RunEvent>, tally: Tally): AsyncGenerator<RunEvent> {
  for await (const event of events) {
    if (event.type === "turn") tally.turns = event.turn;
    else if (event.type === "call") tally.toolCalls++;
    else if (event.type === "usage") tally.usage = addUsage(tally.usage, event.usage);
    else if (event.type === "answer") tally.text = event.text;
    else if (event.type === "warning") tally.warnings.push(event.message);
    else if (event.type === "fallback") {
      tally.model = event.model;
      tally.warnings.push(`went on with ${event.model}: ${event.reason}`);
    }
    yield event;
  }
}

async function* chooseModel(skill: Skill, options: RunOptions, tally: Tally): AsyncGenerator<RunEvent, Model> {
  const { openModel } = await import("../providers/model.ts");
  // What a flag names is relative to the caller, what a manifest names to the manifest.
  const flag = options.model ?? (skill.model ? undefined : process.env["OMEGA_MODEL"]);
  const choice = flag === undefined ? skill.model : { name: flag, fallbacks: [] };
  if (!choice) {
    throw new OmegaError("MODEL_UNKNOWN", "no model is set", {
      hint: "give --model provider/name, set model: in the manifest, or export OMEGA_MODEL",
    });
  }
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

function startDeadline(ms: number, outer: AbortSignal): { signal: AbortSignal; [Symbol.dispose](): void } {
  const controller = new AbortController();
  const reason = () =>
    new OmegaError("LIMIT_TIME", `the limit of ${ms / 1000} s was reached`, { hint: "raise limits.time" });
  const timer = setTimeout(() => controller.abort(reason()), ms);
  return { signal: AbortSignal.any([outer, controller.signal]), [Symbol.dispose]: () => clearTimeout(timer) };
}
