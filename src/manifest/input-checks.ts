// What a schema cannot say of inputs: that a default and the values of an enum are of the declared type.

import type { Fields } from "./document.ts";
import { isOfType, oneOfEnum } from "./inputs.ts";
import type { Problem } from "./problem.ts";
import type { Manifest } from "./schema.ts";
import { unlike } from "./units.ts";

export function inputProblems({ inputs }: Manifest, fields: Fields): (Problem & { message: string })[] {
  const problems: (Problem & { message: string })[] = [];
  for (const [name, input] of Object.entries(inputs)) {
    const add = (path: (string | number)[], message: string) =>
      problems.push({
        ...fields.locate(["inputs", name, ...path]),
        message: `inputs.${name}.${path.join(".")}: ${input.secret ? message.replace(/, got .*$/s, "") : message}`,
        hidden: input.secret,
      });
    for (const [index, value] of (input.enum ?? []).entries()) {
      if (!isOfType(value, input.type)) add(["enum", index], unlike(`a value of type ${input.type}`, value));
    }
    if (input.default === undefined) continue;
    if (!isOfType(input.default, input.type)) add(["default"], unlike(`a value of type ${input.type}`, input.default));
    else if (input.enum && !input.enum.includes(input.default)) {
      add(["default"], unlike(oneOfEnum(input), input.default));
    }
  }
  return problems;
}
