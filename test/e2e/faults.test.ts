// What goes wrong around a run, through the whole of omega: each fault has its one outcome, and the record says the same.

import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { keptIn } from "../support/kept.ts";
import {
  type ModelServer,
  modelServer,
  type Script,
  type ScriptedTurn,
  type WireName,
} from "../support/model-server.ts";
import { omega, type Result } from "../support/omega.ts";
import { aliveWith } from "../support/processes.ts";
import { fixtureServer, manifest } from "../support/skills.ts";
import { temporaryFolder } from "../support/temporary.ts";

const wires: WireName[] = ["openai-chat", "openai", "anthropic", "google"];

type Played = Result & {
  model: ModelServer;
  envelope: any;
  /** What result.json says; undefined if there is none. */
  recorded: any;
  events: any[];
  history: any[];
  left: number[];
};

type Setting = { server?: object; skill?: object; wire?: WireName; prepare?(home: string): void; flags?: string[] };

async function play(script: Script, { server, skill, wire = "openai-chat", prepare, flags = [] }: Setting = {}) {
  const model = await modelServer(script);
  const mark = crypto.randomUUID();
  const folder = temporaryFolder();
  const home = folder.file("home");
  const declared: any = { ...fixtureServer("good.mjs"), ...server };
  const servers = { s: { ...declared, env: { ...declared.env, MARK: mark } } };
  await Bun.write(folder.file("skill/skill.yaml"), manifest(servers, skill));
  prepare?.(home);
  const result = await omega(["run", folder.file("skill"), "--json", "--model", `${wire}/m`, ...flags], {
    env: { ...model.env(wire), OMEGA_HOME: home },
    timeoutMs: 50_000,
  });
  const envelope = JSON.parse(result.stdout);
  const text = (name: string) =>
    keptIn(`${home}/runs/${envelope.run}`)
      .find((kept) => kept.name === name)
      ?.bytes.toString();
  const played: Played = {
    ...result,
    ...{ model, envelope, left: aliveWith(`MARK=${mark}`) },
    recorded: JSON.parse(text("result.json") ?? "null") ?? undefined,
    events: (text("events.jsonl") ?? "").split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line)])),
    history: rowsOf(`${home}/history.db`),
  };
  return {
    ...played,
    home,
    async [Symbol.asyncDispose]() {
      folder[Symbol.dispose]();
      await model[Symbol.asyncDispose]();
    },
  };
}

function rowsOf(file: string): any[] {
  if (!existsSync(file)) return [];
  try {
    using db = new Database(file, { readonly: true });
    return db.query("SELECT * FROM runs").all();
  } catch {
    return [];
  }
}

/** stdout, result.json, the history and the exit code tell the same end, and nothing is left. */
function expectEnd(played: Played, code: number, outcome: string, word: string | null): void {
  const { envelope, recorded, history, left } = played;
  expect({ code: played.code, outcome: envelope.outcome, word: envelope.code }, played.stderr).toEqual({
    ...{ code, outcome, word },
  });
  expect(recorded).toEqual(envelope);
  expect(history).toMatchObject([{ id: envelope.run, outcome, code: word, exitCode: code, turns: envelope.turns }]);
  expect(left).toEqual([]);
  expect(envelope.children.survivors).toEqual([]);
}

const echo = (text: string) => ({ name: "mcp__s__echo", arguments: { text } });
const oneCall: ScriptedTurn[] = [{ calls: [echo("hi")] }, { text: "Done." }];

