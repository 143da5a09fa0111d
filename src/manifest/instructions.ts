// The system prompt: the text itself, a file in the skill's folder, or the body of a SKILL.md.

import { MARKDOWN, readInside } from "./files.ts";
import type { CheckedSkill } from "./load.ts";
import type { Place } from "./problem.ts";

export type InstructionFillers = {
  fillPath(text: string): string;
  /** `isForeign`: the body of a SKILL.md may show `{{ … }}` that was never meant for omega. */
  fillText(text: string, place: Place, isForeign: boolean): string;
};

export function readInstructions(
  { manifest, fields, dir }: Pick<CheckedSkill, "manifest" | "fields" | "dir">,
  { fillPath, fillText }: InstructionFillers,
): string | undefined {
  const { instructions } = manifest;
  if (instructions === undefined) return undefined;
  if (typeof instructions === "string") {
    const place = fields.locate(["instructions"]);
    return fillText(instructions, place, place.source.file.endsWith(MARKDOWN));
  }
  const name = fillPath(instructions.file);
  // A path that depends on the run cannot be read before one.
  if (name.includes("{{")) return undefined;
  const source = readInside(dir, name);
  return fillText(source.text, { source, offset: 0 }, false);
}
