// omega at a terminal that draws: what a person sees there at a moment. tmux is that terminal; where it is missing, `hasTmux`
// is false.

import { spawnSync } from "node:child_process";
import { argv, cleanEnvironment, root } from "./omega.ts";
import { until } from "./processes.ts";
import { temporaryFolder } from "./temporary.ts";

export const hasTmux = Bun.which("tmux") !== null;

export type Pane = {
  /** The lines on the screen, without what scrolled away. */
  screen(): string;
  /** With what scrolled away, and lines as they were before they were wrapped. */
  all(): string;
  /** Waits until the screen shows it; says whether. */
  see(text: string | RegExp): Promise<boolean>;
  /** Keys by tmux's names: `C-c`, `Enter`, or a character. */
  type(...keys: string[]): void;
  resize(columns: number, rows: number): void;
  /** What the terminal says of itself: `cursor_flag`, `wrap_flag`. */
  flag(name: string): string;
} & Disposable;

export type PaneOptions = { columns: number; rows: number; env?: Record<string, string>; more?: string };

/** omega, and when it has ended its exit code on a line of its own. `more`: for the shell, after omega's words. */
export function inTmux(words: readonly string[], { columns, rows, env = {}, more = "" }: PaneOptions): Pane {
  const folder = temporaryFolder();
  const socket = folder.file("tmux");
  const tmux = (...args: string[]) => spawnSync("tmux", ["-S", socket, ...args], { encoding: "utf8" }).stdout;
  const variables = Object.entries({ ...cleanEnvironment, ...env }).map(([name, value]) => `${name}=${value}`);
  const quoted = `env -i TERM="$TERM" ${variables.map(quote).join(" ")}`;
  // The shell outlives a Ctrl-C that ends omega.
  const command = `trap : INT; ${quoted} ${[...argv, ...words].map(quote).join(" ")} ${more}; echo "exit $?"; sleep 600`;
  const size = ["-x", `${columns}`, "-y", `${rows}`];
  tmux("-f", "/dev/null", "new-session", "-d", ...size, "-c", root, `sh -c ${quote(command)}`);
  const screen = () => tmux("capture-pane", "-p").replace(/\n+$/, "\n");
  return {
    screen,
    all: () => tmux("capture-pane", "-p", "-J", "-S", "-"),
    see: (text) =>
      until(() => {
        const shown = screen();
        return typeof text === "string" ? shown.includes(text) : text.test(shown);
      }, 20_000),
    type: (...keys) => void tmux("send-keys", ...keys),
    resize: (columns, rows) => void tmux("resize-window", "-x", `${columns}`, "-y", `${rows}`),
    flag: (name) => tmux("display-message", "-p", `#{${name}}`).trim(),
    [Symbol.dispose]() {
      tmux("kill-server");
      folder[Symbol.dispose]();
    },
  };
}

const quote = (word: string) => `'${word.replaceAll("'", "'\\''")}'`;
