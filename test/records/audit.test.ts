// Who did what and when: told before it is done, without the data.

import { afterEach, expect, setSystemTime, test } from "bun:test";
import * as v from "valibot";
import { OmegaError } from "../../src/errors.ts";
import { StdioServer } from "../../src/manifest/server-schema.ts";
import { type AuditOptions, openAudit } from "../../src/records/audit.ts";
import { openChildren } from "../../src/run/children.ts";
import { type ConnectOptions, connect } from "../../src/servers/connection.ts";
import { runId, temporaryHome } from "../support/homes.ts";
import { fixtureServer } from "../support/skills.ts";

afterEach(() => setSystemTime());

const secret = "hunter2".repeat(20);
const clean = (text: string) => text.replaceAll(secret, "‹TOKEN›");
type Home = ReturnType<typeof temporaryHome>;
const open = ({ store }: Home, more: Partial<AuditOptions> = {}) =>
  openAudit("r1", { clean, store, required: false, skill: "notes", ...more });
const lines = (home: Home): any[] => home.names("audit").flatMap((name) => home.lines(`audit/${name}`));

function argumentsTold(args: unknown): any {
  using home = temporaryHome();
  const audit = open(home);
  audit.begin({ server: "git", method: "tools/call", params: { name: "log", arguments: args } });
  audit.close();
  return lines(home)[0].arguments;
}

test("a request has a line before it and one after, for our eyes only", () => {
  using home = temporaryHome();
  const audit = open(home);
  const params = { name: "log", arguments: { since: "v1", deep: [{ n: 1, ok: true, none: null }] } };
  const end = audit.begin({ server: "git", method: "tools/call", params });
  const about = { run: "r1", skill: "notes", id: 1, server: "git", method: "tools/call", name: "log" };
  expect(lines(home)).toEqual([{ at: expect.any(String), phase: "begin", ...about, arguments: params.arguments }]);
  end("failed", "no answer");
  expect(lines(home)[1]).toEqual({
    ...{ at: expect.any(String), phase: "end", ...about },
    ...{ ms: expect.any(Number), how: "failed", reason: "no answer" },
  });
  audit.begin({ server: "git", method: "resources/read", params: { uri: "file:///a" } })("answered");
  expect(lines(home)[3]).toMatchObject({ id: 2, name: "file:///a", how: "answered" });
  audit.close();
  expect(home.modes().map(({ mode }) => mode)).toEqual([0o700, 0o700, 0o600]);
});

test("strings and keys are cut at 50 characters, after they were cleaned", () => {
  const long = "x".repeat(60);
  expect(argumentsTold({ a: "y".repeat(50), b: long, [long]: 1 })).toEqual({
    a: "y".repeat(50),
    b: `${"x".repeat(50)}…`,
    [`${"x".repeat(50)}…`]: 1,
  });
  expect(JSON.stringify(argumentsTold({ a: `the key: ${secret}`, [secret]: [secret] }))).not.toContain("hunter2");
});

test("a secret that was given as a number is none in the audit", () => {
  using home = temporaryHome();
  const audit = open(home, { clean: (text) => text.replaceAll("1234567890", "‹PIN›") });
  audit.begin({ server: "s", method: "tools/call", params: { name: "t", arguments: { pin: 1234567890, n: 7 } } });
  audit.close();
  expect(lines(home)[0].arguments).toEqual({ pin: "‹PIN›", n: 7 });
});

test("arguments of any size and depth make a short line, soon", () => {
  let deep: object = {};
  for (let depth = 0; depth < 10_000; depth++) deep = { deep };
  const wide = Object.fromEntries(Array.from({ length: 5_000 }, (_, index) => [`k${index}`, index]));
  const bush = Array.from({ length: 60 }, () => Array.from({ length: 60 }, () => Array(60).fill("leaf")));
  const started = performance.now();
  const told = argumentsTold({ huge: "x".repeat(10_000_000), deep, wide, bush });
  expect(performance.now() - started).toBeLessThan(500);
  expect(told.huge).toBe(`${"x".repeat(50)}…`);
  expect(Object.keys(told.wide)).toHaveLength(51);
  expect(JSON.stringify(told.deep)).toBe(`{"deep":{"deep":{"deep":{"deep":{"deep":"…"}}}}}`);
  expect(JSON.stringify(told).length).toBeLessThan(10_000);
});

