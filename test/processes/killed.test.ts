// omega itself is killed: its guardian cleans up at once; without a guardian, the next omega does.

import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { type Life, left, nothing, openLife } from "../support/lives.ts";
import { omega } from "../support/omega.ts";
import { until } from "../support/processes.ts";
import { fixtureServer } from "../support/skills.ts";

const sweep = (life: Life, ...words: string[]) =>
  omega(["sweep", ...words], { env: { OMEGA_HOME: life.file("home") } });

/** A run in the middle of a call to a server that nothing polite can end, with kin in three hiding places. */
async function inTheMiddle() {
  const life = openLife(fixtureServer("stubborn-family.mjs"));
  const { child, result } = life.start();
  expect(await until(life.isReady, 20_000)).toBe(true);
  expect(life.kin().length).toBeGreaterThanOrEqual(7);
  const guardians = life.omegas().filter((pid) => pid !== child.pid);
  return { life, child, result, guardians };
}

async function killBoth() {
  const { life, child, result, guardians } = await inTheMiddle();
  for (const pid of guardians) process.kill(pid, "SIGKILL");
  child.kill("SIGKILL");
  await result;
  expect(life.omegas()).toEqual([]);
  expect(life.kin().length).toBeGreaterThanOrEqual(7);
  return life;
}

test("kill -9 in the middle of a call: the guardian ends the server and all its kin", async () => {
  const { life, child, result, guardians } = await inTheMiddle();
  using _ = life;
  expect(guardians).toHaveLength(1);
  const killed = performance.now();
  child.kill("SIGKILL");
  expect(await until(() => life.kin().length === 0, 20_000)).toBe(true);
  console.log(`      all gone ${Math.round(performance.now() - killed)} ms after kill -9`);
  expect((await result).signal).toBe("SIGKILL");
  expect(await until(() => life.omegas().length === 0, 5_000)).toBe(true);
  expect(left(life)).toEqual(nothing);
});

test("kill -9 of omega and of its guardian: the next run ends what is left, and says so", async () => {
  using dead = await killBoth();
  using next = openLife(fixtureServer("good.mjs"));
  const { code, stdout } = await next.start({ env: { OMEGA_HOME: dead.file("home") } }).result;
  expect(left(dead)).toEqual(nothing);
  expect(code).toBe(0);
  expect(JSON.parse(stdout).warnings).toContainEqual(
    expect.stringMatching(/^swept what run \S+ had left: \d+ processes$/),
  );
});

test("omega sweep ends what dead runs left, and then finds nothing", async () => {
  using life = await killBoth();
  const [run = ""] = life.journal();
  const { code, stdout } = await sweep(life, "--json");
  expect(left(life)).toEqual(nothing);
  expect({ code, result: JSON.parse(stdout) }).toMatchObject({ code: 0, result: { runs: [{ run, survivors: [] }] } });
  expect(JSON.parse(stdout).runs[0].killed).toBeGreaterThanOrEqual(7);
  expect(JSON.parse((await sweep(life, "--json")).stdout)).toEqual({ runs: [] });
  expect(await sweep(life, run)).toMatchObject({ code: 2, stderr: expect.stringContaining(`no run ${run}`) });
});

test("two sweeps at once do not disturb one another", async () => {
  using life = await killBoth();
  const results = await Promise.all([sweep(life), sweep(life), sweep(life)]);
  expect(results.map(({ code }) => code)).toEqual([0, 0, 0]);
  expect(left(life)).toEqual(nothing);
});

test("a sweep does not touch a living run", async () => {
  const { life, child, result } = await inTheMiddle();
  using _ = life;
  const [run = ""] = life.journal();
  expect(JSON.parse((await sweep(life, "--json")).stdout)).toEqual({ runs: [] });
  const refused = await sweep(life, run, "--orphan");
  expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining(`to end it: kill ${child.pid}`) });
  expect(life.kin().length).toBeGreaterThanOrEqual(7);
  child.kill("SIGINT");
  child.kill("SIGINT");
  expect((await result).code).toBe(130);
  expect(left(life)).toEqual(nothing);
});

test("the guardian knows neither the cookie nor a key", async () => {
  using life = openLife(fixtureServer("slow-call.mjs"));
  const { child, result } = life.start({ env: { OPENAI_API_KEY: "sk-canary-12345678" } });
  expect(await until(life.isReady, 20_000)).toBe(true);
  const [guardian] = life.omegas().filter((pid) => pid !== child.pid);
  const environment = readFileSync(`/proc/${guardian}/environ`, "latin1");
  child.kill("SIGTERM");
  expect(environment).toContain("PATH=");
  expect(environment).not.toContain("OMEGA_RUN");
  expect(environment).not.toContain("sk-canary");
  expect((await result).code).toBe(143);
  expect(left(life)).toEqual(nothing);
});
