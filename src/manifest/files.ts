// Finding and reading what a manifest is made of. What a manifest names is read from its own folder and nowhere else.
// Synchronously: nothing else goes on yet, and the first use of a thread pool costs milliseconds.

import { readFileSync, realpathSync, statSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { OmegaError, systemCode } from "../errors.ts";
import type { Source } from "./problem.ts";

export const MAX_BYTES = 1_000_000;
export const manifestNames = ["skill.yaml", "skill.yml", "skill.json"];
export const MARKDOWN = "SKILL.md";

/** The files of a skill: a manifest, a SKILL.md, or a SKILL.md with a manifest beside it. */
export type SkillFiles = { manifest: string | undefined; markdown: string | undefined };

export function findSkill(path: string): SkillFiles {
  const found = reading(path, () => statSync(path, { throwIfNoEntry: false }));
  if (!found) throw refused(`no such skill: ${path}`, "give a manifest or its folder");
  if (!found.isDirectory()) {
    if (!/(^|[/\\])SKILL\.md$/.test(path)) return { manifest: path, markdown: undefined };
    const sidecar = manifestIn(resolve(path, ".."));
    return { manifest: sidecar && join(path, "..", sidecar), markdown: path };
  }
  const manifest = manifestIn(path);
  const markdown = isFile(join(path, MARKDOWN)) ? join(path, MARKDOWN) : undefined;
  if (manifest || markdown) return { manifest: manifest && join(path, manifest), markdown };
  throw refused(`no manifest in ${path}`, `a skill's folder holds one of ${[...manifestNames, MARKDOWN].join(", ")}`);
}

function manifestIn(folder: string): string | undefined {
  const there: string[] = [];
  for (const name of manifestNames) if (isFile(join(folder, name))) there.push(name);
  if (there.length > 1) {
    throw refused(
      `${folder} holds ${there.join(" and ")}: which one is the skill?`,
      "keep one, or name the file itself",
    );
  }
  return there[0];
}

function isFile(path: string): boolean {
  try {
    return statSync(path).isFile();
  } catch (error) {
    if (systemCode(error) === undefined) throw error;
    return false;
  }
}

export function readSource(file: string): Source {
  const found = reading(file, () => statSync(file));
  if (!found.isFile()) throw notAFile(file);
  if (found.size > MAX_BYTES) throw refused(`${file} is larger than 1 MB: ${found.size} bytes`);
  return {
    file,
    text: decode(
      reading(file, () => readFileSync(file)),
      file,
    ),
  };
}

function reading<T>(what: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (systemCode(error) === undefined) throw error;
    throw refused(`cannot read ${what} (${systemCode(error)})`);
  }
}

/** A byte order mark of UTF-8 does no harm and is dropped; every other encoding is refused by name. */
export function decode(bytes: Uint8Array, file: string): string {
  const [first, second] = bytes;
  if ((first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff)) {
    throw refused(`${file} is UTF-16`, "save it as UTF-8");
  }
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw refused(`${file} is not UTF-8 text`, "save it as UTF-8");
  }
}

/** A file that a manifest names: relative to its folder and, links followed, inside it. Throws a plain sentence. */
export function readInside(folder: string, name: string): Source {
  const { text } = readSource(pathInside(folder, name));
  return { file: resolve(folder, name), text };
}

/** The real path of what a manifest names. */
export function pathInside(folder: string, name: string): string {
  const real = reading(`${name} in ${folder}`, () => realpathSync(resolve(folder, name)));
  const inside = relative(realpathSync(folder), real);
  if (inside === "" || inside.startsWith("..") || resolve(inside) === inside) {
    throw refused(`${name} leads out of the skill's folder`, "a manifest reads from its own folder only");
  }
  return real;
}

/** A pipe or a device could keep us waiting for ever. */
function notAFile(file: string): OmegaError {
  return refused(`${file} is not a regular file`, "give a file, not a folder, a pipe or a device");
}

function refused(message: string, hint?: string): OmegaError {
  return new OmegaError("MANIFEST_INVALID", message, hint === undefined ? {} : { hint });
}