test("odd arguments are told as they are", () => {
  expect(argumentsTold(undefined)).toBeNull();
  expect(argumentsTold("text")).toBe("text");
  expect(argumentsTold(JSON.parse('{"__proto__":{"a":1},"toString":null}'))).toEqual(
    JSON.parse('{"__proto__":{"a":1},"toString":null}'),
  );
});

test("a new day has a new file", () => {
  using home = temporaryHome();
  const audit = open(home);
  setSystemTime(new Date(2026, 8, 1, 23, 59, 59));
  const end = audit.begin({ server: "s", method: "tools/call", params: { name: "t" } });
  setSystemTime(new Date(2026, 8, 2, 0, 0, 1));
  end("answered");
  audit.close();
  expect(home.names("audit")).toEqual(["2026-09-01.jsonl", "2026-09-02.jsonl"]);
});

test("an audit that cannot be written is a warning; if it is required, an error before anything starts", () => {
  using home = temporaryHome({ audit: "a file" });
  const audit = open(home);
  audit.begin({ server: "s", method: "tools/call", params: { name: "t" } })("answered");
  expect(home.warnings).toHaveLength(1);
  let error: unknown;
  try {
    open(home, { required: true });
  } catch (thrown) {
    error = thrown;
  }
  expect(error).toBeInstanceOf(OmegaError);
  expect(error).toMatchObject({ code: "STORAGE_AUDIT", outcome: "storage", hint: expect.stringContaining("required") });
});

test("a required audit does not care that the record is broken", () => {
  using home = temporaryHome({ runs: "a file" });
  home.store.fail(new Error("broken"));
  const audit = open(home, { required: true });
  audit.begin({ server: "s", method: "tools/call", params: { name: "t" } });
  audit.close();
  expect(lines(home)).toHaveLength(1);
});

/** A connection to a fixture, with all that stands behind it. */
async function connected(fixture: string, more: Partial<ConnectOptions>) {
  const children = await openChildren(runId(), () => undefined);
  const { signal } = new AbortController();
  const server = { ...v.parse(StdioServer, fixtureServer(fixture)), name: "it", cwd: process.cwd() };
  const options = { children, cwd: process.cwd(), signal, hurry: signal, onState() {}, onWarning() {}, ...more };
  const connection = await connect(server, options).catch((error: unknown) => String(error));
  return {
    connection,
    signal,
    async [Symbol.asyncDispose]() {
      if (typeof connection !== "string") await connection[Symbol.asyncDispose]();
      await children[Symbol.asyncDispose]();
    },
  };
}

test("calls on a connection are in the audit, its own questions are not", async () => {
  using home = temporaryHome();
  const audit = open(home);
  await using it = await connected("good.mjs", { audit });
  if (typeof it.connection === "string") throw new Error(it.connection);
  await it.connection.call("echo", { text: "x" }, it.signal);
  await it.connection.request("resources/read", { uri: "a:b" }, it.signal).catch(() => undefined);
  await it.connection.request("ping", undefined, it.signal);
  audit.close();
  expect(lines(home).map(({ phase, method, name, how }) => [phase, method, name, how])).toEqual([
    ["begin", "tools/call", "echo", undefined],
    ["end", "tools/call", "echo", "answered"],
    ["begin", "resources/read", "a:b", undefined],
    ["end", "resources/read", "a:b", "failed"],
  ]);
  expect(lines(home)[3].reason).toContain("method not found");
});

test("without the audit that is required no call is sent: it is no result for the model", async () => {
  using _ = temporaryHome();
  const begin = () => {
    throw new OmegaError("STORAGE_AUDIT", "full");
  };
  await using it = await connected("good.mjs", { audit: { begin, close() {} } });
  if (typeof it.connection === "string") throw new Error(it.connection);
  await expect(it.connection.call("echo", { text: "x" }, it.signal)).rejects.toThrow("full");
});

test("what a server said on stderr is told once it has ended, also of one that did not start", async () => {
  using _ = temporaryHome();
  const said: string[] = [];
  {
    await using it = await connected("complains-and-exits.mjs", {
      onStderr: (...words) => said.push(words.join(": ")),
    });
    expect(it.connection).toBeString();
  }
  expect(said).toEqual(["it: config error: API_KEY is missing"]);
});
