// A parser's complaint → what a person can do about it.

import type { YAMLParseError } from "yaml";

/** `hidden`: what stands there may be a secret and is not repeated. */
export function explainSyntax({ code, message, pos }: YAMLParseError, text: string, hidden: boolean): string {
  const [start] = pos;
  const lineStart = text.lastIndexOf("\n", start - 1) + 1;
  const line = text.slice(lineStart, (text.indexOf("\n", start) + 1 || text.length + 1) - 1);
  const unquotedBraces = /(^|[\s:[,-])(\{\{[^}]*\}\}.*)$/.exec(line)?.[2]?.trim();
  switch (code) {
    case "TAB_AS_INDENT":
      return "a tab cannot indent in YAML; use spaces";
    case "BAD_SCALAR_START": {
      return `a text cannot begin with ${text[start]} unless it is quoted${quoted(line.slice(start - lineStart).trim())}`;
    }
    case "BAD_ALIAS":
      return 'a lone * must be quoted: "*"';
    case "MULTIPLE_DOCS":
      return "a manifest is one document; take out the second ---";
    case "BLOCK_AS_IMPLICIT_KEY":
      return `a text with ": " in it must be quoted, and a nested field must stand on a line of its own`;
    case "BAD_INDENT":
    case "MISSING_CHAR":
      return `${lowerFirst(message.replace(/'quote$/, "quote '").replace(/"quote$/, 'quote "'))}; look for a quote or bracket left open, or a line without "name:"`;
    case "BAD_DQ_ESCAPE":
      return `${lowerFirst(message)}; in double quotes a backslash is written \\\\, in single quotes it is itself`;
    default:
      return unquotedBraces ? `{{ … }} must be quoted${quoted(unquotedBraces)}` : lowerFirst(message);
  }

  function quoted(example: string): string {
    return hidden ? "" : `: ${JSON.stringify(example)}`;
  }
}

function lowerFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1);
}
