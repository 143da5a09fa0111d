// What the journal says is believed only as far as it can be proved: whose the run is, and that its omega is dead.

import { expect, test } from "bun:test";
import { type ChildProcess, spawn } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { hostname } from "node:os";
import { left, nothing, openLife } from "../support/lives.ts";
import { omega } from "../support/omega.ts";
import { isAlive, until } from "../support/processes.ts";
import { fixtureServer } from "../support/skills.ts";
import { temporaryFolder } from "../support/temporary.ts";

const boot = readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
const host = `${hostname()} ${readlinkSync("/proc/self/ns/pid")}`;
const startTime = (pid: number) => {
  const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
  return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19];
};
/** A pid that was in use a moment ago. */
const deadPid = () => Bun.spawnSync(["true"]).pid;
const deadOwner = () => `owner ${deadPid()} 1 ${boot} ${Date.now()} ${host}\n`;

function sleeper(env: Record<string, string> = {}): ChildProcess & Disposable {
  const child = spawn("/bin/sleep", ["60"], { detached: true, stdio: "ignore", env });
  return Object.assign(child, { [Symbol.dispose]: () => void child.kill("SIGKILL") });
}

async function sweep(files: Record<string, string>, ...words: string[]) {
  const entries = Object.entries(files).map(([run, text]) => [`journal/${run}`, text]);
  using home = temporaryFolder(Object.fromEntries(entries));
  const { code, stdout, stderr } = await omega(["sweep", "--json", ...words], { env: { OMEGA_HOME: home.path } });
  const rows = existsSync(home.file("journal")) ? readdirSync(home.file("journal")) : [];
  return { code, stderr, rows, runs: code === 0 ? JSON.parse(stdout).runs : undefined };
}

test("a group number that is somebody else's by now is not touched", async () => {
  using stranger = sleeper();
  const { runs, rows } = await sweep({ r1: `${deadOwner()}group ${stranger.pid} 1\n` });
  expect(runs).toMatchObject([{ run: "r1", killed: 0, survivors: [] }]);
  expect(rows).toEqual([]);
  expect(isAlive(stranger.pid!)).toBe(true);
});

test("a noted leader without an environment is known by its start time, and ended", async () => {
  using server = sleeper();
  const { runs } = await sweep({ r2: `${deadOwner()}group ${server.pid} ${startTime(server.pid!)}\n` });
  expect(runs).toMatchObject([{ run: "r2", killed: 1 }]);
  expect(await until(() => !isAlive(server.pid!))).toBe(true);
});

test("what carries the cookie of a dead run is ended, what carries another's is not", async () => {
  using ours = sleeper({ OMEGA_RUN: "r3" });
  using others = sleeper({ OMEGA_RUN: "r33", NOT_OMEGA_RUN: "r3" });
  expect((await sweep({ r3: deadOwner() })).runs).toMatchObject([{ run: "r3", killed: 1 }]);
  expect(await until(() => !isAlive(ours.pid!))).toBe(true);
  expect(isAlive(others.pid!)).toBe(true);
});

test("a run whose pid is somebody else's by now is dead; one with the same start time is alive", async () => {
  const owner = (start: string | undefined) => `owner ${process.pid} ${start} ${boot} ${Date.now()} ${host}\n`;
  const { runs, rows } = await sweep({ dead: owner("1"), alive: owner(startTime(process.pid)) });
  expect(runs).toMatchObject([{ run: "dead" }]);
  expect(rows).toEqual(["alive"]);
});

test("a run of an earlier boot is forgotten, one of another host or container is left alone", async () => {
  using server = sleeper({ OMEGA_RUN: "container" });
  const { runs, rows } = await sweep({
    earlier: `owner 1 1 another-boot ${Date.now()} ${host}\n`,
    elsewhere: `owner ${deadPid()} 1 ${boot} ${Date.now()} other-host pid:[1]\n`,
    container: `owner ${deadPid()} 1 ${boot} ${Date.now()} ${hostname()} pid:[1]\n`,
  });
  expect({ runs, rows: rows.sort() }).toEqual({ runs: [], rows: ["container", "elsewhere"] });
  expect(isAlive(server.pid!)).toBe(true);
});

