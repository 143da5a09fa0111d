import { defineCommand } from "citty";
import { type Plan, planOf, planRun } from "../run/plan.ts";
import { prepare } from "../run/prepare.ts";
import { plain } from "../terminal.ts";
import { givenArgs, readGiven } from "./given.ts";
import { createLog } from "./log.ts";

export default defineCommand({
  meta: { name: "plan", description: "Show what a run would do, starting nothing" },
  args: {
    skill: { type: "positional", required: true, description: "the manifest, or its folder" },
    ...givenArgs,
    model: { type: "string", valueHint: "provider/name", description: "the model to ask, instead of the manifest's" },
    json: { type: "boolean", description: "the plan as JSON" },
  },
  async run({ args, rawArgs }) {
    const skill = await prepare(readGiven(args, rawArgs), { run: planRun(), now: new Date() });
    const plan = planOf(skill, args.model);
    const log = createLog("normal");
    for (const warning of plan.warnings) log.warn(plain(warning));
    process.stdout.write(args.json ? `${JSON.stringify(plan, null, 2)}\n` : plain(asText(plan)));
  },
});

function asText(plan: Plan): string {
  const { model, limits } = plan;
  const lines = [
    `skill    ${plan.skill}${plan.version ? ` ${plan.version}` : ""}: ${plan.description}`,
    `file     ${plan.file}`,
    `workdir  ${plan.workdir}`,
    `model    ${model ? `${[model.name, ...model.fallbacks].join(", else ")} (from ${model.source})` : "none: give --model provider/name"}`,
    ...(model ? [`key      ${keyOf(plan)}`] : []),
    `limits   ${limits.turns} turns, ${limits.timeMs / 1000} s`,
    ...section("inputs", plan.inputs, ({ name, value, source }) => `${name} = ${indented(value)} (${source})`),
    ...section("secrets", plan.secrets, ({ name, source }) => `${name} from ${source}`),
    ...section("servers", plan.servers, (server) =>
      [
        `${server.name}: ${server.argv.map(quoted).join(" ")}`,
        `  in ${server.cwd}`,
        ...(server.env.length > 0 ? [`  with ${server.env.join(", ")} set`] : []),
        `  tools ${server.tools.join(", ") || "undecided: none is offered"}`,
        ...(server.required ? [] : ["  not required"]),
      ].join("\n  "),
    ),
    ...(plan.instructions === null ? [] : ["instructions", `  ${indented(plan.instructions)}`]),
    "prompt",
    `  ${indented(plan.prompt)}`,
  ];
  return `${lines.join("\n")}\n`;
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
