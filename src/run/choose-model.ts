// Which model a run asks: --model, else the manifest's, else OMEGA_MODEL.

import type { Model } from "../conversation.ts";
import { OmegaError } from "../errors.ts";
import type { ModelChoice, Skill } from "../manifest/skill.ts";
import type { PlayedTape } from "./deck.ts";

export type ChosenModel = { name: string; model: Model; choice: ModelChoice; warnings: string[] };

/** A recorded run in the place of a model, and not a script. */
export const isCassette = (model: string) => /^replay\/.*\.jsonl$/.test(model);

/** Its keys become secrets of the skill. */
export async function chooseModel(skill: Skill, flag: string | undefined): Promise<ChosenModel> {
  const { keysFound, keysOf, openModel } = await import("../providers/model.ts");
  const named = flag ?? (skill.model ? undefined : process.env["OMEGA_MODEL"]);
  const choice = named === undefined ? skill.model : { name: named, fallbacks: [] };
  if (!choice) {
    const found = keysFound(process.env).join(", ") || "none";
    throw new OmegaError("MODEL_UNKNOWN", `no model is set (keys found: ${found})`, {
      hint: "give --model provider/name, set model: in the manifest, or export OMEGA_MODEL",
    });
  }
  for (const key of keysOf(choice, process.env)) skill.secrets.add(key);
  // What a flag names is relative to the caller, what a manifest names to the manifest.
  const dir = named === undefined ? skill.dir : process.cwd();
  const { workdir } = skill;
  const folders = { workdir, "skill.dir": skill.dir };
  const { model, passedOver } = await openModel(choice, { environment: process.env, dir, folders });
  const warnings = passedOver.map((reason) => `${reason}; ${model.name} takes its place`);
  if (isCassette(model.name)) warnings.push(`${model.name}: the answers are those of a recorded run`);
  else if (model.name.startsWith("replay/")) {
    warnings.push(`${model.name} is a script, not a model: its turns were written by hand`);
  }
  return { name: model.name, model, choice, warnings };
}

/** What is played was chosen then. */
export function chosenThen(skill: Skill, { tape }: PlayedTape) {
  const { file, head } = tape;
  const { model: name } = head;
  const choice: ModelChoice = skill.model?.name === name ? skill.model : { name, fallbacks: [] };
  const warnings = [`played from ${file}: no server is started, no model is asked, nothing is written`];
  return { name, choice, model: undefined, warnings };
}
