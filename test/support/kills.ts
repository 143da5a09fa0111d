// kill -9 at a random moment of a run, and what is on disk then: readable at once, and with an end after the next start.

import { Database } from "bun:sqlite";
import { expect } from "bun:test";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { type Life, left, nothing, openLife } from "./lives.ts";
import { omega } from "./omega.ts";
import { until } from "./processes.ts";
import { fixtureServer, manifest } from "./skills.ts";

const servers = ["good.mjs", "leaves-kin.mjs", "wraps-server.mjs"];
/** A call to it takes longer than any test. */
const slow = "slow-call.mjs";

/** Turns enough, and outputs to keep, so that most moments of the run are moments of writing. */
const call = (text: string) => ({ tool: "it/echo", arguments: { text } });
const turns = JSON.stringify([
  ...[1, 2, 3, 4, 5, 6].map((n) => ({
    text: `turn ${n} `,
    calls: [call(`${n}`), call(`${n} long `.repeat(2_000)), call(`ü${n}`)],
  })),
  { text: "done" },
]);

export type Killed = {
  server: string;
  /** How far it had come, by what was on disk when it was dead. */
  moment: "before the record" | "in the run" | "after its result" | "after its end";
  toldBy: "itself" | "the guardian" | "the next start" | "nobody";
};

/** `spanMs`: from the start of omega; or, `nearEnd`, from the moment in which the answer was there. */
export type Kill = { spanMs: number; nearEnd?: boolean; withGuardian?: boolean };

/** One run, killed at a random moment of a span; with its guardian, if that is wanted. */
export async function killOnce(kill: Kill): Promise<Killed> {
  const { spanMs, nearEnd = false, withGuardian = false } = kill;
  const server = pick(nearEnd ? servers : [...servers, slow]);
  using life = openLife(fixtureServer(server, { stopGrace: "100ms" }), {
    turns,
    skill: { limits: { toolOutput: "1KB" } },
  });
  const { child, result } = life.start();
  if (nearEnd) while (!hasAnswered(life) && child.exitCode === null) await Bun.sleep(0);
  const delayMs = Math.random() * spanMs;
  await Bun.sleep(delayMs);
  const isOver = child.exitCode !== null;
  if (withGuardian) for (const pid of life.omegas().filter((pid) => pid !== child.pid)) process.kill(pid, "SIGKILL");
  child.kill("SIGKILL");
  await result;
  const when = `${delayMs.toFixed(1)} ms after its ${nearEnd ? "answer" : "start"}`;
  const story = `${server} killed ${when}, with its guardian: ${withGuardian}`;

  const before = lookAt(life, story);
  expect(await until(() => life.omegas().length === 0, 20_000), story).toBe(true);
  const guarded = lookAt(life, story);
  await Bun.write(life.file("next/skill.yaml"), manifest({}, { model: "replay/turns.yaml" }));
  await Bun.write(life.file("next/turns.yaml"), "turns: [{ text: done }]");
  const next = await omega(["run", life.file("next"), "--json"], { env: { OMEGA_HOME: life.file("home") } });
  expect(next.code, next.stderr).toBe(0);
  const after = lookAt(life, story);

  // An entry that was made a moment before the kill, and not yet written: nothing had been started, and a later start, in
  // a minute, forgets it.
  const journal = life.journal().filter((run) => readFileSync(life.file(`home/journal/${run}`), "utf8") !== "");
  expect({ ...left(life), journal }, story).toEqual(nothing);
  expectOneEnd(life, after, story);
  const [run] = after.runs.filter((name) => name !== JSON.parse(next.stdout).run);
  const moment = isOver
    ? "after its end"
    : before.results.length > 0
      ? "after its result"
      : before.runs.length > 0
        ? "in the run"
        : "before the record";
  const toldBy =
    run === undefined
      ? "nobody"
      : before.results.length > 0
        ? "itself"
        : guarded.results.length > 0
          ? "the guardian"
          : "the next start";
  return { server, moment, toldBy };
}

function hasAnswered(life: Life): boolean {
  const [run] = entries(life);
  const file = life.file(`home/runs/${run}/events.jsonl`);
  return existsSync(file) && readFileSync(file, "utf8").includes('"type":"answer"');
}

const entries = (life: Life) => (existsSync(life.file("home/runs")) ? readdirSync(life.file("home/runs")) : []);

type Seen = { runs: string[]; results: any[] };

/** At any time: every line but perhaps the last is JSON, and a result is whole or not there. */
function lookAt(life: Life, story: string): Seen {
  const runs = entries(life);
  const results = runs.flatMap((run) => {
    const events = life.file(`home/runs/${run}/events.jsonl`);
    if (existsSync(events)) {
      for (const line of readFileSync(events, "utf8").split("\n").slice(0, -1)) {
        expect(() => JSON.parse(line), `${story}: ${line}`).not.toThrow();
      }
    }
    const result = life.file(`home/runs/${run}/result.json`);
    return existsSync(result) ? [JSON.parse(readFileSync(result, "utf8"))] : [];
  });
  return { runs, results };
}

/** Each run with a record has a result and a row, one of each, and they agree. */
function expectOneEnd(life: Life, { runs, results }: Seen, story: string): void {
  expect(results.map(({ run }) => run).sort(), story).toEqual(runs.sort());
  for (const { outcome, exitCode, endedAt, children } of results) {
    expect(["killed", "done"], story).toContain(outcome);
    expect(exitCode, story).toBe(outcome === "killed" ? null : 0);
    expect(Date.parse(endedAt), story).toBeGreaterThan(0);
    expect(children.survivors, story).toEqual([]);
  }
  using db = new Database(life.file("home/history.db"));
  expect(db.query("PRAGMA integrity_check").all(), story).toEqual([{ integrity_check: "ok" }]);
  const rows = results.map(({ run, outcome }) => ({ id: run, outcome })).sort((a, b) => (a.id < b.id ? -1 : 1));
  expect(db.query("SELECT id, outcome FROM runs ORDER BY id").all(), story).toEqual(rows);
}

function pick<T>(list: readonly T[]): T {
  return list[Math.floor(Math.random() * list.length)]!;
}
