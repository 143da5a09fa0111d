import { defineCommand } from "citty";
import { asOmegaError, type OmegaError } from "../errors.ts";
import { checkSkill } from "../manifest/load.ts";
import { exitCodeOf } from "../outcome.ts";
import { plain } from "../terminal.ts";

type Verdict = {
  skill: string;
  valid: boolean;
  name: string | null;
  warnings: readonly string[];
  error: OmegaError | null;
};

export default defineCommand({
  meta: { name: "validate", description: "Check manifests: all that is wrong, with line and column" },
  args: {
    skill: { type: "positional", required: true, description: "manifests or their folders" },
    json: { type: "boolean", description: "the verdicts as JSON" },
  },
  async run({ args }) {
    const verdicts: Verdict[] = [];
    for (const skill of args._) verdicts.push(await judge(skill));
    if (args.json) process.stdout.write(`${JSON.stringify(verdicts.map(forPrograms), null, 2)}\n`);
    else for (const verdict of verdicts) await tell(verdict);
    return exitCodeOf(verdicts.every(({ valid }) => valid) ? "done" : "invalid");
  },
});

async function judge(skill: string): Promise<Verdict> {
  try {
    const { allowedTools } = await import("../manifest/allowed-tools.ts");
    const { name, warnings, manifest } = await checkSkill(skill);
    return { skill, valid: true, name, warnings: [...warnings, ...allowedTools(manifest).warnings], error: null };
  } catch (cause) {
    const error = asOmegaError(cause);
    if (error.outcome !== "invalid") throw cause;
    return { skill, valid: false, name: null, warnings: [], error };
  }
}

function forPrograms({ error, ...verdict }: Verdict) {
  return { ...verdict, reason: error?.message ?? null, hint: error?.hint ?? null };
}

async function tell({ skill, name, warnings, error }: Verdict): Promise<void> {
  if (warnings.length > 0 || error) {
    const log = (await import("./log.ts")).createLog("normal");
    for (const warning of warnings) log.warn(plain(warning));
    if (error) log.error(plain(`${skill} is not valid:\n${error.message}${error.hint ? `\n  ${error.hint}` : ""}`));
  }
  if (!error) process.stdout.write(plain(`${skill} is valid: ${name}\n`));
}
