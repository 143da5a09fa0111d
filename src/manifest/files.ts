// Finding and reading what a manifest is made of. What a manifest names is read from its own folder and nowhere else.

import { readFile, realpath, stat } from "node:fs/promises";
import { join, relative, resolve } from "node:path";
import { OmegaError, systemCode } from "../errors.ts";
import type { Source } from "./problem.ts";

export const MAX_BYTES = 1_000_000;
export const manifestNames = ["skill.yaml", "skill.yml", "skill.json"];
export const MARKDOWN = "SKILL.md";

/** The files of a skill: a manifest, a SKILL.md, or a SKILL.md with a manifest beside it. */
export type SkillFiles = { manifest: string | undefined; markdown: string | undefined };

export async function findSkill(path: string): Promise<SkillFiles> {
  const found = await stat(path).catch((error: unknown) => {
    if (systemCode(error) === "ENOENT") throw refused(`no such skill: ${path}`, "give a manifest or its folder");
    throw refused(`cannot read ${path} (${systemCode(error)})`);
  });
  if (!found.isDirectory()) {
    if (!/(^|[/\\])SKILL\.md$/.test(path)) return { manifest: path, markdown: undefined };
    const sidecar = await manifestIn(resolve(path, ".."));
    return { manifest: sidecar && join(path, "..", sidecar), markdown: path };
  }
  const manifest = await manifestIn(path);
  const markdown = (await isFile(join(path, MARKDOWN))) ? join(path, MARKDOWN) : undefined;
  if (manifest || markdown) return { manifest: manifest && join(path, manifest), markdown };
  throw refused(`no manifest in ${path}`, `a skill's folder holds one of ${[...manifestNames, MARKDOWN].join(", ")}`);
}

async function manifestIn(folder: string): Promise<string | undefined> {
  const there: string[] = [];
  for (const name of manifestNames) if (await isFile(join(folder, name))) there.push(name);
  if (there.length > 1) {
    throw refused(
      `${folder} holds ${there.join(" and ")}: which one is the skill?`,
      "keep one, or name the file itself",
    );
  }
  return there[0];
}

async function isFile(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isFile(),
    () => false,
  );
}

export async function readSource(file: string): Promise<Source> {
  const found = await stat(file).catch((error: unknown) => {
    throw refused(`cannot read ${file} (${systemCode(error)})`);
  });
  if (!found.isFile()) throw notAFile(file);
  if (found.size > MAX_BYTES) throw refused(`${file} is larger than 1 MB: ${found.size} bytes`);
  const bytes = await readFile(file).catch((error: unknown) => {
    throw refused(`cannot read ${file} (${systemCode(error)})`);
  });
  return { file, text: decode(bytes, file) };
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
export async function readInside(folder: string, name: string): Promise<Source> {
  const { text } = await readSource(await pathInside(folder, name));
  return { file: resolve(folder, name), text };
}

/** The real path of what a manifest names. */
export async function pathInside(folder: string, name: string): Promise<string> {
  const real = await realpath(resolve(folder, name)).catch((error: unknown) => {
    throw refused(`cannot read ${name} in ${folder} (${systemCode(error)})`);
  });
  const inside = relative(await realpath(folder), real);
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
