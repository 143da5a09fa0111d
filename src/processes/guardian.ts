// So that a `kill -9` of omega needs no next start: a shell that waits at the other end of one pipe. A goodbye ends it; if
// the pipe closes without one, omega is dead and the shell becomes `omega sweep`. It leads its own session, holds none of
// our output (or whoever waits for that would wait for it), and knows neither the cookie nor a key.

import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { isCompiled } from "../version.ts";

const SHELL = "/bin/sh";
const GOODBYE_MS = 1_000;

export type Guardian = {
  /** All is proven gone: the guardian may go too. Settles when it has. */
  goodbye(): Promise<void>;
  /** Nothing is proven: let it sweep once we are gone. */
  abandon(): void;
};

/** Why there can be none here, or undefined. */
export function whyNoGuardian(): string | undefined {
  if (process.pid === 1) return "omega is PID 1: the kernel ends the other processes of the container with it";
  if (!existsSync(SHELL)) return `there is no ${SHELL}`;
  return undefined;
}

export function startGuardian(run: string): Guardian | undefined {
  if (whyNoGuardian() !== undefined) return undefined;
  const argv = [...ourselves(), "sweep", run, "--orphan", "--json"];
  const guardian = spawn(SHELL, ["-c", 'read -r goodbye || exec "$@"', "omega-guardian", ...argv], {
    env: environment(),
    detached: true,
    stdio: ["pipe", "ignore", "ignore"],
  });
  const { stdin } = guardian;
  const gone = new Promise<void>((resolve) => {
    guardian.once("exit", () => resolve());
    // It could not be started: the journal stays, for the next start of omega.
    guardian.once("error", () => resolve());
  });
  // A write to a guardian that somebody has killed.
  stdin.on("error", () => undefined);
  return {
    async goodbye() {
      stdin.end("goodbye\n");
      const timer = setTimeout(() => guardian.kill("SIGKILL"), GOODBYE_MS);
      await gone;
      clearTimeout(timer);
    },
    abandon() {
      guardian.unref();
      stdin.destroy();
    },
  };
}

/** The words that start this omega again: the binary alone, or the runtime and the source. */
function ourselves(): string[] {
  if (isCompiled) return [process.execPath];
  const main = fileURLToPath(new URL("../main.ts", import.meta.url));
  return process.versions["deno"] ? [process.execPath, "run", "-A", "--quiet", main] : [process.execPath, main];
}

function environment(): Record<string, string> {
  const names = ["PATH", "HOME", "TMPDIR", "OMEGA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "DENO_DIR"];
  const env: Record<string, string> = {};
  for (const name of names) {
    const value = process.env[name];
    if (value !== undefined) env[name] = value;
  }
  return env;
}
