// A shipped skill at work: its real servers, in a folder of its own, and a scripted model that says what a good one would.
// Cassettes are recorded from scenes, and tests play them live.

import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { modelServer, type ScriptedTurn } from "../support/model-server.ts";
import { type Options, omega, type Result, root } from "../support/omega.ts";
import { temporaryFolder } from "../support/temporary.ts";

export type Scene = {
  skill: string;
  /** The name of its cassette. */
  name: string;
  /** What must be there to play it live. */
  needs?: { what: string; isThere(): boolean };
  /** The files of the folder it works in, and what else is to be made there. */
  files: Record<string, string>;
  prepare?(work: string): void;
  /** What must run beside it. */
  beside?(): Promise<Beside>;
  /** More of the command line, and of the environment. */
  words?: string[];
  env?: Record<string, string>;
  /** In order; `work` is the folder it works in. */
  turns(work: string): Turn[];
  outcome: "done" | "nothing-to-do";
};

export type Beside = { env: Record<string, string> } & AsyncDisposable;
export type Turn = Pick<ScriptedTurn, "text" | "calls">;
export type Played = { result: Result; envelope: any; read(name: string): Promise<string> } & Disposable;

export const skillFolder = (name: string) => resolve(root, "skills", name);
export const cassetteOf = ({ skill, name }: Scene) => join(skillFolder(skill), "tests", `${name}.jsonl`);

export const call = (tool: string, args: object = {}) => ({
  name: tool.replace(/^(\w+)\//, "mcp__$1__"),
  arguments: args,
});

/** Servers come from our own node_modules: npx finds them above the folder it is started in, and asks no network. */
export async function perform(scene: Scene, flags: string[] = [], options: Options = {}): Promise<Played> {
  const folder = temporaryFolder({ "package.json": "{}" });
  const work = folder.file("work");
  symlinkSync(resolve(root, "node_modules"), folder.file("node_modules"));
  for (const [name, text] of Object.entries(scene.files)) {
    mkdirSync(dirname(join(work, name)), { recursive: true });
    writeFileSync(join(work, name), text);
  }
  scene.prepare?.(work);
  await using beside = (await scene.beside?.()) ?? nothing;
  const turns = scene.turns(work);
  await using model = await modelServer((index) => withUsage(turns[index], index));
  const result = await omega(["run", skillFolder(scene.skill), "--json", ...(scene.words ?? []), ...flags], {
    cwd: work,
    timeoutMs: 50_000,
    ...options,
    env: {
      ...model.env("anthropic"),
      ...model.env("openai-chat"),
      OMEGA_HOME: folder.file("home"),
      npm_config_offline: "true",
      ...scene.env,
      ...beside.env,
      ...options.env,
    },
  });
  return {
    result,
    envelope: JSON.parse(result.stdout),
    read: (name) => Bun.file(join(work, name)).text(),
    [Symbol.dispose]: folder[Symbol.dispose],
  };
}

const nothing: Beside = { env: {}, [Symbol.asyncDispose]: async () => undefined };

/** About what it would have cost. */
function withUsage(turn: Turn | undefined, index: number): ScriptedTurn | undefined {
  const output = Math.ceil(JSON.stringify(turn ?? "").length / 4);
  return turn && { ...turn, usage: { input: 1500 + 900 * index, output, cacheRead: 0 } };
}
