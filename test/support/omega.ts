// Starts omega as a user would: the compiled binary, or `deno run` when OMEGA_UNDER_TEST=deno. Never in this process.

import { type ChildProcess, spawn } from "node:child_process";
import { resolve } from "node:path";

export const root = resolve(import.meta.dir, "../..");
export const bin = (name: string) => resolve(root, "node_modules/.bin", name);

export const argv =
  process.env["OMEGA_UNDER_TEST"] === "deno"
    ? [bin("deno"), "run", "-A", "--quiet", resolve(root, "src/main.ts")]
    : [resolve(root, "dist/omega")];

export type Result = { code: number | null; signal: string | null; stdout: string; stderr: string };
export type Options = {
  cwd?: string;
  env?: Record<string, string>;
  input?: string;
  timeoutMs?: number;
  /** A program that starts omega, for example in a namespace of its own. */
  under?: readonly string[];
};

/** The least environment in which programs are found; nothing of this machine's keys, settings or runs. */
export const cleanEnvironment = {
  PATH: process.env["PATH"] ?? "",
  HOME: process.env["HOME"] ?? "/",
  OMEGA_HOME: resolve(root, "dist/test-home"),
};

export function startOmega(
  words: readonly string[],
  options: Options = {},
): { child: ChildProcess; result: Promise<Result> } {
  const [command = "", ...prefix] = [...(options.under ?? []), ...argv];
  const child = spawn(command, [...prefix, ...words], {
    cwd: options.cwd ?? root,
    env: { ...cleanEnvironment, ...options.env },
    stdio: "pipe",
  });
  let stdout = "";
  let stderr = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
  });
  child.stdin.on("error", () => undefined);
  child.stdin.end(options.input ?? "");
  const timer = setTimeout(() => child.kill("SIGKILL"), options.timeoutMs ?? 30_000);
  const result = new Promise<Result>((settle, fail) => {
    child.on("error", fail);
    child.on("close", (code, signal) => {
      clearTimeout(timer);
      settle({ code, signal, stdout, stderr });
    });
  });
  return { child, result };
}

export const omega = (words: readonly string[], options?: Options): Promise<Result> =>
  startOmega(words, options).result;
