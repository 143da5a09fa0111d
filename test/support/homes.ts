// A home of omega for one test, in this very process: `using home = temporaryHome()`.

import { mkdirSync, readdirSync, readFileSync, readlinkSync, statSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { dirname } from "node:path";
import { openStore } from "../../src/records/store.ts";
import { temporaryFolder } from "./temporary.ts";

export function temporaryHome(files: Record<string, string> = {}) {
  const before = process.env["OMEGA_HOME"];
  const folder = temporaryFolder();
  const home = folder.file("home");
  const file = (name: string) => `${home}/${name}`;
  const warnings: string[] = [];
  const write = (name: string, text: string) => {
    mkdirSync(dirname(file(name)), { recursive: true });
    writeFileSync(file(name), text);
  };
  for (const [name, text] of Object.entries(files)) write(name, text);
  process.env["OMEGA_HOME"] = home;
  return {
    path: home,
    file,
    write,
    warnings,
    store: openStore((message) => warnings.push(message)),
    read: (name: string) => readFileSync(file(name), "utf8"),
    names: (name: string) => readdirSync(file(name)).sort(),
    lines: (name: string): any[] =>
      readFileSync(file(name), "utf8")
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line)),
    json: (name: string): any => JSON.parse(readFileSync(file(name), "utf8")),
    /** Every file and folder with its mode. */
    modes: () =>
      [".", ...readdirSync(home, { recursive: true, encoding: "utf8" })].map((name) => {
        const stat = statSync(file(name));
        return { name, isFolder: stat.isDirectory(), mode: stat.mode & 0o777 };
      }),
    [Symbol.dispose]() {
      if (before === undefined) delete process.env["OMEGA_HOME"];
      else process.env["OMEGA_HOME"] = before;
      folder[Symbol.dispose]();
    },
  };
}

/** The first line of a journal entry whose omega is dead: a pid that was in use a moment ago. */
export function deadOwner({ boot = bootId() } = {}): string {
  const { pid } = Bun.spawnSync(["true"]);
  return `owner ${pid} 1 ${boot} ${Date.now()} ${hostname()} ${readlinkSync("/proc/self/ns/pid")}\n`;
}

const bootId = () => readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();

/** Envelopes as a run makes them, as far as the records look. */
export const envelopeOf = (run: string, more: object = {}) => ({
  run,
  skill: "notes",
  model: "replay/turns.yaml",
  outcome: "done",
  exitCode: 0,
  code: null,
  reason: null,
  usage: { input: 10, output: 2, cacheRead: 3, cacheWrite: 4, reasoning: 0 },
  cost: 0.25,
  turns: 1,
  toolCalls: 2,
  startedAt: "2026-09-01T06:00:00.000Z",
  endedAt: "2026-09-01T06:01:00.000Z",
  ...more,
});

let runs = 0;
/** A run of now, or of some days ago. */
export function runId(daysAgo = 0): string {
  const date = new Date(Date.now() - daysAgo * 86_400_000).toISOString();
  const word = (++runs).toString(16).padStart(8, "0");
  return `${date.slice(0, 19).replace(/[-:]/g, "").replace("T", "-")}-${word}`;
}
