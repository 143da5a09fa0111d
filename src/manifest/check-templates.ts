// Every template of a manifest refers to something that exists. No value is needed for that.

import { type Fields, isOfSecrets, type Path } from "./document.ts";
import { type Fill, fillLaunch, fillModel, fillOutcomes, fillPrompt } from "./fill.ts";
import { readInstructions } from "./instructions.ts";
import type { CheckedSkill } from "./load.ts";
import { invalid, type Place, type Problem } from "./problem.ts";
import { checkValue, checkVariable, runValues } from "./references.ts";
import { type Filler, fillTemplate } from "./template.ts";

export function checkTemplates(skill: CheckedSkill): void {
  const { manifest, fields } = skill;
  const problems: Problem[] = [];
  const report = (problem: Problem) => problems.push(problem);
  const withKnown =
    (known: readonly string[]): Fill =>
    (text, path, { variables = false, forModel = false }) => {
      fillTemplate(text, {
        value: checkValue(manifest.inputs, known, forModel),
        variable: variables ? checkVariable : undefined,
        onProblem: atField(fields, path, report),
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
  fillOutcomes(manifest, fill);
  readInstructions(skill, {
    fillPath: (text) => fill(text, ["instructions", "file"], {}),
    fillText(text, place, isForeign) {
      fillTemplate(text, {
        value: checkValue(manifest.inputs, runValues, true),
        isForeign,
        onProblem: atExpression(place, "", report),
      });
      return text;
    },
  });
  if (problems.length > 0) throw invalid(problems);
}

/**
 * What could not be filled, told at the expression itself. A value and its source are walked together, for quotes and
 * indentation move things; each call goes on where the last one for this expression stopped.
 */
export function atExpression(place: Place, label: string, report: (problem: Problem) => void): Filler["onProblem"] {
  const { source } = place;
  const reached = new Map<string, { seen: number; offset: number }>();
  return (expression, message, { text, at }) => {
    const first = { seen: text.indexOf(expression), offset: source.text.indexOf(expression, place.offset) };
    let { seen, offset } = reached.get(expression) ?? first;
    while (seen < at && offset !== -1) {
      seen = text.indexOf(expression, seen + 1);
      offset = source.text.indexOf(expression, offset + 1);
    }
    reached.set(expression, { seen, offset });
    report({ source, offset: offset === -1 ? place.offset : offset, message: `${label}${message}` });
  };
}

/** The place is looked up only when there is something to tell. */
export function atField(fields: Fields, path: Path, report: (problem: Problem) => void): Filler["onProblem"] {
  const hidden = isOfSecrets(path);
  let tell: Filler["onProblem"] | undefined;
  return (...told) => {
    tell ??= atExpression(fields.locate(path), `${path.join(".")}: `, (problem) => report({ ...problem, hidden }));
    tell(...told);
  };
}
