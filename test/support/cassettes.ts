// A run that is recorded, and played again where there is nothing that it could use: another folder, another home, no key,
// no variable of the skill's, no model server.

import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ModelServer } from "./model-server.ts";
import { type Options, omega } from "./omega.ts";
import { type Ended, type Scripted, scripted } from "./scripted.ts";

type More = Options | ((model: ModelServer) => Options);

/** Runs a skill with `--cassette`; the model server is gone when this comes back. */
export async function recorded(given: Scripted, words: readonly string[] = [], more: More = {}) {
  const life = await scripted(given);
  const options = typeof more === "function" ? more(life.model) : more;
  const cassette = life.file("tape.jsonl");
  const ended = await life.run(["--cassette", cassette, ...words], options);
  await life.model[Symbol.asyncDispose]();
  const elsewhere = mkdtempSync(join(tmpdir(), "omega-elsewhere-"));
  mkdirSync(join(elsewhere, "home"));

  const play = (words: readonly string[], options: Options = {}): Promise<Ended> =>
    omega(words, {
      cwd: elsewhere,
      ...options,
      env: { HOME: join(elsewhere, "home"), OMEGA_HOME: join(elsewhere, "omega"), TZ: "Asia/Tokyo", ...options.env },
    }).then((result) => ({ ...result, json: parsed(result.stdout) }));

  return {
    ...life,
    ended,
    cassette,
    elsewhere,
    text: () => readFileSync(cassette, "utf8"),
    lines: (): any[] => linesOf(readFileSync(cassette, "utf8")),
    play,
    replay: (more: readonly string[] = [], options: Options = {}) =>
      play(["run", life.file("skill"), "--json", "--replay", cassette, ...more], options),
    /** Played after somebody has changed its lines. */
    async edited(edit: (lines: any[]) => any[] | string) {
      const changed = edit(linesOf(readFileSync(cassette, "utf8")));
      const text = typeof changed === "string" ? changed : changed.map((line) => `${JSON.stringify(line)}\n`).join("");
      writeFileSync(life.file("edited.jsonl"), text);
      return await play(["run", life.file("skill"), "--json", "--replay", life.file("edited.jsonl")]);
    },
    async [Symbol.asyncDispose]() {
      await life[Symbol.asyncDispose]();
      rmSync(elsewhere, { recursive: true, force: true });
    },
  };
}

export const linesOf = (text: string): any[] =>
  text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));

/** What two runs of one cassette must share: all but who they are, when they were, and what only a machine can tell. */
export function lasting({ run, startedAt, endedAt, children, record, warnings, attempts, servers, ...rest }: any) {
  return {
    ...rest,
    attempts: attempts.map(({ startedAt, endedAt, ...attempt }: any) => attempt),
    servers: servers.map(({ readyMs, ...server }: any) => server),
  };
}

function parsed(text: string): any {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
