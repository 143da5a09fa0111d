// A skill on a scripted model, run by omega itself: `await using life = await scripted({ wire, turns })`, then `life.run()`.
// Its folder has three: skill, work (where it works) and home (omega's).
// Whatever a test looks at, no run may leave a process, and its exit code must be the one in its envelope.

import { expect } from "bun:test";
import type { ChildProcess } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { modelServer, type Script, type WireName } from "./model-server.ts";
import { type Options, type Result, startOmega } from "./omega.ts";
import { aliveWith, until } from "./processes.ts";
import { fixtureServer, manifest } from "./skills.ts";
import { temporaryFolder } from "./temporary.ts";

export const everyWire: WireName[] = ["openai-chat", "openai", "anthropic", "google"];

export type Scripted = {
  wire?: WireName;
  turns: Script;
  /** By default one that works, `s`, whose tool is `echo`. */
  servers?: Record<string, any>;
  /** More fields of the manifest. */
  skill?: object;
  /** More of `model`. */
  model?: object;
  /** For example `skill/notes.md`. */
  files?: Record<string, string>;
};

/** `json`: the envelope; undefined in text mode. */
export type Ended = Result & { json: any };

export async function scripted({ wire = "openai-chat", turns, servers, skill, model: more, files }: Scripted) {
  const word = crypto.randomUUID();
  const model = await modelServer(turns);
  const folder = temporaryFolder(files);
  const { file } = folder;
  mkdirSync(file("work"), { recursive: true });
  const marked = Object.entries<any>(servers ?? { s: fixtureServer("good.mjs") }).map(([name, server]) => [
    name,
    { ...server, env: { MARK: word, DIR: folder.path, READY: file("ready"), ...server.env } },
  ]);
  const fields = { name: "work", model: { ...model.choice(wire), ...more }, workdir: file("work"), ...skill };
  await Bun.write(file("skill/skill.yaml"), manifest(Object.fromEntries(marked), fields));

  let running = 0;

  function start(words: readonly string[] = [], options: Options = {}) {
    running++;
    const env = { OMEGA_HOME: file("home"), ...options.env };
    const { child, result } = startOmega(["run", file("skill"), ...words], { ...options, env });
    let said = "";
    child.stderr?.on("data", (text: string) => {
      said += text;
    });
    return { child, said: () => said, result: result.then((ended) => proven(ended, child)) };
  }

  function proven(ended: Result, child: ChildProcess): Ended {
    const json = parsed(ended.stdout);
    const isAlone = --running === 0;
    // One that was killed leaves it to its guardian.
    if (isAlone && child.signalCode === null) expect(aliveWith(word)).toEqual([]);
    if (typeof json?.outcome === "string") {
      expect(json.children.survivors).toEqual([]);
      expect(json.exitCode).toBe(ended.code);
    }
    return { ...ended, json };
  }

  return {
    ...folder,
    model,
    start,
    run: (words: readonly string[] = [], options: Options = {}) => start(["--json", ...words], options).result,
    /** Without --json. */
    tell: (words: readonly string[] = [], options: Options = {}) => start(words, options).result,
    alive: () => aliveWith(word),
    /** A fixture that waits says so by this file. */
    isReady: () => until(() => existsSync(file("ready")), 20_000),
    /** What the record of a run holds. */
    events: ({ record }: { record: string }): any[] =>
      readFileSync(`${record}/events.jsonl`, "utf8")
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line)),
    read: (name: string) => readFileSync(file(name), "utf8"),
    names: (name = ".") => readdirSync(file(name)).sort(),
    async [Symbol.asyncDispose]() {
      await model[Symbol.asyncDispose]();
      folder[Symbol.dispose]();
    },
  };
}

function parsed(text: string): any {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Calls as a model spells them. */
export const call = (tool: string, args: object = {}) => ({
  name: tool.replace(/^(\w+)\//, "mcp__$1__"),
  arguments: args,
});
export const echo = (text: string) => call("s/echo", { text });
export const finish = (status: string, summary: string, more: object = {}) => ({
  calls: [{ name: "finish", arguments: { status, summary, ...more } }],
});

/** Of an envelope: nothing was started, and nothing asked. */
export const nothingBegan = { turns: 0, toolCalls: 0, attempts: [], servers: [], children: { started: 0 } };
