// A SKILL.md → fields: its frontmatter, and the text below it as the instructions.

import { type Fields, parseFields } from "./document.ts";
import { invalid, type Source } from "./problem.ts";

/** Fields of other agents' SKILL.md files: no harm, no effect. */
const foreign = new Set(
  "when_to_use argument-hint arguments disable-model-invocation user-invocable disallowed-tools context agent effort paths shell".split(
    " ",
  ),
);

export function parseMarkdown(source: Source): { fields: Fields; warnings: string[] } {
  const { end, body } = frontmatter(source);
  const { values, locate } = parseFields(source, end);
  const ignored = Object.keys(values).filter((name) => foreign.has(name));
  const own = Object.fromEntries(Object.entries(values).filter(([name]) => !foreign.has(name)));
  const text = source.text.slice(body).trim();
  if (text !== "" && Object.hasOwn(own, "instructions")) {
    const message = "instructions: the text below the frontmatter already is the instructions; keep one of them";
    throw invalid([{ ...locate(["instructions"], "key"), message }]);
  }
  if (Object.hasOwn(own, "mcp") && Object.hasOwn(own, "servers")) {
    throw invalid([{ ...locate(["mcp"], "key"), message: "mcp: is read as servers:, and both are there; keep one" }]);
  }
  const { mcp, ...rest } = own;
  const fields: Fields = {
    values: { ...rest, ...(mcp !== undefined && { servers: mcp }), ...(text !== "" && { instructions: text }) },
    locate(path, at) {
      if (path[0] === "instructions" && text !== "") return { source, offset: source.text.indexOf(text, body) };
      return locate(path[0] === "servers" && mcp !== undefined ? ["mcp", ...path.slice(1)] : path, at);
    },
  };
  const warnings = ignored.map((name) => `${source.file}: ${name} has no effect here: a field of other agents`);
  return { fields, warnings };
}

function frontmatter(source: Source): { end: number; body: number } {
  const opening = /^---[ \t]*\r?\n/.exec(source.text);
  const closing = opening && /^---[ \t]*$\r?\n?/m.exec(source.text.slice(opening[0].length));
  if (opening && closing) {
    const end = opening[0].length + closing.index;
    return { end, body: end + closing[0].length };
  }
  const message = opening
    ? "the frontmatter is not closed; a line of --- ends it"
    : "expected a frontmatter: a line of ---, fields such as description:, a line of ---";
  throw invalid([{ source, offset: 0, message }]);
}

/** One over the other, field by field: a field of `over` replaces the whole field of `under`. */
export function mergeFields(under: Fields, over: Fields): Fields {
  return {
    values: { ...under.values, ...over.values },
    locate: (path, at) => {
      const [field] = path;
      const isUnder = field !== undefined && !Object.hasOwn(over.values, field) && Object.hasOwn(under.values, field);
      return (isUnder ? under : over).locate(path, at);
    },
  };
}
