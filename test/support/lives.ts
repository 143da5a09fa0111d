// A run whose every trace can be found: servers and their kin by a mark in their environment, omega and its guardian by the
// home they were given, files by their folders. Told by /proc and the file system alone, never by omega.

import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { type Options, startOmega } from "./omega.ts";
import { aliveWith } from "./processes.ts";
import { manifest } from "./skills.ts";
import { temporaryFolder } from "./temporary.ts";

const oneCall = "[{ calls: [{ tool: it/echo, arguments: { text: x } }] }, { text: done }]";

/** A skill with one server, `it`, whose tool `echo` is called once, unless other turns are given. */
export function openLife(server: object, { turns = oneCall, skill = {} }: { turns?: string; skill?: object } = {}) {
  const word = crypto.randomUUID();
  const folder = temporaryFolder();
  const { file } = folder;
  const env = { MARK: word, READY: file("ready"), FLUSHED: file("flushed") };
  const entries = (name: string) => (existsSync(file(name)) ? readdirSync(file(name)) : []);
  mkdirSync(file("tmp"));
  mkdirSync(file("skill"));
  writeFileSync(
    file("skill/skill.yaml"),
    manifest({ it: { ...server, env } }, { model: "replay/turns.yaml", ...skill }),
  );
  writeFileSync(file("skill/turns.yaml"), `turns: ${turns}`);
  return {
    ...folder,
    start: (options: Options = {}) =>
      startOmega(["run", file("skill"), "--json"], {
        ...options,
        env: { OMEGA_HOME: file("home"), TMPDIR: file("tmp"), ...options.env },
      }),
    isReady: () => existsSync(file("ready")),
    /** Servers and what they have started. */
    kin: () => aliveWith(`MARK=${word}`),
    /** omega, its guardian, a sweep. */
    omegas: () => aliveWith(`OMEGA_HOME=${file("home")}`),
    journal: () => entries("home/journal"),
    temporaryFiles: () => entries("tmp"),
  };
}

export type Life = ReturnType<typeof openLife>;
export const left = (life: Life) => ({
  kin: life.kin(),
  omegas: life.omegas(),
  journal: life.journal(),
  temporaryFiles: life.temporaryFiles(),
});
export const nothing = { kin: [], omegas: [], journal: [], temporaryFiles: [] };
