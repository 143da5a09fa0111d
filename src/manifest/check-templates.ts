// Every template of a manifest refers to something that exists. No value is needed for that.

import type { Fields, Path } from "./document.ts";
import { type Fill, fillLaunch, fillModel, fillPrompt } from "./fill.ts";
import { readInstructions } from "./instructions.ts";
import type { CheckedSkill } from "./load.ts";
import { invalid, type Place, type Problem } from "./problem.ts";
import { checkValue, checkVariable, runValues } from "./references.ts";
import { fillTemplate } from "./template.ts";

export async function checkTemplates(skill: CheckedSkill): Promise<void> {
  const { manifest, fields } = skill;
  const problems: Problem[] = [];
  const withKnown =
    (known: readonly string[]): Fill =>
    (text, path, { variables = false, forModel = false }) => {
      fillTemplate(text, {
        value: checkValue(manifest.inputs, known, forModel),
        variable: variables ? checkVariable : undefined,
        onProblem: (expression, message) => problems.push(templateProblem(fields, path, expression, message)),
      });
      return text;
    };
  const fill = withKnown(runValues);
  const beforeWorkdir = withKnown(runValues.filter((name) => name !== "workdir"));
  if (manifest.workdir !== undefined) beforeWorkdir(manifest.workdir, ["workdir"], {});
  if (manifest.envFile !== undefined) fill(manifest.envFile, ["envFile"], {});
  for (const [name, server] of Object.entries(manifest.servers)) {
    if ("command" in server) fillLaunch(server, ["servers", name], fill);
  }
  if (manifest.model) fillModel(manifest.model, fill);
  fillPrompt(manifest, fill);
  await readInstructions(skill, {
    fillPath: (text) => fill(text, ["instructions", "file"], {}),
    fillText(text, place, isForeign) {
      fillTemplate(text, {
        value: checkValue(manifest.inputs, runValues, true),
        isForeign,
        onProblem: (expression, message) => problems.push(problemAt(place, expression, message)),
      });
      return text;
    },
  });
  if (problems.length > 0) throw invalid(problems);
}

export function templateProblem(fields: Fields, path: Path, expression: string, message: string): Problem {
  return { ...problemAt(fields.locate(path), expression, `${path.join(".")}: ${message}`), hidden: false };
}

/** At the expression itself, where it can be seen from the start of its text. */
export function problemAt(place: Place, expression: string, message: string): Problem {
  const offset = place.source.text.indexOf(expression, place.offset);
  return { ...place, offset: offset === -1 ? place.offset : offset, message };
}