for (const wire of wires) {
  test(`${wire}: an answer 429 that says when to come back is tried again, and the run is done`, async () => {
    const busy = { status: 429, retryAfter: 0.1, body: '{"error":{"message":"slow down"}}' };
    await using played = await play([busy, { calls: [echo("hi")] }, busy, busy, { text: "Done." }], { wire });
    expectEnd(played, 0, "done", null);
    expect(played.envelope).toMatchObject({ turns: 2, toolCalls: 1, text: "Done." });
    const retries = played.events.filter(({ type }) => type === "retry");
    expect(retries.map(({ turn, waitMs }) => [turn, waitMs])).toEqual([
      [1, 100],
      [2, 100],
      [2, 100],
    ]);
  });

  test(`${wire}: a provider that is overloaded for ever makes the run unavailable, and it can be tried again`, async () => {
    const overloaded = {
      status: 529,
      retryAfter: 0,
      body: '{"error":{"type":"overloaded_error","message":"Overloaded"}}',
    };
    await using played = await play(() => overloaded, { wire });
    expectEnd(played, 75, "unavailable", "model");
    expect(played.envelope).toMatchObject({ retryable: true, retryAfterMs: 0, text: null, turns: 1, toolCalls: 0 });
    expect(played.model.requests).toHaveLength(5);
  });

  test(`${wire}: an answer that breaks off before any call is asked for again, and told once`, async () => {
    await using played = await play([{ text: "Half of an ", cut: true }, { text: "The whole." }], { wire });
    expectEnd(played, 0, "done", null);
    expect(played.envelope.text).toBe("The whole.");
    const told = played.events.filter(({ type }) => ["text", "retry", "answer"].includes(type));
    expect(told.map(({ type }) => type)).toEqual(["text", "retry", "text", "answer"]);
  });

  test(`${wire}: an answer that breaks off after its calls stands: they are made once, and the run goes on`, async () => {
    await using played = await play([{ text: "Look. ", calls: [echo("a"), echo("b")], cut: true }, { text: "Done." }], {
      wire,
    });
    expectEnd(played, 0, "done", null);
    // On the chat wire nothing says that the last call is complete but what follows it.
    const made = wire === "openai-chat" ? ["echo: a"] : ["echo: a", "echo: b"];
    expect(played.envelope).toMatchObject({ turns: 2, toolCalls: made.length });
    expect(played.model.requests).toHaveLength(2);
    expect(played.model.asked(1).results.map(({ text }) => text)).toEqual(made);
    expect(played.envelope.warnings).toContainEqual(expect.stringContaining("the calls it had made stand"));
  });

  test(`${wire}: a call that breaks off within its arguments is never made`, async () => {
    const broken = { calls: [echo("a"), echo("never made")], cutMidCall: true };
    await using played = await play((index) => (index === 0 ? broken : { text: "Done." }), { wire });
    expectEnd(played, 0, "done", null);
    expect(JSON.stringify(played.events)).not.toContain("never made");
    expect(played.events.filter(({ type }) => type === "result").map(({ text }) => text)).not.toContain(
      "echo: never made",
    );
  });

  // Google's calls come parsed: there is no half of one.
  test.if(wire !== "google")(
    `${wire}: arguments that are no JSON come back to the model as an error, not to the server`,
    async () => {
      const script = [{ calls: [{ name: "mcp__s__echo", arguments: '{"text": "hi' }] }, ...oneCall];
      await using played = await play(script, { wire });
      expectEnd(played, 0, "done", null);
      expect(played.events.filter(({ type }) => type === "result").map(({ text, isError }) => [text, isError])).toEqual(
        [
          ["the arguments are not a JSON object", true],
          ["echo: hi", false],
        ],
      );
    },
  );
}

const calls = (text: string) => ({ calls: [echo(text)] });

test("a server that dies in a call is told in the record: its end, its last words, and the calls that failed", async () => {
  const server = fixtureServer("dies-in-call.mjs");
  await using played = await play([calls("die"), calls("again"), { text: "I could not." }], { server });
  expectEnd(played, 3, "server-failed", "died");
  const { events, envelope, home } = played;
  expect(envelope).toMatchObject({
    text: "I could not.",
    reason: 'server "s" exited with code 3: out of luck',
    servers: [{ status: "died", exit: { code: 3, signal: null } }],
    attempts: [{ outcome: "server-failed", turns: 3, toolCalls: 2 }],
  });
  expect(events.filter(({ type }) => type === "result").map(({ isError }) => isError)).toEqual([true, true]);
  expect(events.find(({ type }) => type === "answer")).toMatchObject({ isGood: false });
  expect(await Bun.file(`${home}/runs/${envelope.run}/stderr/s.log`).text()).toContain("out of luck");
  expect(auditOf(home).map(({ phase, how, reason }) => [phase, how, reason])).toEqual([
    ["begin", undefined, undefined],
    ["end", "failed", 'server "s" exited with code 3: out of luck'],
    ["begin", undefined, undefined],
    ["end", "failed", 'server "s" exited with code 3: out of luck'],
  ]);
});

test("a server that floods its output and its stderr is done, and the record of it stays small", async () => {
  await using played = await play(oneCall, { server: fixtureServer("floods.mjs") });
  expectEnd(played, 0, "done", null);
  const size = keptIn(`${played.home}/runs`).reduce((sum, { bytes }) => sum + bytes.length, 0);
  expect(size).toBeLessThan(100_000);
  expect(await Bun.file(`${played.envelope.record}/stderr/s.log`).exists()).toBe(true);
});

