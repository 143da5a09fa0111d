// omega at a pseudo-terminal, as a person has it: what it shows there, and what is typed. `script` of util-linux makes the
// terminal; where it is missing, `hasTerminal` is false.

import { spawn } from "node:child_process";
import { argv, cleanEnvironment, type Options, root } from "./omega.ts";
import { until } from "./processes.ts";

export const hasTerminal = Bun.which("script") !== null;

export type AtTerminal = {
  /** All that was shown so far, with plain line ends. */
  shown(): string;
  type(keys: string): void;
  /** Waits until this was shown, since the last time it was waited for; says whether. */
  see(text: string): Promise<boolean>;
  exit: Promise<number | null>;
} & AsyncDisposable;

export function atTerminal(words: readonly string[], options: Options = {}): AtTerminal {
  const quoted = [...argv, ...words].map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(" ");
  const child = spawn("script", ["-qefc", quoted, "/dev/null"], {
    cwd: options.cwd ?? root,
    env: { ...cleanEnvironment, SHELL: "/bin/sh", TERM: "xterm", ...options.env },
    stdio: "pipe",
  });
  let text = "";
  let looked = 0;
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (piece: string) => {
      text += piece;
    });
  }
  child.stdin.on("error", () => undefined);
  const timer = setTimeout(() => child.kill("SIGKILL"), options.timeoutMs ?? 30_000);
  const exit = new Promise<number | null>((resolve) => child.once("close", resolve));
  void exit.then(() => clearTimeout(timer));
  const shown = () => text.replace(/\r+\n/g, "\n");
  return {
    shown,
    type: (keys) => void child.stdin.write(keys),
    async see(wanted) {
      const found = await until(() => child.exitCode !== null || shown().includes(wanted, looked), 20_000);
      const at = shown().indexOf(wanted, looked);
      if (at !== -1) looked = at + wanted.length;
      return found && at !== -1;
    },
    exit,
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await exit;
    },
  };
}
