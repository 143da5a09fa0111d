// How a run ends its servers: politely, then not, and never without looking for what they left.

import { expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { left, nothing, openLife } from "../support/lives.ts";
import { isAlive, until } from "../support/processes.ts";
import { fixtureServer } from "../support/skills.ts";

async function liveAndEnd(server: object) {
  using life = openLife(server);
  const { code, stdout, stderr } = await life.start().result;
  const rest = left(life);
  expect(rest).toEqual(nothing);
  expect(code, stderr).toBe(0);
  const read = (name: string) => (existsSync(life.file(name)) ? readFileSync(life.file(name), "utf8") : undefined);
  return { ...JSON.parse(stdout), ready: read("ready"), flushed: read("flushed") };
}

test("a polite server costs milliseconds and counts as exited", async () => {
  const { children, endedAt, startedAt } = await liveAndEnd(fixtureServer("good.mjs"));
  expect(children).toEqual({ started: 1, exited: 1, killed: 0, survivors: [], unseen: expect.any(Number) });
  expect(Date.parse(endedAt) - Date.parse(startedAt)).toBeLessThan(1_500);
});

test("a server that needs a second and a half to leave is given it", async () => {
  const { children, flushed } = await liveAndEnd(fixtureServer("leaves-slowly.mjs"));
  expect({ children, flushed }).toMatchObject({ children: { exited: 1, killed: 0 }, flushed: "" });
});

test("a server that needs more than its stopGrace is not", async () => {
  const { children, flushed } = await liveAndEnd(fixtureServer("leaves-slowly.mjs", { stopGrace: "100ms" }));
  expect({ children, flushed }).toMatchObject({ children: { exited: 0, killed: 1 }, flushed: undefined });
});

const families: [string, object, object][] = [
  ["a wrapper leaves with its server", fixtureServer("wraps-server.mjs"), { exited: 1, killed: 0 }],
  ["kin in the group, in its own session, and orphaned is ended", fixtureServer("leaves-kin.mjs"), { exited: 1 }],
  ["fifty children are ended, and counted", fixtureServer("forks-fifty.mjs"), { exited: 1, killed: 50 }],
  ["kin that holds stdout and stderr open is ended", fixtureServer("kin-holds-pipes.mjs"), { exited: 1, killed: 1 }],
  ["what is forked while leaving is ended", fixtureServer("forks-when-told-to-leave.mjs"), { exited: 1 }],
];
for (const [what, server, counts] of families) {
  test(`when its server leaves: ${what}`, async () => {
    const { children } = await liveAndEnd(server);
    expect(children).toMatchObject({ started: 1, survivors: [], ...counts });
  });
}

test("kin without an environment is ended with the group of its server", async () => {
  const { children, ready } = await liveAndEnd(fixtureServer("kin-without-environment.mjs"));
  expect(children).toMatchObject({ exited: 1, killed: 1, survivors: [] });
  expect(isAlive(Number(ready))).toBe(false);
});

test("kin without an environment that moved to another group is ended with the session of its server", async () => {
  const { children, ready } = await liveAndEnd(fixtureServer("kin-in-another-group.mjs"));
  expect(children).toMatchObject({ exited: 1, survivors: [] });
  expect(children.killed).toBeGreaterThan(0);
  expect(isAlive(Number(ready))).toBe(false);
});

test("a server that does not start is started and killed in the counts, with all its kin", async () => {
  using life = openLife(fixtureServer("starts-for-ever.mjs", { startupTimeout: "300ms", stopGrace: "100ms" }));
  const { code, stdout } = await life.start().result;
  expect(left(life)).toEqual(nothing);
  expect(code).toBe(3);
  expect(JSON.parse(stdout).children).toMatchObject({ started: 1, exited: 0, killed: 1, survivors: [] });
});

test("a command that does not exist leaves no guardian and no journal", async () => {
  using life = openLife({ command: "no-such-program-here" });
  const { code, stdout } = await life.start().result;
  expect(left(life)).toEqual(nothing);
  expect(code).toBe(3);
  expect(JSON.parse(stdout).children).toEqual({ started: 0, exited: 0, killed: 0, survivors: [], unseen: 0 });
});

test("a signal while a server is starting ends it too", async () => {
  using life = openLife(fixtureServer("starts-for-ever.mjs", { stopGrace: "100ms" }));
  const { child, result } = life.start();
  expect(await until(life.isReady, 20_000)).toBe(true);
  child.kill("SIGTERM");
  expect((await result).code).toBe(143);
  expect(left(life)).toEqual(nothing);
});

test("the first SIGINT waits for a stubborn server, the second does not", async () => {
  using life = openLife(fixtureServer("stubborn-family.mjs", { stopGrace: "60s" }));
  const { child, result } = life.start();
  expect(await until(life.isReady, 20_000)).toBe(true);
  child.kill("SIGINT");
  await Bun.sleep(300);
  expect(child.exitCode).toBe(null);
  const second = performance.now();
  child.kill("SIGINT");
  const { code, stdout } = await result;
  expect(performance.now() - second).toBeLessThan(5_000);
  expect(left(life)).toEqual(nothing);
  expect(code).toBe(130);
  const { children } = JSON.parse(stdout);
  expect(children).toMatchObject({ started: 1, exited: 0, survivors: [] });
  // Itself, and three shells with a sleep each.
  expect(children.killed).toBeGreaterThanOrEqual(7);
});

test("kin that hops from session to session is caught", async () => {
  using life = openLife(fixtureServer("kin-hops.mjs"));
  const { code } = await life.start().result;
  const hops = () => readFileSync(life.file("ready"), "utf8").split("\n").length;
  const count = hops();
  await Bun.sleep(200);
  expect({ code, count: hops() }).toEqual({ code: 0, count });
  expect(count).toBeLessThan(1_000);
  expect(left(life)).toEqual(nothing);
});
