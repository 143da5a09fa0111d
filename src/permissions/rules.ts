// Rules and a call → a decision. Pure. All that can decide is one list of rules in the order of their weight: --deny, --allow,
// `permissions`, `allowed-tools`, a server's `tools:`, --yes. The first that matches decides; what none matches is asked for.

export type Action = "allow" | "deny" | "ask";

/** `by` names the rule to people: `permissions[2]`, `--deny "git/*"`. */
export type Rule = { tool: string; args?: Readonly<Record<string, string>> | undefined; action: Action; by: string };
export type Decision = { action: Action; by: string };

/** A tool in real names; a built-in one has no server. */
export type ToolName = { server: string | undefined; tool: string };

export const NO_RULE: Decision = { action: "ask", by: "no rule" };

/** Why a tool is refused or asked for, in words. */
export const groundOf = (by: string): string => (by === NO_RULE.by ? "no rule allows it" : `by ${by}`);

export function decide(rules: readonly Rule[], name: ToolName, args: Readonly<Record<string, unknown>>): Decision {
  return rules.find((rule) => matchesName(rule, name) && matchesArguments(rule, args)) ?? NO_RULE;
}

/** All that some arguments could lead to, in order: rules on arguments may match or not, one without them settles it. */
export function possible(rules: readonly Rule[], name: ToolName): Decision[] {
  const decisions: Decision[] = [];
  for (const rule of rules) {
    if (!matchesName(rule, name)) continue;
    decisions.push(rule);
    if (!hasArguments(rule)) return decisions;
  }
  return [...decisions, NO_RULE];
}

/** Matches `server/tool`, or `mcp__server__tool`, in real names; a built-in tool by its name alone. */
export function matchesName({ tool: pattern }: Pick<Rule, "tool">, { server, tool }: ToolName): boolean {
  if (pattern.startsWith("mcp__")) return server !== undefined && matchesGlob(pattern, `mcp__${server}__${tool}`);
  return matchesGlob(pattern, server === undefined ? tool : `${server}/${tool}`);
}

function hasArguments({ args }: Rule): boolean {
  return args !== undefined && Object.keys(args).length > 0;
}

/** A field that is not there fails a rule that allows, and meets one that restricts. */
function matchesArguments({ args = {}, action }: Rule, given: Readonly<Record<string, unknown>>): boolean {
  return Object.entries(args).every(([path, glob]) => {
    const values = valuesAt(given, path);
    const matches = (text: string) => matchesGlob(glob, text);
    return action === "allow"
      ? values.length > 0 && values.every(matches)
      : values.length === 0 || values.some(matches);
  });
}

/**
 * A string as it is, all else as JSON; nothing if there is nothing. `a.b` is `b` in `a` and a name with a dot in it: a model
 * may send both, and only the server knows which one it reads.
 */
function valuesAt(given: unknown, path: string): string[] {
  if (typeof given !== "object" || given === null) return [];
  const splits = [...path.matchAll(/\./g)].map(({ index }) => [path.slice(0, index), path.slice(index + 1)] as const);
  const inner = splits.flatMap(([key, rest]) =>
    Object.hasOwn(given, key) ? valuesAt(Reflect.get(given, key), rest) : [],
  );
  return Object.hasOwn(given, path) ? [asText(Reflect.get(given, path)), ...inner] : inner;
}

function asText(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** `*` matches anything; all else is itself. In time that grows with both lengths alone: the text is a model's. */
export function matchesGlob(glob: string, text: string): boolean {
  const [first = "", ...parts] = glob.split("*");
  const last = parts.pop();
  if (last === undefined) return glob === text;
  if (!text.startsWith(first)) return false;
  let at = first.length;
  for (const part of parts) {
    const found = text.indexOf(part, at);
    if (found === -1) return false;
    at = found + part.length;
  }
  return text.length - last.length >= at && text.endsWith(last);
}
