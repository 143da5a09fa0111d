// A question at a terminal: may this call be made? Asked on stderr, answered on stdin; the answer of somebody who leaves is no.
// While it is open nothing else is said there.

import { setImmediate as breathe } from "node:timers/promises";
import { isatty } from "node:tty";
import { type AskPerson, lineToAllow, type Question, type Reply } from "../permissions/permits.ts";
import { groundOf } from "../permissions/rules.ts";
import type { Screen } from "../report/screen.ts";
import { jsonText, oneLine, plain } from "../terminal.ts";

const LONGEST_ARGUMENTS = 2_000;
const MOST_LINES = 16;

/** Undefined where nobody can be asked: no terminal, CI, or told not to. */
export function personAtTerminal(isUnattended: boolean, screen: Screen): AskPerson | undefined {
  const isAttended = !isUnattended && !process.env["CI"] && isatty(0) && isatty(2);
  if (!isAttended) return undefined;
  return async (question, signal) => {
    // What the model has said before its call is told first.
    await breathe();
    screen.hold();
    try {
      return await answerTo(question, signal);
    } finally {
      screen.release();
    }
  };
}

async function answerTo(question: Question, signal: AbortSignal): Promise<Reply> {
  const { createInterface } = await import("node:readline/promises");
  signal.throwIfAborted();
  // The terminal keeps its own line editing and its Ctrl-C, and needs no restoring, however omega ends.
  const lines = createInterface({ input: process.stdin, output: process.stderr, terminal: false });
  const left = new Promise<undefined>((resolve) => lines.once("close", () => resolve(undefined)));
  const prompt = `allow ${oneLine(question.tool, 60)}? [o]nce, for this [r]un, [n]o: `;
  try {
    process.stderr.write(`${describe(question)}\n`);
    while (true) {
      const answer = process.stdin.readableEnded
        ? undefined
        : await Promise.race([lines.question(prompt, { signal }), left]);
      if (answer === undefined) process.stderr.write("\n");
      const reply = answer === undefined ? "no" : replyIn(answer);
      if (reply) return reply;
    }
  } catch (error) {
    process.stderr.write("\n");
    signal.throwIfAborted();
    throw error;
  } finally {
    lines.close();
  }
}

function replyIn(answer: string): Reply | undefined {
  const word = answer.trim();
  if (/^(o|once|y|yes)$/i.test(word)) return "once";
  if (/^(r|run)$/i.test(word)) return "run";
  return /^(n|no)$/i.test(word) ? "no" : undefined;
}

function describe({ tool, arguments: args, by }: Question): string {
  const [server = "", name] = tool.split(/\/(.*)/s);
  const what =
    name === undefined ? `tool ${oneLine(tool, 100)}` : `tool ${oneLine(name, 100)} of server ${oneLine(server, 100)}`;
  return [
    `The model wants to call ${what} (${oneLine(groundOf(by), 100)}):`,
    shortened(jsonText(args)).replace(/^/gm, "  "),
    `To settle it for good, ${plain(lineToAllow([tool]))}`,
  ].join("\n");
}

/** Nobody is to allow what they are not shown without being told that there is more. */
function shortened(text: string): string {
  const shown = text.split("\n").slice(0, MOST_LINES).join("\n").slice(0, LONGEST_ARGUMENTS);
  return shown.length === text.length
    ? text
    : `${shown}…\n[${text.length - shown.length} more characters are not shown]`;
}