test("torn and foreign lines are skipped, what is whole counts", async () => {
  using server = sleeper();
  const group = `group ${server.pid} ${startTime(server.pid!)}`;
  expect((await sweep({ r4: `${deadOwner()}gro\n\0\0\n${group}\ngroup 12` })).runs).toMatchObject([{ killed: 1 }]);
  using other = sleeper();
  const torn = `group ${other.pid} ${startTime(other.pid!)}`;
  expect((await sweep({ r5: `${deadOwner()}${torn}` })).runs).toMatchObject([{ killed: 0 }]);
  expect(isAlive(other.pid!)).toBe(true);
});

test("a file without an owner is left while it may be being written, and forgotten after that", async () => {
  expect(await sweep({ fresh: "", torn: "owner 12" })).toMatchObject({ code: 0, runs: [], rows: ["fresh", "torn"] });
  using home = temporaryFolder({ "journal/old": "own" });
  utimesSync(home.file("journal/old"), 1, 1);
  await omega(["sweep"], { env: { OMEGA_HOME: home.path } });
  expect(readdirSync(home.file("journal"))).toEqual([]);
});

test("a run that the journal does not know is swept by its cookie, if its omega is said to be dead", async () => {
  using server = sleeper({ OMEGA_RUN: "r6" });
  expect(await sweep({}, "r6")).toMatchObject({ code: 2, stderr: expect.stringContaining("--orphan") });
  expect(await sweep({}, "../r6")).toMatchObject({ code: 2 });
  expect(isAlive(server.pid!)).toBe(true);
  expect((await sweep({}, "r6", "--orphan")).runs).toMatchObject([{ run: "r6", killed: 1 }]);
});

test("the journal is for our eyes only, and has a row as long as the run lasts", async () => {
  using life = openLife(fixtureServer("slow-call.mjs"));
  const { child, result } = life.start();
  expect(await until(life.isReady, 20_000)).toBe(true);
  const [run = ""] = life.journal();
  const modes = ["home", "home/journal", `home/journal/${run}`].map((name) => statSync(life.file(name)).mode & 0o777);
  const text = readFileSync(life.file(`home/journal/${run}`), "utf8");
  child.kill("SIGTERM");
  await result;
  expect(modes).toEqual([0o700, 0o700, 0o600]);
  expect(text).toMatch(new RegExp(`^owner ${child.pid} \\d+ ${boot} \\d+ .+\ngroup \\d+ \\d+\n$`));
  expect(left(life)).toEqual(nothing);
});

test("without a place for the journal the run goes on, with one warning, and kill -9 still leaves nothing", async () => {
  using life = openLife(fixtureServer("stubborn-family.mjs"));
  const env = { OMEGA_HOME: "/proc/no-such-place" };
  const { child, result } = life.start({ env });
  expect(await until(life.isReady, 20_000)).toBe(true);
  child.kill("SIGKILL");
  expect(await until(() => life.kin().length === 0, 20_000)).toBe(true);
  expect((await result).stderr.match(/warning: cannot write to /g)).toHaveLength(1);

  using good = openLife(fixtureServer("good.mjs"));
  const { code, stdout } = await good.start({ env }).result;
  expect(code).toBe(0);
  expect(JSON.parse(stdout).warnings).toEqual([
    expect.anything(),
    expect.stringMatching(/^cannot write to \/proc\/no-such-place .*this run leaves no record, and only the guardian/),
  ]);
  expect(left(good)).toEqual(nothing);
});

test("what is no file of omega's in the journal stops neither a sweep nor the noting of a run", async () => {
  using life = openLife(fixtureServer("good.mjs"));
  mkdirSync(life.file("home/journal/folder"), { recursive: true });
  Bun.spawnSync(["mkfifo", life.file("home/journal/pipe")]);
  writeFileSync(life.file("home/journal/huge"), "");
  truncateSync(life.file("home/journal/huge"), 5_000_000_000);
  utimesSync(life.file("home/journal/huge"), 1, 1);
  const { code, stdout } = await life.start().result;
  expect(code).toBe(0);
  expect(JSON.parse(stdout).warnings.join()).not.toContain("journal");
  expect(life.journal().sort()).toEqual(["folder", "huge", "pipe"]);
  for (const run of life.journal()) {
    const sweeping = await omega(["sweep", run], { env: { OMEGA_HOME: life.file("home") } });
    expect(sweeping).toMatchObject({ code: 2, stderr: expect.stringContaining("no entry of the journal") });
  }
});
