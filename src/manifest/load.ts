// A path → a Skill: find its files, read them, parse, merge, check; then resolve what this run is given.

import { basename, dirname, resolve } from "node:path";
import { OmegaError } from "../errors.ts";
import { checkFields } from "./check.ts";
import { checkTemplates } from "./check-templates.ts";
import { type Fields, parseFields } from "./document.ts";
import { findSkill, pathInside, readSource } from "./files.ts";
import { mergeFields, parseMarkdown } from "./markdown.ts";
import { invalid } from "./problem.ts";
import { type LoadOptions, resolveSkill } from "./resolve.ts";
import type { Manifest } from "./schema.ts";
import type { Skill } from "./skill.ts";

/** Sub-skills within sub-skills; also the end of a folder that links to itself. */
const MAX_DEPTH = 5;

/** A skill whose manifest is right, whatever a run will be given. */
export type CheckedSkill = {
  name: string;
  manifest: Manifest;
  fields: Fields;
  /** The absolute path of the manifest, or of the SKILL.md where there is no other. */
  file: string;
  dir: string;
  /** What `skills:` names. */
  skills: readonly CheckedSkill[];
  warnings: readonly string[];
};

export async function loadSkill(path: string, options: LoadOptions): Promise<Skill> {
  return resolveSkill(await checkSkill(path), options);
}

export async function checkSkill(path: string, depth = 0): Promise<CheckedSkill> {
  const files = findSkill(path);
  const markdown = files.markdown ? parseMarkdown(readSource(files.markdown)) : undefined;
  const manifest = files.manifest ? parseFields(readSource(files.manifest)) : undefined;
  const fields = markdown && manifest ? mergeFields(markdown.fields, manifest) : (markdown?.fields ?? manifest);
  if (!fields) throw new Error("a skill has at least one file");
  await checkRequires(fields);
  const file = resolve(files.manifest ?? files.markdown ?? path);
  const checked = checkFields(fields);
  const skill: CheckedSkill = {
    name: checked.name ?? defaultName(file),
    manifest: checked,
    fields,
    file,
    dir: dirname(file),
    skills: [],
    warnings: markdown?.warnings ?? [],
  };
  checkTemplates(skill);
  return checked.skills.length === 0 ? skill : { ...skill, skills: await checkSubSkills(skill, depth + 1) };
}

/** A sub-skill lies in its skill's folder; two of one name could not be told apart. */
async function checkSubSkills({ manifest, fields, dir }: CheckedSkill, depth: number): Promise<CheckedSkill[]> {
  const skills: CheckedSkill[] = [];
  for (const [index, path] of manifest.skills.entries()) {
    const fail = (message: string) => invalid([{ ...fields.locate(["skills", index]), message: `skills: ${message}` }]);
    if (depth > MAX_DEPTH) throw fail(`sub-skills are nested more than ${MAX_DEPTH} deep`);
    const skill = await checkSkill(pathInside(dir, path), depth);
    if (skills.some(({ name }) => name === skill.name)) throw fail(`two sub-skills are called "${skill.name}"`);
    skills.push(skill);
  }
  return skills;
}

/** A skill for another version of omega says so, instead of being full of unknown fields. */
async function checkRequires({ values, locate }: Fields): Promise<void> {
  const { requires } = values;
  if (typeof requires !== "string") return;
  const [{ default: semver }, { version }] = await Promise.all([import("semver"), import("../version.ts")]);
  if (semver.validRange(requires) === null) {
    const message = `requires: expected a semver range such as ">=0.1.0", got ${JSON.stringify(requires)}`;
    throw invalid([{ ...locate(["requires"]), message }]);
  }
  if (semver.satisfies(version, requires, { includePrerelease: true })) return;
  throw new OmegaError("MANIFEST_INVALID", `this skill needs omega ${requires}; this is omega ${version}`, {
    hint: "install a version that fits, or change requires:",
  });
}

function defaultName(file: string): string {
  const base = basename(file).replace(/\.[^.]+$/, "");
  const name = base.toLowerCase() === "skill" ? basename(dirname(file)) : base;
  const safe = name.toLowerCase().replace(/[^a-z0-9-]+/g, "-");
  return safe.slice(0, 64) || "skill";
}
