// `expect`: was the work really done? Looked at after the model has ended, while the servers are still there.

import { statSync } from "node:fs";
import { resolve } from "node:path";
import type { Readable } from "node:stream";
import type { Player } from "../cassette/player.ts";
import { asOmegaError, systemCode } from "../errors.ts";
import type { Checked } from "../events.ts";
import type { Expectation } from "../manifest/schema.ts";
import { matchesName } from "../permissions/rules.ts";
import type { Children } from "../processes/children.ts";
import { oneLine } from "../terminal.ts";
import type { Count } from "../tools/table.ts";

const COMMAND_MS = 60_000;
const LONGEST_LINE = 10_000;

export type Checking = {
  workdir: string;
  counts: ReadonlyMap<string, Count>;
  children: Pick<Children, "start">;
  signal: AbortSignal;
  hurry: AbortSignal;
  /** Where a run is played: what was seen then of files and commands. */
  player?: Pick<Player, "check" | "checked"> | undefined;
  onChecked?(checked: Checked): void;
};

/** `isDone`: the model says that it did the work; otherwise only `when: always` and `max` are looked at. */
export async function* checkAll(
  expectations: readonly Expectation[],
  isDone: boolean,
  checking: Checking,
): AsyncGenerator<Checked, Checked[]> {
  const checked: Checked[] = [];
  for (const expectation of expectations) {
    const asked = isDone || expectation.when === "always" ? expectation : maxOnly(expectation);
    if (!asked) continue;
    const found = await check(asked, checking);
    checking.signal.throwIfAborted();
    checked.push(found);
    checking.onChecked?.(found);
    yield found;
  }
  return checked;
}

function maxOnly(expectation: Expectation): Expectation | undefined {
  if (!("tool" in expectation) || expectation.max === undefined) return undefined;
  const { min: _, ...rest } = expectation;
  return rest;
}

async function check(expectation: Expectation, checking: Checking): Promise<Checked> {
  if ("tool" in expectation) {
    const found = checkTool(expectation, checking);
    checking.player?.checked(found);
    return found;
  }
  const name = nameOf(expectation);
  if (checking.player) return { check: name, ...checking.player.check(name) };
  const seen =
    "file" in expectation ? checkFile(expectation.file, checking) : await checkCommand(expectation.command, checking);
  return { check: name, ...seen };
}

function nameOf(expectation: Exclude<Expectation, { tool: string }>): string {
  if ("file" in expectation) return `file ${expectation.file}`;
  return `command ${expectation.command.map((word) => oneLine(word, 100)).join(" ")}`;
}

function checkTool({ tool, min, max }: Extract<Expectation, { tool: string }>, { counts }: Checking): Checked {
  const total = { sent: 0, succeeded: 0 };
  for (const [origin, { sent, succeeded }] of counts) {
    const slash = origin.indexOf("/");
    const name = { server: slash === -1 ? undefined : origin.slice(0, slash), tool: origin.slice(slash + 1) };
    if (!matchesName({ tool }, name)) continue;
    total.sent += sent;
    total.succeeded += succeeded;
  }
  const least = min ?? (max === undefined ? 1 : 0);
  const bounds = [least > 0 && `at least ${least}`, max !== undefined && `at most ${max}`].filter(Boolean).join(", ");
  return {
    check: `tool ${tool}: ${bounds || "any number of"} calls`,
    ok: total.succeeded >= least && total.sent <= (max ?? Number.POSITIVE_INFINITY),
    found: `${total.sent} sent, ${total.succeeded} succeeded`,
  };
}

type Seen = Omit<Checked, "check">;

function checkFile(file: string, { workdir }: Checking): Seen {
  try {
    const found = statSync(resolve(workdir, file));
    return found.isFile() ? { ok: true, found: `${found.size} bytes` } : { ok: false, found: "not a file" };
  } catch (error) {
    const code = systemCode(error);
    if (code === undefined) throw error;
    return { ok: false, found: code === "ENOENT" || code === "ENOTDIR" ? "no such file" : code };
  }
}

async function checkCommand(argv: readonly string[], { workdir, children, signal, hurry }: Checking): Promise<Seen> {
  const [command = "", ...args] = argv;
  try {
    const child = await children.start({ command, args, cwd: workdir, env: {} });
    child.stdin.end();
    const said = keepLastLine(child.stdout);
    const isOver = await endsWithin(COMMAND_MS, child.exited, signal);
    await child.end({ graceMs: 0, hurry });
    const exit = child.exit();
    const words = oneLine(child.lastWords(1)[0] ?? said(), 200);
    const how = !isOver ? `no end within ${COMMAND_MS / 1000} s` : (exit?.signal ?? `exit ${exit?.code}`);
    return { ok: isOver && exit?.code === 0, found: `${how}${words ? `: ${words}` : ""}` };
  } catch (error) {
    const { outcome, message } = asOmegaError(error);
    if (outcome !== "server-failed") throw error;
    return { ok: false, found: message };
  }
}

/** The beginning of the last line that is not empty: the rest of a line might begin within a secret. */
function keepLastLine(stream: Readable): () => string {
  const decoder = new TextDecoder();
  let last = "";
  let open = "";
  stream.on("data", (chunk: Buffer) => {
    for (const [index, piece] of decoder.decode(chunk, { stream: true }).split("\n").entries()) {
      if (index > 0) {
        if (open.trim() !== "") last = open;
        open = "";
      }
      if (open.length < LONGEST_LINE) open += piece.slice(0, LONGEST_LINE);
    }
  });
  return () => (open.trim() === "" ? last : open);
}

function endsWithin(ms: number, exited: Promise<unknown>, signal: AbortSignal): Promise<boolean> {
  return new Promise((resolve) => {
    const settle = (isOver: boolean) => {
      clearTimeout(timer);
      signal.removeEventListener("abort", onAbort);
      resolve(isOver);
    };
    const onAbort = () => settle(false);
    const timer = setTimeout(onAbort, ms);
    signal.addEventListener("abort", onAbort, { once: true });
    void exited.then(() => settle(true));
    if (signal.aborted) onAbort();
  });
}
