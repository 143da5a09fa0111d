// Ends that come from outside of a run: another run, a signal, a place that cannot be written to, kill -9.

import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { omega, startOmega } from "../support/omega.ts";
import { aliveWith, until } from "../support/processes.ts";
import { call, echo, nothingBegan, scripted } from "../support/scripted.ts";
import { fixtureServer } from "../support/skills.ts";

/** A first run that stays in a call until it is told to end. */
async function held(overlap: string) {
  const life = await scripted({
    skill: { overlap },
    servers: { s: fixtureServer("slow-call.mjs") },
    turns: (index) => (index === 0 ? { calls: [echo("slow")] } : { text: "Mine." }),
  });
  const first = life.start(["--json"]);
  expect(await life.isReady()).toBe(true);
  return { life, first };
}

for (const [overlap, exit, outcome] of [
  ["skip", 0, "skipped"],
  ["fail", 75, "unavailable"],
] as const) {
  test(`overlap: ${overlap} while another run is on is ${outcome}/overlap, ${exit}, and starts nothing`, async () => {
    const { life, first } = await held(overlap);
    await using _ = life;
    const { code, json } = await life.run();
    expect(code).toBe(exit);
    expect(json).toMatchObject({ outcome, code: "overlap", retryable: exit !== 0, ...nothingBegan });
    first.child.kill("SIGTERM");
    expect((await first.result).code).toBe(143);
    expect(life.model.requests).toHaveLength(1);
    expect((await life.run()).json).toMatchObject({ outcome: "done", text: "Mine." });
  });
}

test("overlap: wait begins when the other run has ended, even by kill -9", async () => {
  const { life, first } = await held("wait");
  await using _ = life;
  const second = life.start(["--json"]);
  expect(await until(() => second.said().includes("waiting for its end"), 20_000)).toBe(true);
  first.child.kill("SIGKILL");
  const { code, json } = await second.result;
  expect(code).toBe(0);
  expect(json).toMatchObject({ outcome: "done", text: "Mine." });
  await first.result;
});

test("overlap: wait lasts no longer than a run may take, and a signal ends it", async () => {
  const { life, first } = await held("wait");
  await using _ = life;
  const { code, json } = await life.run(["--limit", "time=300ms"]);
  expect(code).toBe(75);
  expect(json).toMatchObject({ outcome: "unavailable", code: "overlap", ...nothingBegan });
  const second = life.start(["--json"]);
  expect(await until(() => second.said().includes("waiting for its end"), 20_000)).toBe(true);
  second.child.kill("SIGINT");
  expect((await second.result).json).toMatchObject({ outcome: "interrupted", exitCode: 130, ...nothingBegan });
  first.child.kill("SIGTERM");
  expect((await first.result).code).toBe(143);
});

for (const [signal, exit] of [
  ["SIGHUP", 129],
  ["SIGINT", 130],
  ["SIGTERM", 143],
] as const) {
  test(`${signal} is interrupted/signal, ${exit}, even after a lost server`, async () => {
    await using life = await scripted({
      wire: "google",
      servers: { s: fixtureServer("slow-call.mjs"), mortal: fixtureServer("dies-in-call.mjs") },
      turns: [{ calls: [call("mortal/echo", { text: "die" })] }, { calls: [echo("slow")] }],
    });
    const { child, result } = life.start(["--json"]);
    expect(await life.isReady()).toBe(true);
    child.kill(signal);
    const { code, json } = await result;
    expect(code).toBe(exit);
    expect(json).toMatchObject({ outcome: "interrupted", code: "signal", reason: `interrupted by ${signal}` });
    expect(JSON.parse(readFileSync(`${json.record}/result.json`, "utf8"))).toMatchObject({
      outcome: "interrupted",
      exitCode: exit,
    });
  });
}

test("audit: required without a place for it is storage/audit, 74, before anything is started", async () => {
  await using life = await scripted({
    skill: { audit: "required" },
    turns: [],
    files: { "home/audit": "a regular file" },
  });
  const { code, json } = await life.run();
  expect(code).toBe(74);
  expect(json).toMatchObject({ outcome: "storage", code: "audit", ...nothingBegan });
  expect(life.model.requests).toEqual([]);
});

for (const told of ["its guardian", "omega sweep"]) {
  test(`a run that is killed by kill -9 is told as killed by ${told}, in its record and in the history`, async () => {
    await using life = await scripted({
      wire: "anthropic",
      servers: { s: fixtureServer("slow-call.mjs") },
      turns: [{ calls: [call("finish", {}), echo("slow")] }],
    });
    const { child, result } = life.start(["--json"]);
    expect(await life.isReady()).toBe(true);
    const [run = ""] = life.names("home/runs");
    // A call begins while the answer still goes on.
    expect(await until(() => life.read(`home/runs/${run}/events.jsonl`).includes('"type":"usage"'), 20_000)).toBe(true);
    if (told === "omega sweep") {
      const guardians = aliveWith(`OMEGA_HOME=${life.file("home")}`).filter((pid) => pid !== child.pid);
      for (const pid of guardians) process.kill(pid, "SIGKILL");
    }
    child.kill("SIGKILL");
    expect(await result).toMatchObject({ code: null, signal: "SIGKILL", stdout: "" });
    if (told === "omega sweep") await omega(["sweep"], { env: { OMEGA_HOME: life.file("home") } });
    expect(await until(() => life.names(`home/runs/${run}`).includes("result.json"), 20_000)).toBe(true);
    expect(await until(() => life.names("home/journal").length === 0, 20_000)).toBe(true);
    expect(life.alive()).toEqual([]);
    expect(JSON.parse(life.read(`home/runs/${run}/result.json`))).toMatchObject({
      ...{ version: 1, run, skill: "work", model: "anthropic/m", outcome: "killed", exitCode: null, code: null },
      ...{ retryable: true, text: null, turns: 1, toolCalls: 1, usage: { input: 60, output: 10 } },
      children: { started: 1, survivors: [] },
    });
    using history = new Database(life.file("home/history.db"), { readonly: true });
    expect(history.query("SELECT id, skill, outcome, exitCode, turns, toolCalls FROM runs").all()).toEqual([
      { id: run, skill: "work", outcome: "killed", exitCode: null, turns: 1, toolCalls: 1 },
    ]);
  });
}

for (const words of [
  ["run", "skill", "-"],
  ["run", "skill", "--input-file", "-"],
  ["call", "skill", "echo", "-"],
]) {
  test(`omega ${words.join(" ")} waits for a stdin that never ends, and a signal ends the wait`, async () => {
    await using life = await scripted({ turns: [] });
    const { child, result } = startOmega(words, {
      cwd: life.path,
      env: { OMEGA_HOME: life.file("home") },
      under: ["sh", "-c", 'mkfifo open; exec "$@" <> open', "sh"],
    });
    expect(await until(() => catchesInterrupt(child.pid ?? 0), 20_000)).toBe(true);
    child.kill("SIGINT");
    expect(await result).toMatchObject({ code: 130, stderr: expect.stringContaining("interrupted by SIGINT") });
  });
}

/** The shell before it may do so too. */
function catchesInterrupt(pid: number): boolean {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  const caught = /SigCgt:\s*(\w+)/.exec(status)?.[1] ?? "0";
  return !/^Name:\s*sh$/m.test(status) && (BigInt(`0x${caught}`) & 2n) !== 0n;
}
