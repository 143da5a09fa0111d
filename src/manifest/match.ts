// `omega run --match "text" DIR`: the one skill in a folder whose trigger is in the text.

import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { OmegaError, systemCode } from "../errors.ts";
import { type CheckedSkill, checkSkill } from "./load.ts";

export async function matchSkill(text: string, folder: string): Promise<string> {
  const { skills, broken } = await skillsIn(folder);
  const matches = skills.filter(({ manifest }) => isTriggered(manifest.trigger, text));
  const [only, ...others] = matches;
  if (only && others.length === 0) return only.file;
  const list = (only ? matches : skills).map(({ name, manifest }) => `${name}: ${manifest.trigger ?? "no trigger"}`);
  throw new OmegaError(
    "USAGE",
    `${only ? `${matches.length} skills match` : "no skill matches"} ${JSON.stringify(text)} in ${folder}`,
    { hint: [...list, ...broken].join("\n  ") || "there is no skill in this folder" },
  );
}

/** A keyword counts as a whole word or phrase, in any case. */
export function isTriggered(trigger: string | undefined, text: string): boolean {
  const words = ` ${normal(text)} `;
  return (trigger ?? "")
    .split("|")
    .map(normal)
    .some((keyword) => keyword !== "" && words.includes(` ${keyword} `));
}

function normal(text: string): string {
  return text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, " ")
    .trim();
}

/** The folder itself, if it is a skill, and each folder in it that is one. */
async function skillsIn(folder: string): Promise<{ skills: CheckedSkill[]; broken: string[] }> {
  const entries = await readdir(folder, { withFileTypes: true }).catch((error: unknown) => {
    throw new OmegaError("USAGE", `--match wants a folder of skills: cannot read ${folder} (${systemCode(error)})`);
  });
  const inside = entries.filter((entry) => !entry.isFile() && !entry.name.startsWith("."));
  const skills: CheckedSkill[] = [];
  const broken: string[] = [];
  for (const path of [folder, ...inside.map(({ name }) => join(folder, name)).sort()]) {
    try {
      skills.push(await checkSkill(path));
    } catch (error) {
      if (!(error instanceof OmegaError)) throw error;
      if (!error.message.startsWith("no manifest in "))
        broken.push(`${path} cannot be loaded: see omega validate ${path}`);
    }
  }
  return { skills, broken };
}
