// omega as the first process of a container, made with unshare (needs root), and as a user who may not read everything.

import { expect, test } from "bun:test";
import { spawn } from "node:child_process";
import { chmodSync } from "node:fs";
import { left, nothing, openLife } from "../support/lives.ts";
import { omega } from "../support/omega.ts";
import { until } from "../support/processes.ts";
import { fixtureServer } from "../support/skills.ts";

const container = ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc"];
/** In a pid namespace of its own, beside a shell that reaps, and with the /proc of the outside. */
const foreignProc = ["unshare", "--pid", "--fork", "--kill-child", "sh", "-c", '"$@"; exit $?', "sh"];

async function inTheMiddle(fixture: string) {
  const life = openLife(fixtureServer(fixture, { stopGrace: "100ms" }));
  const { child, result } = life.start({ under: container });
  expect(await until(life.isReady, 20_000)).toBe(true);
  const [inner = 0] = life.omegas().filter((pid) => pid !== child.pid);
  return { life, result, inner };
}

test("as PID 1, SIGTERM ends it with 143, without a guardian, and nothing is left", async () => {
  const { life, result, inner } = await inTheMiddle("stubborn-family.mjs");
  using _ = life;
  expect(life.omegas()).toHaveLength(2);
  process.kill(inner, "SIGTERM");
  const { code, stdout } = await result;
  expect(code).toBe(143);
  expect(JSON.parse(stdout)).toMatchObject({ outcome: "interrupted", children: { survivors: [] } });
  expect(left(life)).toEqual(nothing);
});

test("as PID 1, orphans that nobody reaps count as gone", async () => {
  using life = openLife(fixtureServer("leaves-kin.mjs"));
  const { code, stdout } = await life.start({ under: container }).result;
  expect(code).toBe(0);
  expect(JSON.parse(stdout).children).toMatchObject({ started: 1, exited: 1, survivors: [] });
  expect(left(life)).toEqual(nothing);
});

test("as PID 1, kill -9 takes everything along", async () => {
  const { life, result, inner } = await inTheMiddle("stubborn-family.mjs");
  using _ = life;
  process.kill(inner, "SIGKILL");
  await result;
  expect(await until(() => life.kin().length === 0)).toBe(true);
});

test("a sweep outside does not touch a living run in a container that shares the home", async () => {
  const { life, result, inner } = await inTheMiddle("stubborn-family.mjs");
  using _ = life;
  const { stdout } = await omega(["sweep", "--json"], { env: { OMEGA_HOME: life.file("home") } });
  expect(JSON.parse(stdout)).toEqual({ runs: [] });
  expect(life.kin().length).toBeGreaterThanOrEqual(7);
  process.kill(inner, "SIGTERM");
  expect((await result).code).toBe(143);
});

test("a /proc of another namespace is not believed: the run works and harms nobody", async () => {
  using life = openLife(fixtureServer("forks-fifty.mjs"));
  const { code, stdout } = await life.start({ under: foreignProc }).result;
  expect(code).toBe(0);
  expect(JSON.parse(stdout).children).toMatchObject({ started: 1, exited: 1, survivors: [] });
  expect(await until(() => life.kin().length === 0)).toBe(true);
});

test("omega doctor says what it means to be PID 1", async () => {
  const { code, stdout } = await omega(["doctor"], { under: container });
  expect(code).toBe(0);
  expect(stdout).toMatch(/^note +omega: .*--init/m);
  expect(stdout).toMatch(/^note +guardian: none, and none is needed/m);
});

test("what another user's processes hide is counted as unseen", async () => {
  using life = openLife(fixtureServer("slow-call.mjs"));
  chmodSync(life.path, 0o777);
  const nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"];
  const { child, result } = life.start({ under: nobody });
  expect(await until(life.isReady, 20_000)).toBe(true);
  const root = spawn("sleep", ["60"], { stdio: "ignore" });
  child.kill("SIGTERM");
  const { code, stdout } = await result;
  root.kill("SIGKILL");
  expect(code).toBe(143);
  const { unseen, survivors } = JSON.parse(stdout).children;
  expect(survivors).toEqual([]);
  expect(unseen).toBeGreaterThanOrEqual(1);
});
