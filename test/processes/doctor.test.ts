import { expect, test } from "bun:test";
import { omega } from "../support/omega.ts";
import { temporaryFolder } from "../support/temporary.ts";

const states = (stdout: string) =>
  Object.fromEntries(JSON.parse(stdout).findings.map(({ name, state }: any) => [name, state]));

test("omega doctor finds this machine fit, and leaves nothing", async () => {
  using home = temporaryFolder();
  const { code, stdout } = await omega(["doctor", "--json"], { env: { OMEGA_HOME: home.path } });
  expect(code).toBe(0);
  expect(states(stdout)).toEqual({
    omega: "ok",
    "/proc": "ok",
    guardian: "ok",
    journal: "ok",
    children: "ok",
    node: "ok",
    npx: "ok",
  });
  expect([...new Bun.Glob("journal/*").scanSync(home.path)]).toEqual([]);
});

test("omega doctor tells of a home that cannot be written and of programs that are not there", async () => {
  const { code, stdout } = await omega(["doctor", "--json"], {
    env: { OMEGA_HOME: "/proc/no-such-place", PATH: "/none" },
  });
  expect(code).toBe(0);
  expect(states(stdout)).toMatchObject({ journal: "note", children: "ok", npx: "note" });
  const text = await omega(["doctor"], { env: { OMEGA_HOME: "/proc/no-such-place", PATH: "/none" } });
  expect(text.stdout).toMatch(/^note +npx: not on PATH/m);
});
