// What this machine has and lacks. What can be tried is tried: a child is started, found and ended as a run would do it.

import { accessSync, constants, existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { defineCommand } from "citty";
import { asOmegaError, systemCode } from "../errors.ts";
import { exitCodeOf } from "../outcome.ts";
import type { Children } from "../processes/children.ts";
import { COOKIE } from "../processes/environment.ts";
import { whyNoGuardian } from "../processes/guardian.ts";
import { carries, hasProc } from "../processes/proc.ts";
import { omegaHome } from "../records/home.ts";
import { openChildren } from "../run/children.ts";
import { emptyTally } from "../run/envelope.ts";
import { versionDetails } from "../version.ts";
import type { Lifetime } from "./lifetime.ts";

/** `ok`: there. `note`: not there, and what that means. `problem`: a run would break. */
type Finding = { name: string; state: "ok" | "note" | "problem"; text: string };

export default defineCommand({
  meta: { name: "doctor", description: "Say what this machine has and lacks" },
  args: {
    json: { type: "boolean", description: "the findings as JSON" },
    verbose: { type: "boolean", alias: "v", description: "more on stderr" },
  },
  async run({ args, data }) {
    const { hurry }: Lifetime = data;
    const findings = [aboutOmega(), aboutProc(), aboutGuardian(), ...(await aboutRuns(hurry)), ...aboutPrograms()];
    const lines = findings.map(({ name, state, text }) => `${state.padEnd(8)} ${name}: ${text}\n`);
    process.stdout.write(args.json ? `${JSON.stringify({ findings }, null, 2)}\n` : lines.join(""));
    return exitCodeOf(findings.some(({ state }) => state === "problem") ? "failed" : "done");
  },
});

function aboutOmega(): Finding {
  const { version, target } = versionDetails();
  const init = process.pid === 1 ? "; it is PID 1 and does not reap orphans: start the container with --init" : "";
  return { name: "omega", state: init ? "note" : "ok", text: `${version}, ${target}${init}` };
}

function aboutProc(): Finding {
  if (hasProc()) return { name: "/proc", state: "ok", text: "what a server leaves behind is found wherever it hides" };
  const text = "there is none of ours: a process that left its server's group is not found";
  return { name: "/proc", state: "note", text };
}

function aboutGuardian(): Finding {
  const reason = whyNoGuardian();
  if (reason === undefined) return { name: "guardian", state: "ok", text: "cleans up after an omega that is killed" };
  const text = process.pid === 1 ? `none, and none is needed: ${reason}` : `none: ${reason}; the next omega cleans up`;
  return { name: "guardian", state: "note", text };
}

async function aboutRuns(hurry: AbortSignal): Promise<Finding[]> {
  const { run } = emptyTally();
  const warnings: string[] = [];
  await using children = await openChildren(run, (message) => warnings.push(message));
  return [aboutJournal(warnings), await aboutChildren(children, run, hurry)];
}

function aboutJournal([trouble]: readonly string[]): Finding {
  if (trouble !== undefined) return { name: "journal", state: "note", text: trouble };
  return { name: "journal", state: "ok", text: `kept in ${omegaHome()}` };
}

/** Starts a shell, looks for it as a sweep would, and ends it. */
async function aboutChildren(children: Children, run: string, hurry: AbortSignal): Promise<Finding> {
  const finding = (state: Finding["state"], text: string): Finding => ({ name: "children", state, text });
  if (!existsSync("/bin/sh")) return finding("note", "not tried: there is no /bin/sh");
  try {
    const child = await children.start({ command: "/bin/sh", args: ["-c", "read -r end"], cwd: "/", env: {} });
    const isFound = carries(child.pid, `${COOKIE}=${run}`);
    await child.end({ graceMs: 1_000, hurry });
    if (!child.exit()) return finding("problem", "one was started and could not be ended");
    if (hasProc() && isFound !== true) return finding("problem", "one was started and its cookie cannot be seen");
    return finding("ok", "one was started and ended");
  } catch (error) {
    return finding("problem", `none can be started: ${asOmegaError(error).message}`);
  }
}

function aboutPrograms(): Finding[] {
  return ["node", "npx"].map((name) => {
    const path = onPath(name);
    if (path !== undefined) return { name, state: "ok", text: path };
    return { name, state: "note", text: "not on PATH; most servers are started with it" };
  });
}

function onPath(name: string): string | undefined {
  const folders = (process.env["PATH"] ?? "").split(delimiter).filter((folder) => folder !== "");
  return folders.map((folder) => join(folder, name)).find(isExecutable);
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch (error) {
    if (systemCode(error) === undefined) throw error;
    return false;
  }
}
