// What the model says of its work, and what can be seen of it → how the run ended.

import { OmegaError } from "../errors.ts";
import type { Checked, RunEvent } from "../events.ts";
import type { Ending } from "../loop/converse.ts";
import type { Skill } from "../manifest/skill.ts";
import { type Checking, checkAll } from "./expect.ts";
import { writeOutput } from "./output.ts";

/** `isProven`: there were checks, and they held, whatever else went wrong. */
export type Verdict = { error?: OmegaError; isProven: boolean };

export type Judging = Checking & {
  undecided: readonly string[];
  /** Without secrets, for what is written. */
  clean(text: string): string;
};

type Judged = Pick<Skill, "expect" | "output" | "workdir">;

export async function* judge(skill: Judged, ending: Ending, judging: Judging): AsyncGenerator<RunEvent, Verdict> {
  const { error, status, summary } = ending;
  if (error && error.outcome !== "denied") return { error, isProven: false };
  const denied = error ?? lackOfTool(ending, judging.undecided);
  // Where there are checks they decide over a denial, either way.
  if (denied) return skill.expect.length === 0 ? { error: denied, isProven: false } : yield* check(true, denied);
  if (status === "blocked") return { error: blocked(summary), isProven: false };
  if (status === "done" && skill.output.file !== undefined) {
    writeOutput(skill.workdir, skill.output.file, judging.clean(answerText(ending)));
  }
  return yield* check(status === "done");

  async function* check(isDone: boolean, denied?: OmegaError): AsyncGenerator<RunEvent, Verdict> {
    const checks = checkAll(skill.expect, isDone, judging);
    for (let next = await checks.next(); ; next = await checks.next()) {
      if (next.done) return verdict(next.value, denied);
      yield { type: "check", ...next.value };
    }
  }
}

/** What is printed, and written to `output.file`: data where there is any, else the text. */
export function answerText({ text, output }: Pick<Ending, "text" | "output">): string {
  return output === undefined ? text : JSON.stringify(output, null, 2);
}

function verdict(checked: readonly Checked[], denied: OmegaError | undefined): Verdict {
  const failed = checked.filter(({ ok }) => !ok).map(({ check, found }) => `${check} (${found})`);
  if (failed.length === 0) return { isProven: checked.length > 0 };
  const hint = denied ? [denied.message, denied.hint].filter(Boolean).join("\n") : "the model said that it was done";
  const what = failed.length === 1 ? "a check of expect does" : `${failed.length} checks of expect do`;
  return { error: new OmegaError("CHECK_FAILED", `${what} not hold: ${failed.join("; ")}`, { hint }), isProven: false };
}

/** A model that is blocked for want of a tool that nobody has allowed. It may spell it in its own way. */
function lackOfTool({ status, missing, summary }: Ending, undecided: readonly string[]): OmegaError | undefined {
  if (status !== "blocked") return undefined;
  const lacking = undecided.filter((origin) => missing.some((name) => isSameTool(name, origin)));
  if (lacking.length === 0) return undefined;
  return new OmegaError(
    "TOOLS_UNDECIDED",
    `the work needs ${lacking.join(", ")}, which nobody has allowed: ${summary}`,
    {
      hint: hintToAllow(lacking),
    },
  );
}

function isSameTool(name: string, origin: string): boolean {
  const plain = (text: string) =>
    text
      .toLowerCase()
      .replace(/^mcp__/, "")
      .replace(/[^a-z0-9]+/g, "_");
  const tool = origin.slice(origin.indexOf("/") + 1);
  return plain(name) === plain(origin) || plain(name) === plain(tool);
}

/** The line to paste. */
export function hintToAllow(origins: readonly string[]): string {
  const byServer = new Map<string, string[]>();
  for (const origin of origins) {
    const [server = "", tool = ""] = origin.split(/\/(.*)/s);
    byServer.set(server, [...(byServer.get(server) ?? []), tool]);
  }
  const lines = [...byServer].map(([server, tools]) => {
    const shown = tools.slice(0, 20).map((tool) => JSON.stringify(tool));
    return `name the tools this skill may use, under servers.${server}:\n  tools: [${shown.join(", ")}]`;
  });
  return `${lines.join("\n")}\nor allow all with --yes`;
}

function blocked(summary: string): OmegaError {
  return new OmegaError("BLOCKED", `the model says that the work cannot be done: ${summary}`);
}
