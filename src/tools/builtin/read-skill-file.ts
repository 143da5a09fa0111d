// A skill's own files, read when the model wants them: the instructions need not hold everything. Hidden files, what the
// manifest keeps for omega (its env file, its servers, its tests), and the README of a skill without a SKILL.md, which is
// for people, are not among them.

import { existsSync, readdirSync } from "node:fs";
import { basename, join, relative, sep } from "node:path";
import { errorResult } from "../../conversation.ts";
import { OmegaError } from "../../errors.ts";
import { MARKDOWN, manifestNames, readInside } from "../../manifest/files.ts";
import { type BuiltIn, define, textResult } from "./built-in.ts";

const MAX_FILES = 200;
const MAX_DEPTH = 3;
const NAMED = 30;
const README = "README.md";
const notForModels = new Set(["node_modules", "tests", ...manifestNames, MARKDOWN]);

export type SkillFolder = {
  dir: string;
  /** The manifest. One of another name than a skill's lies in a folder that is not the skill's own. */
  file: string;
  /** Files of the folder that are not for the model. */
  kept: readonly string[];
};

/** Undefined if the skill has no files. */
export function readSkillFile({ dir, file, kept }: SkillFolder): BuiltIn | undefined {
  if (![...manifestNames, MARKDOWN].includes(basename(file))) return undefined;
  const isForPeople = (path: string) => path === README && !existsSync(join(dir, MARKDOWN));
  const mayRead = (path: string) =>
    !kept.includes(path) &&
    !isForPeople(path) &&
    path.split(sep).every((part) => !part.startsWith(".") && !notForModels.has(part));
  const names = list(dir, dir, mayRead, 0).slice(0, MAX_FILES);
  if (names.length === 0) return undefined;
  const more = names.length > NAMED ? ", …" : "";
  return {
    definition: define(
      "ReadSkillFile",
      `Read a file of this skill's own folder. It has: ${names.slice(0, NAMED).join(", ")}${more}`,
      { path: { type: "string", description: "relative to the skill's folder" } },
      ["path"],
    ),
    async call({ path }) {
      const inside = relative(dir, join(dir, String(path)));
      if (!mayRead(inside)) return errorResult(`${path} is not a file of this skill for you to read`);
      try {
        return textResult(readInside(dir, inside).text);
      } catch (error) {
        if (error instanceof OmegaError) return errorResult(error.message);
        throw error;
      }
    },
  };
}

function list(root: string, folder: string, mayRead: (path: string) => boolean, depth: number): string[] {
  const names: string[] = [];
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = relative(root, join(folder, entry.name));
    if (!mayRead(path) || names.length > MAX_FILES) continue;
    if (entry.isFile()) names.push(path);
    else if (entry.isDirectory() && depth < MAX_DEPTH)
      names.push(...list(root, join(folder, entry.name), mayRead, depth + 1));
  }
  return names.sort();
}
