// omega's own tools for one conversation, and what stands behind two of them: a sub-agent is a conversation with the same
// tools and what is left of the limits; a sub-skill is an attempt of its own within them.

import { errorResult, type ToolResult } from "../conversation.ts";
import { OmegaError } from "../errors.ts";
import type { RunEvent } from "../events.ts";
import { openBudget } from "../loop/budget.ts";
import { within } from "../loop/clock.ts";
import { converse, type Ending } from "../loop/converse.ts";
import type { CheckedSkill } from "../manifest/load.ts";
import { resolveSkill } from "../manifest/resolve.ts";
import type { Skill } from "../manifest/skill.ts";
import type { Outcome } from "../outcome.ts";
import { type AgentTask, agentTool } from "../tools/builtin/agent.ts";
import { type BuiltIn, textResult } from "../tools/builtin/built-in.ts";
import { finishTool } from "../tools/builtin/finish.ts";
import { readSkillFile } from "../tools/builtin/read-skill-file.ts";
import { readToolOutput } from "../tools/builtin/read-tool-output.ts";
import { subSkillTool } from "../tools/builtin/sub-skill.ts";
import type { ToolTable } from "../tools/table.ts";
import { attempt, type Means } from "./attempt.ts";
import { chooseModel, isCassette } from "./choose-model.ts";
import { answerText } from "./judge.ts";
import { allRules, explicitRules } from "./rules.ts";
import type { Scope } from "./scope.ts";
import { budgetLimits } from "./spending.ts";

export function ownTools(
  skill: Skill,
  means: Means,
  scope: Scope,
  table: ToolTable,
  depth = skill.limits.depth,
): BuiltIn[] {
  const files = readSkillFile({ dir: skill.dir, file: skill.file, kept: skill.ownFiles });
  return [
    ...(files ? [files] : []),
    readToolOutput(scope.record.readOutput, scope.hasKept, skill.limits.toolOutput),
    ...(depth > 0 ? [agentTool((task) => runAgent(task, skill, means, scope, table, depth - 1))] : []),
    ...skill.skills.map((inner) => subSkillTool(inner, (_, inputs) => runSubSkill(inner, inputs, skill, means, scope))),
  ];
}

async function runAgent(
  { task, tools }: AgentTask,
  skill: Skill,
  means: Means,
  scope: Scope,
  table: ToolTable,
  depth: number,
): Promise<ToolResult> {
  const agent = scope.nextAgent(means.agent);
  if (agent === undefined) return tooMany;
  const inner = { ...means, agent, budget: openBudget({}, means.budget), clock: within(means.clock) };
  const conversation = {
    ...inner,
    tools: table.toolbox(ownTools(skill, inner, scope, table, depth), tools),
    finish: finishTool(undefined),
    system: skill.instructions,
    prompt: task,
    repeat: skill.limits.repeat,
    keep: scope.keep,
  };
  return await resultOf(`sub-agent ${agent}`, async () => {
    const ending = await drain(converse(conversation), agent, scope);
    return { ending, error: ending.error };
  });
}

async function runSubSkill(
  checked: CheckedSkill,
  inputs: Record<string, unknown>,
  outer: Skill,
  means: Means,
  scope: Scope,
): Promise<ToolResult> {
  const agent = scope.nextAgent(means.agent);
  if (agent === undefined) return tooMany;
  return await resultOf(`skill ${checked.name}`, async () => {
    const { recorder, player, clock: openClock } = scope.deck;
    const { now, played } = scope.resolving;
    const resolved = await resolveSkill(checked, {
      run: scope.run,
      now,
      cwd: outer.workdir,
      environment: process.env,
      played,
      inputs: { flags: [], file: { name: "the call", values: inputs } },
    });
    for (const secret of resolved.secrets.list()) scope.secrets.add(secret);
    // What is found from here on, the key of its model, is a secret of the run too.
    const skill = { ...resolved, secrets: scope.secrets };
    for (const message of skill.warnings) scope.warn(message);
    const chosen =
      skill.model && !player && !isCassette(means.model.name) ? await chooseModel(skill, undefined) : undefined;
    for (const message of chosen?.warnings ?? []) scope.warn(message);
    const choice = chosen?.choice ?? means.choice;
    // Known beforehand, so that it reports in time, and begins no wait that would pass the end of the run above.
    const timeLeft = means.clock.workUntil - Date.now();
    using clock = openClock(Math.min(skill.limits.time, timeLeft), within(means.clock).end);
    const ledger = {
      file: skill.file,
      isRecorded: scope.record.folder() !== null,
      played: player && {},
    };
    const place = `${skill.name}/`;
    const inner = {
      ...means,
      model: chosen ? recorder.model(chosen.model) : means.model,
      choice,
      agent,
      clock,
      budget: openBudget(await budgetLimits(skill.limits, choice, ledger), means.budget),
      permits: means.permits.within(allRules(skill, scope.flags, place), explicitRules(skill, scope.flags, place)),
      finish: finishTool(skill.output.schema),
    };
    return await drain(attempt(skill, inner, scope), agent, scope);
  });
}

const tooMany = errorResult("not started: this run has had enough sub-agents; do the work yourself");

/** Its events are the run's, marked with its place in the tree. */
async function drain<T>(events: AsyncGenerator<RunEvent, T>, agent: string, { emit }: Scope): Promise<T> {
  for (let next = await events.next(); ; next = await events.next()) {
    if (next.done) return next.value;
    emit({ ...next.value, agent: next.value.agent ?? agent });
  }
}

/** With these the whole run ends. */
const ends: readonly Outcome[] = ["interrupted", "internal", "storage"];

/** However it ends, it is a result for the model above; but what ends the whole run is thrown on. */
async function resultOf(
  who: string,
  work: () => Promise<{ ending: Ending; error?: OmegaError | undefined }>,
): Promise<ToolResult> {
  try {
    const { ending, error } = await work();
    const said = answerText(ending);
    if (error)
      return errorResult(`${who} ended as ${error.outcome}: ${error.message}${said === "" ? "" : `\n${said}`}`);
    if (ending.status === "blocked") return errorResult(`${who} is blocked: ${said}`);
    return textResult(ending.status === "nothing-to-do" ? `nothing to do: ${said}` : said);
  } catch (error) {
    const isFinal = !(error instanceof OmegaError) || ends.includes(error.outcome) || error.code === "DIVERGED";
    if (isFinal) throw error;
    return errorResult(`${who} ended as ${error.outcome}: ${error.message}`);
  }
}
