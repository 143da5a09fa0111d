// One child process from its start to its proven end. It leads its own session and group, so that its whole tree can be
// signalled, and its stderr is kept as a ring: data for an error message, never our own output.

import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, statSync } from "node:fs";
import { resolve } from "node:path";
import type { Readable, Writable } from "node:stream";
import { OmegaError, systemCode } from "../errors.ts";
import { onPacedData } from "../mcp/paced.ts";
import { plain } from "../terminal.ts";
import { signalGroup } from "./sweep.ts";

const STDERR_BYTES = 64 * 1024;
/** However a program spells it: a large key in hexadecimal has half of that. */
const LONGEST_SECRET = 16 * 1024;
const TERM_GRACE_MS = 2_000;
const KILL_GRACE_MS = 1_000;

export type Command = { command: string; args: readonly string[]; cwd: string; env: Record<string, string> };
export type Exit = { code: number | null; signal: string | null };

export type Child = {
  pid: number;
  stdin: Writable;
  stdout: Readable;
  /** The last lines of stderr, without control characters. */
  lastWords(lines: number): string[];
  /** Settles when the process is gone; never rejects. */
  exited: Promise<Exit>;
  exit(): Exit | undefined;
  /** Close stdin → wait → SIGTERM → wait → SIGKILL → await the exit → close our pipe ends. Never rejects. */
  end(options: { graceMs: number; hurry: AbortSignal }): Promise<void>;
  /** Itself and whoever was in its group, if it took a signal to end them. */
  signalled: ReadonlySet<number>;
};

export async function startChild(command: Command): Promise<Child> {
  const child = await spawned(command);
  const { stdin, stdout, stderr, pid } = child;
  if (!stdin || !stdout || !stderr || pid === undefined) throw new Error("a spawned child without pid or pipes");

  let exit: Exit | undefined;
  const exited = new Promise<Exit>((resolve) => {
    child.once("exit", (code, signal) => {
      exit = { code, signal };
      resolve(exit);
    });
  });
  // A write to a child that is gone (EPIPE) is not an event of its own: `exited` tells it.
  stdin.on("error", () => undefined);
  const tail = keepTail(stderr);

  const goneWithin = (ms: number, hurry: AbortSignal): Promise<boolean> => {
    if (exit || ms === 0 || hurry.aborted) return Promise.resolve(exit !== undefined);
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer);
        hurry.removeEventListener("abort", done);
        resolve(exit !== undefined);
      };
      const timer = setTimeout(done, ms);
      hurry.addEventListener("abort", done, { once: true });
      void exited.then(done);
    });
  };

  const signalled = new Set<number>();
  const strike = (name: NodeJS.Signals) => {
    for (const member of [{ pid }, ...signalGroup(pid, name)]) signalled.add(member.pid);
  };
  const descend: Child["end"] = async ({ graceMs, hurry }) => {
    stdin.end();
    if (!(await goneWithin(graceMs, hurry))) {
      strike("SIGTERM");
      if (!(await goneWithin(TERM_GRACE_MS, hurry))) {
        strike("SIGKILL");
        await goneWithin(KILL_GRACE_MS, never);
      }
    }
    for (const pipe of [stdin, stdout, stderr]) pipe.destroy();
  };
  let ending: Promise<void> | undefined;

  return {
    pid,
    stdin,
    stdout,
    exited,
    exit: () => exit,
    // However many ask, it is ended once.
    end: (options) => (ending ??= descend(options)),
    signalled,
    lastWords: (lines) => tail().slice(-lines),
  };
}

const never = new AbortController().signal;

function spawned({ command, args, cwd, env }: Command): Promise<ChildProcess> {
  return new Promise((resolve, reject) => {
    const fail = (error: unknown) => reject(startError(error, command, args, cwd));
    try {
      const child = spawn(command, args, { cwd, env, detached: true, stdio: "pipe", windowsHide: true });
      child.once("spawn", () => resolve(child));
      child.once("error", fail);
    } catch (error) {
      fail(error);
    }
  });
}

function startError(error: unknown, command: string, args: readonly string[], cwd: string): OmegaError {
  const argv = [command, ...args].join(" ");
  const file = command.includes("/") ? resolve(cwd, command) : undefined;
  const fail = (what: string, hint: string) =>
    new OmegaError("SERVER_START_FAILED", `${what}: ${argv}`, { cause: error, hint });
  if (!isFolder(cwd)) return fail(`its working folder ${cwd} does not exist`, "check cwd, or make that folder");
  switch (systemCode(error)) {
    case "ENOENT":
      if (!file) return fail("no such command", `install ${command}, or give its full path: it is not on PATH`);
      if (!existsSync(file)) return fail("no such command", `check the path: there is no ${file}`);
      return fail("its interpreter does not exist", `check the first line of ${file}`);
    case "EACCES":
      if (file && isFolder(file)) return fail("a folder, not a program", `name a program inside ${file}`);
      return fail("not an executable file", `chmod +x ${file ?? command}, or name the program that runs it`);
    case "ENOEXEC":
      return fail("not a program of this machine", "name the program that runs it, for example node or python3");
    default:
      return fail(`cannot be started (${systemCode(error) ?? String(error)})`, `run it by hand: ${argv}`);
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

/** Drains a stream for ever and keeps its last bytes; gives them back as lines. */
function keepTail(stream: Readable): () => string[] {
  let chunks: Buffer[] = [];
  let size = 0;
  let total = 0;
  onPacedData(stream, (chunk) => {
    chunks.push(chunk);
    size += chunk.length;
    total += chunk.length;
    if (size <= STDERR_BYTES * 2) return;
    chunks = [Buffer.concat(chunks).subarray(-STDERR_BYTES)];
    size = STDERR_BYTES;
  });
  stream.on("error", () => undefined);
  return () => {
    const text = plain(Buffer.concat(chunks).subarray(-STDERR_BYTES).toString("utf8"));
    return (total > STDERR_BYTES ? withoutTornStart(text) : text)
      .split("\n")
      .map((line) => line.trimEnd())
      .filter((line) => line !== "");
  };
}

/** The rest of a line might begin within a secret, and nobody could tell it any more. */
function withoutTornStart(text: string): string {
  const end = text.indexOf("\n");
  return text.slice(end === -1 || end > LONGEST_SECRET ? LONGEST_SECRET : end + 1);
}
