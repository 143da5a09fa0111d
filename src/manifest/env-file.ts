// `NAME=value` lines. `#` begins a comment line; `export ` and matching quotes around a value are taken off; nothing else.

import { invalid, type Problem, type Source } from "./problem.ts";

export function parseEnvFile(source: Source): Record<string, string> {
  const variables: Record<string, string> = {};
  const problems: Problem[] = [];
  let offset = 0;
  for (const line of source.text.split("\n")) {
    const [, name, value = ""] = /^\s*(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)=(.*?)\s*$/.exec(line) ?? [];
    if (name !== undefined) variables[name] = /^(["'])(.*)\1$/.exec(value)?.[2] ?? value;
    else if (!/^\s*(#.*)?$/.test(line)) {
      problems.push({ source, offset, message: "expected NAME=value", hidden: true });
    }
    offset += line.length + 1;
  }
  if (problems.length > 0) throw invalid(problems);
  return variables;
}
