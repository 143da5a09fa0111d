// What the model says of its work, and what can be seen of it → how the run ended.

import { OmegaError } from "../errors.ts";
import type { Checked, RunEvent } from "../events.ts";
import type { Ending } from "../loop/converse.ts";
import type { Expectation } from "../manifest/schema.ts";
import type { Server, Skill } from "../manifest/skill.ts";
import { lineToAllow } from "../permissions/permits.ts";
import { NO_RULE } from "../permissions/rules.ts";
import type { Undecided } from "../tools/table.ts";
import { type Checking, checkAll } from "./expect.ts";
import { writeOutput } from "./output.ts";

/** `isProven`: there were checks of the work, and they held, whatever else went wrong. */
export type Verdict = { error?: OmegaError; isProven: boolean };

export type Judging = Checking & {
  undecided: readonly Undecided[];
  /** Without secrets, for what is written. */
  clean(text: string): string;
};

type Judged = Pick<Skill, "expect" | "output" | "workdir" | "servers">;

export async function* judge(skill: Judged, ending: Ending, judging: Judging): AsyncGenerator<RunEvent, Verdict> {
  const { error, status, summary } = ending;
  if (error && error.outcome !== "denied") return { error, isProven: false };
  const denied = error ?? lackOfTool(ending, judging.undecided, skill);
  // Where there are checks they decide over a denial, either way.
  if (denied) return skill.expect.length === 0 ? { error: denied, isProven: false } : yield* check(true, denied);
  if (status === "blocked") return { error: blocked(summary), isProven: false };
  // What is played has no effects.
  if (status === "done" && skill.output.file !== undefined && !judging.player) {
    writeOutput(skill.workdir, skill.output.file, judging.clean(answerText(ending)));
  }
  return yield* check(status === "done");

  async function* check(isDone: boolean, denied?: OmegaError): AsyncGenerator<RunEvent, Verdict> {
    const checks = checkAll(skill.expect, isDone, judging);
    for (let next = await checks.next(); ; next = await checks.next()) {
      if (next.done) return verdict(skill, isDone, next.value, denied);
      yield { type: "check", ...next.value };
    }
  }
}

/** What is printed, and written to `output.file`: data where there is any, else the text. */
export function answerText({ text, output }: Pick<Ending, "text" | "output">): string {
  return output === undefined ? text : JSON.stringify(output, null, 2);
}

function verdict(
  { expect, output }: Judged,
  isDone: boolean,
  checked: readonly Checked[],
  denied: OmegaError | undefined,
): Verdict {
  const error = failure(checked, denied);
  if (error) return { error, isProven: false };
  const isProven = expect.some((each) => (isDone || each.when === "always") && looksAtWork(each));
  // The answer that was promised is not there, and no check looks at it.
  const isAnswerDue = output.schema !== undefined || output.file !== undefined;
  return denied && (isAnswerDue || !isProven) ? { error: denied, isProven: false } : { isProven };
}

/** That there were not too many calls says nothing of what was done. */
const looksAtWork = (expectation: Expectation) =>
  !("tool" in expectation) || (expectation.min ?? (expectation.max === undefined ? 1 : 0)) > 0;

function failure(checked: readonly Checked[], denied: OmegaError | undefined): OmegaError | undefined {
  const failed = checked.filter(({ ok }) => !ok).map(({ check, found }) => `${check} (${found})`);
  if (failed.length === 0) return undefined;
  const hint = denied ? [denied.message, denied.hint].filter(Boolean).join("\n") : "the model said that it was done";
  const what = failed.length === 1 ? "a check of expect does" : `${failed.length} checks of expect do`;
  return new OmegaError("CHECK_FAILED", `${what} not hold: ${failed.join("; ")}`, { hint });
}

/** A model that is blocked for want of a tool that nobody has allowed. It may spell it in its own way. */
function lackOfTool(
  { status, missing, summary }: Ending,
  undecided: readonly Undecided[],
  { servers }: Judged,
): OmegaError | undefined {
  if (status !== "blocked") return undefined;
  const lacking = undecided.filter(({ origin }) => missing.some((name) => meansTool(name, origin)));
  if (lacking.length === 0) return undefined;
  const names = lacking.map(({ origin }) => origin).join(", ");
  const message = `the work needs ${names}, which nobody has allowed: ${summary}`;
  return new OmegaError("TOOLS_UNDECIDED", message, { hint: hintToAllow(lacking, servers) });
}

/** The tool alone, or its full name among other words. */
function meansTool(said: string, origin: string): boolean {
  const tool = origin.slice(origin.indexOf("/") + 1);
  return plainName(said) === plainName(tool) || `_${plainName(said)}_`.includes(`_${plainName(origin)}_`);
}

function plainName(text: string): string {
  const words = text.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "_");
  return words.replace(/^_|_$/g, "");
}

const SHOWN = 20;

/** The line to paste: with it, the same run is not refused again. */
export function hintToAllow(undecided: readonly Undecided[], servers: Judged["servers"]): string {
  const [open, ruled] = [true, false].map((isOpen) =>
    undecided.filter(({ by }) => (by === NO_RULE.by) === isOpen).map(({ origin }) => origin),
  );
  const lines = servers.flatMap((server) => toolsLine(server, open ?? []));
  const byRule =
    ruled && ruled.length > 0 ? [`a rule asks, and nobody can be asked: ${lineToAllow(ruled.slice(0, SHOWN))}`] : [];
  return [...lines, ...byRule, ...(lines.length > 0 ? ["or allow them with --yes"] : [])].join("\n");
}

/** All that the server's `tools:` must say, for it takes the place of what is there. */
function toolsLine({ name, tools }: Pick<Server, "name" | "tools">, origins: readonly string[]): string[] {
  const lacking = origins.flatMap((origin) => (origin.startsWith(`${name}/`) ? [origin.slice(name.length + 1)] : []));
  if (lacking.length === 0) return [];
  const shown = [...tools, ...lacking.slice(0, SHOWN)].map((tool) => JSON.stringify(tool)).join(", ");
  const rest = lacking.length > SHOWN ? `  # and ${lacking.length - SHOWN} more` : "";
  return [`name the tools this skill may use, under servers.${name}:\n  tools: [${shown}]${rest}`];
}

function blocked(summary: string): OmegaError {
  return new OmegaError("BLOCKED", `the model says that the work cannot be done: ${summary}`);
}
