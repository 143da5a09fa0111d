// A skill at work: its servers, its tools, the conversation, the verdict. The same for a run and for a sub-skill within it.

import type { Model, ToolDefinition, ToolResult } from "../conversation.ts";
import { asOmegaError, OmegaError } from "../errors.ts";
import type { RunEvent } from "../events.ts";
import type { Budget } from "../loop/budget.ts";
import type { Clock } from "../loop/clock.ts";
import { converse, type Ending } from "../loop/converse.ts";
import type { ModelChoice, Skill } from "../manifest/skill.ts";
import type { Permits } from "../permissions/permits.ts";
import { mapStrings } from "../redact.ts";
import { oneLine } from "../terminal.ts";
import type { FinishTool } from "../tools/builtin/finish.ts";
import { cutResult } from "../tools/cut.ts";
import { missingTools, type ToolTable, toolTable } from "../tools/table.ts";
import { graver } from "./envelope.ts";
import { hintToAllow, judge } from "./judge.ts";
import { ownTools } from "./own-tools.ts";
import { connectAll } from "./ready.ts";
import type { Scope } from "./scope.ts";

/** What a skill works with and within. */
export type Means = {
  model: Model;
  /** What was chosen, for its price. */
  choice: ModelChoice;
  clock: Clock;
  budget: Budget;
  permits: Permits;
  finish: FinishTool;
  /** Which sub-skill this is: `1.2`; undefined for the run itself. */
  agent: string | undefined;
};

export type Attempt = { ending: Ending; error?: OmegaError };

export async function* attempt(skill: Skill, means: Means, scope: Scope): AsyncGenerator<RunEvent, Attempt> {
  const { clock, permits, model, budget, finish } = means;
  if (skill.servers.length > 0) yield { type: "starting", servers: skill.servers.map(({ name }) => name) };
  await using servers = await openServers(skill, means, scope);
  for (const connection of servers.connections) {
    const missing = missingTools(connection);
    if (missing && connection.server.required) throw missing;
    if (missing) yield { type: "warning", message: missing.message };
  }
  const { warn, tally } = scope;
  const onUndecided = (origin: string) => {
    if (!tally.undecided.includes(origin)) tally.undecided.push(origin);
  };
  const table = toolTable(servers.connections, { permits, ...shapes(skill, scope), warn, onUndecided });
  const tools = table.toolbox(ownTools(skill, means, scope, table));
  refuseUndecided(skill, tools.definitions, table);

  const { children, hurry, secrets } = scope;
  const system = systemPrompt(skill, mapStrings(table.undecided, secrets.redact));
  const { repeat } = skill.limits;
  const conversation = {
    ...{ model, tools, finish, system, prompt: skill.prompt, budget, repeat, clock },
    ...{ keep: scope.keep, agent: means.agent },
  };
  const judging = {
    ...{ workdir: skill.workdir, counts: table.counts, undecided: table.undecided, children, hurry },
    player: scope.deck.player,
    onChecked: scope.deck.recorder.checked,
    signal: clock.end,
    clean: secrets.redact,
  };
  const loss = () => servers.connections.find(({ server, loss }) => server.required && loss())?.loss();
  try {
    const ending = yield* converse(conversation);
    await Promise.all(servers.connections.map(({ settled }) => settled()));
    const { text, output } = ending;
    const told = { type: "answer", text, ...(output !== undefined && { output }) } as const;
    try {
      const verdict = yield* judge(skill, ending, judging);
      const error = verdict.isProven ? undefined : graver(verdict.error, loss());
      yield { ...told, isGood: !error };
      return { ...(error && { error }), ending };
    } catch (error) {
      // It could not be written, or a check was broken off: the answer is not lost with it.
      yield { ...told, isGood: false };
      throw error;
    }
  } catch (error) {
    // A lost server is often the reason why the rest went wrong.
    throw graver(asOmegaError(error), loss());
  }
}

async function openServers(skill: Skill, { clock, agent }: Means, scope: Scope) {
  const { children, hurry, audit, warn, tally, record } = scope;
  const emit = (event: RunEvent) => scope.emit({ ...event, ...(agent !== undefined && { agent }) });
  const prefix = agent === undefined ? "" : `${skill.name}/`;
  return await connectAll(skill.servers, {
    children,
    hurry,
    audit,
    deck: { ...scope.deck, prefix },
    cwd: skill.workdir,
    signal: clock.work,
    onState: (state) => tally.servers.set(prefix + state.name, { ...state, name: prefix + state.name }),
    onStderr: (name, text) => record.stderr(prefix + name, text),
    onWarning: warn,
    onReady(connection) {
      const { name, protocol, tools, readyMs } = connection.state();
      emit({ type: "server", name, protocol: protocol ?? "", tools, readyMs: readyMs ?? 0 });
    },
    onNotReady: ({ name }, { message }) => emit({ type: "not-ready", name, reason: message }),
  });
}

/** What a model gets to see: no secrets, and not more than it may. */
function shapes({ limits }: Skill, { secrets, keep }: Scope) {
  return {
    shape(result: ToolResult, whole: boolean): ToolResult {
      const content = result.content.map((part) => {
        if (part.type === "text") return { ...part, text: secrets.redact(part.text) };
        // On a cassette a secret has its name in its place, which no base64 could hold.
        const isClean = [part.data, part.mimeType].every(
          (text) => secrets.redact(text) === text && !text.includes("‹"),
        );
        return isClean ? part : { type: "text" as const, text: "[a picture that holds a secret]" };
      });
      const shaped = { ...result, content };
      return whole ? shaped : cutResult(shaped, limits.toolOutput, keep);
    },
    shapeName: secrets.redact,
    shapeDefinition: (definition: ToolDefinition): ToolDefinition => ({
      ...definition,
      description: secrets.redact(definition.description),
      inputSchema: mapStrings(definition.inputSchema, secrets.redact),
    }),
  };
}

/** A server none of whose tools may be used is a mistake that costs tokens: told before the first one is spent. */
function refuseUndecided({ servers }: Skill, offered: readonly { origin: string }[], { undecided }: ToolTable): void {
  const closed = servers.flatMap(({ name }) => {
    const isOf = ({ origin }: { origin: string }) => origin.startsWith(`${name}/`);
    return offered.some(isOf) || !undecided.some(isOf) ? [] : [{ name, waiting: undecided.filter(isOf) }];
  });
  if (closed.length === 0) return;
  const names = closed.map(({ name }) => `"${name}"`);
  const what = `no tool of ${names.length === 1 ? "server" : "servers"} ${names.join(", ")} is allowed`;
  const hint = hintToAllow(
    closed.flatMap(({ waiting }) => waiting),
    servers,
  );
  throw new OmegaError("TOOLS_UNDECIDED", what, { hint });
}

const NAMED = 50;

function systemPrompt({ instructions }: Skill, undecided: ToolTable["undecided"]): string | undefined {
  if (undecided.length === 0) return instructions;
  const origins = undecided.slice(0, NAMED).map(({ origin }) => oneLine(origin));
  const names = `${origins.join(", ")}${undecided.length > NAMED ? ", …" : ""}`;
  const sentence = `These tools exist, but nobody has allowed them and nobody can be asked: ${names}. If the work cannot be done without one of them, call finish with status blocked and name it in missing.`;
  return instructions === undefined ? sentence : `${instructions}\n\n${sentence}`;
}
