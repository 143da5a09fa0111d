// Signals at random moments of a run, from its start to its end: however it is hit, it ends with the right code, lets go of
// its output, and leaves nothing.

import { expect } from "bun:test";
import { type Life, left, nothing, openLife } from "./lives.ts";
import { omega, type Result } from "./omega.ts";
import { until } from "./processes.ts";
import { fixtureServer } from "./skills.ts";

const exitCodes = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 };
export type StormSignal = keyof typeof exitCodes | "SIGKILL";

const servers = ["good.mjs", "slow-call.mjs", "leaves-kin.mjs", "stubborn-family.mjs", "wraps-server.mjs"];
const pick = <T>(list: readonly T[]): T => list[Math.floor(Math.random() * list.length)]!;

/** `ended`: the exit code or the signal. `goneMs`: from the hit until nothing was alive. */
export type Strike = { server: string; signal: StormSignal; ended: string; goneMs: number; neededSweep: boolean };

/** One run, hit once within its first `spanMs`. */
export async function strike(signals: readonly StormSignal[], spanMs: number): Promise<Strike> {
  const [server, signal, delayMs] = [pick(servers), pick(signals), Math.random() * spanMs];
  using life = openLife(fixtureServer(server, { stopGrace: "100ms" }));
  const { child, result } = life.start();
  await Bun.sleep(delayMs);
  const hit = performance.now();
  child.kill(signal);
  const end = await result;
  const story = `${server} hit by ${signal} after ${delayMs.toFixed(1)} ms: ${JSON.stringify(end)}`;
  // Only kill -9 leaves the work to the guardian, or, before there is one, to the next omega.
  const neededSweep = signal === "SIGKILL" && (await waitForGuardian(life));
  const goneMs = performance.now() - hit;
  expect(left(life), story).toEqual(nothing);
  if (signal !== "SIGKILL") checkEnd(end, signal, story);
  return { server, signal, ended: end.signal ?? String(end.code), goneMs, neededSweep };
}

async function waitForGuardian(life: Life): Promise<boolean> {
  await until(() => life.omegas().length === 0, 20_000);
  if (life.kin().length + life.journal().length === 0) return false;
  await omega(["sweep"], { env: { OMEGA_HOME: life.file("home") } });
  return true;
}

/** Hit before omega listens: the kernel's way. After that: interrupted. After its end: its own code. */
function checkEnd({ code, signal, stdout }: Result, sent: keyof typeof exitCodes, story: string): void {
  if (code === null) {
    expect({ signal, stdout }, story).toEqual({ signal: sent, stdout: "" });
    return;
  }
  const { outcome, exitCode, children } = JSON.parse(stdout);
  expect({ outcome, code, exitCode }, story).toEqual(
    outcome === "done"
      ? { outcome, code: 0, exitCode: 0 }
      : { outcome: "interrupted", code: exitCodes[sent], exitCode: exitCodes[sent] },
  );
  expect(children.survivors, story).toEqual([]);
}
