// The skills that ship: their files are in the program itself.

import { OmegaError } from "../errors.ts";
import { parseFields } from "../manifest/document.ts";
import { didYouMean } from "../nearest.ts";
import { columns } from "./table.ts";

/** The files of one of them, by their path within it. */
export async function shippedSkill(name: string): Promise<Record<string, string>> {
  const skills = await shippedSkills();
  const files = skills.get(name);
  if (files) return files;
  const names = [...skills.keys()];
  const hint = `omega init --list; there are: ${names.join(", ")}`;
  throw new OmegaError("USAGE", `no skill "${name}" ships with omega${didYouMean(name, names)}`, { hint });
}

/** One line for each: its name, and what it does. */
export async function listShipped(): Promise<string> {
  const rows = [...(await shippedSkills())].map(([name, files]) => {
    const { values } = parseFields({ file: name, text: files["skill.yaml"] ?? "" });
    return [name, String(values["description"])];
  });
  return columns(rows);
}

async function shippedSkills(): Promise<Map<string, Record<string, string>>> {
  const { shippedFiles } = await import("./shipped-skills.ts");
  const skills = new Map<string, Record<string, string>>();
  for (const [path, text] of Object.entries(shippedFiles)) {
    const [name = ""] = path.split("/", 1);
    skills.set(name, { ...skills.get(name), [path.slice(name.length + 1)]: text });
  }
  return skills;
}