test("checks that hold overrule the death of a server", async () => {
  const server = fixtureServer("dies-in-call.mjs");
  const skill = { expect: [{ command: ["true"] }] };
  await using played = await play([calls("die"), { text: "Done all the same." }], { server, skill });
  expectEnd(played, 0, "done", null);
  expect(played.envelope).toMatchObject({ servers: [{ status: "died" }], checks: [{ ok: true }] });
});

test("a hanging call does not outlive the time of its run, and the model gets a last turn", async () => {
  const server = fixtureServer("hangs-in-call.mjs", { stopGrace: "100ms" });
  const skill = { limits: { time: "2s" } };
  await using played = await play([calls("x"), { text: "Not finished." }], { server, skill });
  expectEnd(played, 5, "limit", "time");
  expect(played.envelope).toMatchObject({ text: "Not finished.", turns: 2 });
  expect(auditOf(played.home)).toMatchObject([{ phase: "begin" }, { phase: "end", how: "failed" }]);
});

const auditOf = (home: string): any[] =>
  keptIn(`${home}/audit`)
    .filter(({ isFolder }) => !isFolder)
    .flatMap(({ bytes }) => bytes.toString().trimEnd().split("\n"))
    .map((line) => JSON.parse(line));

/** As root the modes of a folder hold nobody back; these do. */
const unwritable: [string, (home: string) => void][] = [
  ["a file in the place of its folder", (home) => writeFileSync(home, "")],
  ["a folder that the kernel keeps", (home) => symlinkSync("/proc/1", home)],
  ["a link to nowhere", (home) => symlinkSync("/nowhere/at/all", home)],
];

for (const [what, prepare] of unwritable) {
  test(`a home that cannot be written, ${what}: one warning, no record, and the run is done`, async () => {
    await using played = await play(oneCall, { prepare });
    const { code, envelope, stderr, left } = played;
    expect({ code, outcome: envelope.outcome, record: envelope.record }, stderr).toEqual({
      ...{ code: 0, outcome: "done", record: null },
    });
    expect(envelope.warnings).toEqual([expect.stringMatching(/^cannot write to .*home \(E\w+\): .*no record/)]);
    expect(stderr.match(/^warning: /gm)).toHaveLength(1);
    expect(stderr).not.toContain("record:");
    expect(left).toEqual([]);
  });

  test(`a home that cannot be written, ${what}: a run that must not overlap is invalid before anything starts`, async () => {
    await using played = await play(oneCall, { prepare, skill: { overlap: "skip" } });
    const { code, envelope, model } = played;
    expect({ code, outcome: envelope.outcome, record: envelope.record }).toEqual({
      ...{ code: 2, outcome: "invalid", record: null },
    });
    expect(envelope).toMatchObject({
      code: "home",
      children: { started: 0 },
      hint: expect.stringContaining("OMEGA_HOME"),
    });
    expect(model.requests).toEqual([]);
  });

  test(`a home that cannot be written, ${what}: a required audit is storage before anything starts`, async () => {
    await using played = await play(oneCall, { prepare, skill: { audit: "required" } });
    const { code, envelope, model } = played;
    expect({ code, outcome: envelope.outcome }).toEqual({ code: 74, outcome: "storage" });
    expect(envelope.children.started).toBe(0);
    expect(model.requests).toEqual([]);
  });
}

const brokenDatabases: [string, (file: string) => void][] = [
  ["no database", (file) => writeFileSync(file, "this is no database, and was never one\n".repeat(100))],
  ["a folder", (file) => mkdirSync(file)],
];

for (const [what, breakIt] of brokenDatabases) {
  test(`a history that is ${what}: one warning, and the record is kept`, async () => {
    const prepare = (home: string) => {
      mkdirSync(home, { mode: 0o700 });
      breakIt(`${home}/history.db`);
    };
    await using played = await play(oneCall, { prepare });
    const { code, envelope, recorded, stderr } = played;
    expect({ code, outcome: envelope.outcome }, stderr).toEqual({ code: 0, outcome: "done" });
    expect(existsSync(`${envelope.record}/result.json`)).toBe(true);
    expect(recorded).toMatchObject({ outcome: "done", record: envelope.record });
    expect(envelope.warnings).toEqual([expect.stringMatching(/^cannot write to .*history\.db/)]);
    expect(stderr.match(/^warning: /gm)).toHaveLength(1);
    expect(readdirSync(`${played.home}/journal`)).toEqual([]);
  });
}
