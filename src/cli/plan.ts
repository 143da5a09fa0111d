import { defineCommand } from "citty";
import { parseLimits } from "../manifest/limit-flags.ts";
import type { Skill } from "../manifest/skill.ts";
import { type Plan, type PlannedTool, planOf, planRun, planTools } from "../run/plan.ts";
import { prepare } from "../run/prepare.ts";
import type { PermissionFlags } from "../run/rules.ts";
import { jsonText, oneLine, plain } from "../terminal.ts";
import { valuesOf } from "./flags.ts";
import { givenArgs, readGiven } from "./given.ts";
import type { Lifetime } from "./lifetime.ts";
import { createLog } from "./log.ts";
import { permissionArgs, readPermissions } from "./permission-flags.ts";
import { columns } from "./table.ts";

export default defineCommand({
  meta: { name: "plan", description: "Show what a run would do, starting nothing" },
  args: {
    skill: { type: "positional", required: true, description: "the manifest, or its folder" },
    ...givenArgs,
    model: { type: "string", valueHint: "provider/name", description: "the model to ask, instead of the manifest's" },
    ...permissionArgs,
    limit: {
      type: "string",
      valueHint: "name=value",
      description: "a limit instead of the manifest's; may be repeated",
    },
    connect: { type: "boolean", description: "start the servers too, and show which rule decides over each tool" },
    json: { type: "boolean", description: "the plan as JSON" },
    verbose: { type: "boolean", alias: "v", description: "more on stderr" },
  },
  async run({ args, rawArgs, data }) {
    const { signal }: Lifetime = data;
    const prepared = await prepare(readGiven(args, rawArgs), { run: planRun(), now: new Date() }, signal);
    const skill = { ...prepared, limits: { ...prepared.limits, ...parseLimits(valuesOf("--limit", rawArgs)) } };
    const flags = readPermissions(args.yes, rawArgs);
    const plan = await planOf(skill, args.model, flags);
    const log = createLog("normal");
    for (const warning of plan.warnings) log.warn(plain(warning));
    const tools = args.connect ? await connected(skill, flags, data) : undefined;
    process.stdout.write(
      args.json ? `${jsonText({ ...plan, ...(tools && { tools }) })}\n` : plain(asText(plan, tools)),
    );
  },
});

async function connected(skill: Skill, flags: PermissionFlags, lifetime: Lifetime): Promise<PlannedTool[]> {
  const { hideSecrets, withServers } = await import("./connected.ts");
  const { missingTools } = await import("../tools/table.ts");
  return await withServers(skill, lifetime, async (connections, { onWarning }) => {
    for (const connection of connections) {
      const missing = missingTools(connection);
      if (missing) onWarning(missing.message);
    }
    return hideSecrets(planTools(skill, flags, connections), skill.secrets);
  });
}

function asText(plan: Plan, tools: readonly PlannedTool[] | undefined): string {
  const { model } = plan;
  const lines = [
    `skill    ${plan.skill}${plan.version ? ` ${plan.version}` : ""}: ${plan.description}`,
    `file     ${plan.file}`,
    `workdir  ${plan.workdir}`,
    `model    ${model ? `${[model.name, ...model.fallbacks].join(", else ")} (from ${model.source})` : "none: give --model provider/name"}`,
    ...(model ? [`key      ${keyOf(plan)}`] : []),
    `limits   ${limitsOf(plan)}`,
    `cost     ${plan.worstCost === null ? "no limit that could be told in money" : `at most $${plan.worstCost}, looked at between turns`}`,
    ...(plan.output === null ? [] : [`output   ${plan.output}`]),
    ...(plan.overlap === "allow" ? [] : [`overlap  ${plan.overlap}`]),
    ...section("inputs", plan.inputs, ({ name, value, source }) => `${name} = ${indented(value)} (${source})`),
    ...section("secrets", plan.secrets, ({ name, source }) => `${name} from ${source}`),
    ...section("servers", plan.servers, (server) =>
      [
        `${server.name}: ${server.argv.map(quoted).join(" ")}`,
        `  in ${server.cwd}`,
        ...(server.env.length > 0 ? [`  with ${server.env.join(", ")} set`] : []),
        `  tools ${server.tools.join(", ") || "named by rules only"}`,
        ...(server.required ? [] : ["  not required"]),
      ].join("\n  "),
    ),
    ...section("permissions", plan.permissions, ({ tool, args, action }) => {
      const fields = Object.entries(args).map(([path, glob]) => `${path}: ${glob}`);
      return `${action} ${tool}${fields.length > 0 ? ` where ${fields.join(", ")}` : ""}`;
    }),
    ...(tools ? toolLines(tools) : []),
    ...section("skills", plan.skills, ({ name, description }) => `skill__${name}: ${oneLine(description, 100)}`),
    ...section("expect", plan.expect, (check) => JSON.stringify(check)),
    ...(plan.instructions === null ? [] : ["instructions", `  ${indented(plan.instructions)}`]),
    "prompt",
    `  ${indented(plan.prompt)}`,
  ];
  return `${lines.join("\n")}\n`;
}

/** `git/git_log  offered  ~210 tokens  allow by servers.git.tools`. */
function toolLines(tools: readonly PlannedTool[]): string[] {
  const rows = tools.map(({ server, name, unattended, estimatedTokens, decisions }) => [
    oneLine(`${server}/${name}`, 80),
    unattended === "offered" ? "offered" : unattended === "denied" ? "refused" : "asked for",
    `~${estimatedTokens} tokens`,
    decisions.map(({ action, by }) => `${action} by ${by}`).join(", else "),
  ]);
  const offered = tools.filter(({ unattended }) => unattended === "offered");
  const weight = offered.reduce((sum, { estimatedTokens }) => sum + estimatedTokens, 0);
  const title = `tools    ${offered.length} of ${tools.length} offered when nobody can be asked, about ${weight} tokens per request`;
  return [title, ...(rows.length > 0 ? [columns(rows, "  ").trimEnd()] : [])];
}

function limitsOf({ limits }: Plan): string {
  const { turns, timeMs, tokens, cost, costPerDay, toolCalls, repeat, toolOutputBytes, depth } = limits;
  return [
    `${turns} turns`,
    `${timeMs / 1000} s`,
    ...(tokens === undefined ? [] : [`${tokens} tokens`]),
    ...(cost === undefined ? [] : [`$${cost}`]),
    ...(costPerDay === undefined ? [] : [`$${costPerDay} a day`]),
    ...(toolCalls === undefined ? [] : [`${toolCalls} tool calls`]),
    `${repeat} repeats`,
    `${toolOutputBytes / 1000} KB of an output`,
    ...(depth > 0 ? [`sub-agents ${depth} deep`] : []),
  ].join(", ");
}

function keyOf({ model, keys, secrets }: Plan): string {
  if (keys.length > 0) return `from ${keys.join(", ")}`;
  const isOwn = secrets.some(({ name }) => name === "model.apiKey");
  return isOwn ? "from the manifest" : `none${model?.name?.startsWith("replay/") ? " is needed" : " is set"}`;
}

function section<T>(title: string, items: readonly T[], line: (item: T) => string): string[] {
  return items.length === 0 ? [] : [title, ...items.map((item) => `  ${line(item)}`)];
}

const indented = (text: string) => text.trimEnd().replaceAll("\n", "\n  ");

/** So that each argument can be told from its neighbours; no shell will read it. */
const quoted = (word: string) => (/^[\w@%+=:,./‹›-]+$/.test(word) ? word : JSON.stringify(word));
