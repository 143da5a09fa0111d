// A question at a terminal: may this call be made? Asked on stderr, answered on stdin; the answer of somebody who leaves is no.

import { isatty } from "node:tty";
import type { AskPerson, Question } from "../permissions/permits.ts";
import { oneLine, plain } from "../terminal.ts";

const LONGEST_ARGUMENTS = 2_000;

/** Undefined where nobody can be asked: no terminal, CI, or told not to. */
export function personAtTerminal(isUnattended: boolean): AskPerson | undefined {
  if (isUnattended || process.env["CI"] || !isatty(0) || !isatty(2)) return undefined;
  return ask;
}

const ask: AskPerson = async (question, signal) => {
  const { createInterface } = await import("node:readline/promises");
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  try {
    process.stderr.write(describe(question));
    while (true) {
      const answer = await Promise.race([
        lines.question("allow it? [o]nce, for this [r]un, [n]o: ", { signal }),
        new Promise<string>((resolve) => lines.once("close", () => resolve("n"))),
      ]);
      if (/^(o|once|y|yes)$/i.test(answer.trim())) return "once";
      if (/^(r|run)$/i.test(answer.trim())) return "run";
      if (/^(n|no)$/i.test(answer.trim())) return "no";
    }
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  } finally {
    lines.close();
  }
};

function describe({ tool, arguments: args, by }: Question): string {
  const [server, name] = tool.split(/\/(.*)/s);
  const shown = plain(JSON.stringify(args, null, 2)).slice(0, LONGEST_ARGUMENTS);
  const rule = `- { tool: ${JSON.stringify(tool)}, action: allow }`;
  return [
    "",
    `${name === undefined ? "" : `server ${server}, `}tool ${oneLine(name ?? tool, 100)} (asked for by ${oneLine(by, 100)})`,
    shown.replace(/^/gm, "  "),
    `under permissions:, this would settle it:  ${oneLine(rule, 200)}`,
    "",
  ].join("\n");
}
