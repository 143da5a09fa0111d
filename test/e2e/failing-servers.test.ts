// What becomes of a run when one of its servers fails, row by row of the table of errors; the other server works.

import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { modelServer, type ScriptedTurn } from "../support/model-server.ts";
import { omega, startOmega } from "../support/omega.ts";
import { aliveWith, until } from "../support/processes.ts";
import { fixtureServer, manifest } from "../support/skills.ts";
import { temporaryFolder } from "../support/temporary.ts";

const echo = (server: string, text: string) => ({ name: `mcp__${server}__echo`, arguments: { text } });
const useGood = [{ calls: [echo("good", "hi")] }, { text: "Done." }];

async function runWith(bad: object, turns: ScriptedTurn[] = useGood) {
  await using model = await modelServer(turns);
  using folder = temporaryFolder({ "skill.yaml": manifest({ bad, good: fixtureServer("good.mjs") }) });
  const { code, stdout, stderr } = await omega(["run", folder.path, "--json", "--model", "openai-chat/m"], {
    env: { OPENAI_BASE_URL: model.url },
    timeoutMs: 50_000,
  });
  const results = (model.requests.at(-1)?.messages ?? []).filter(({ role }: any) => role === "tool");
  return {
    code,
    stderr,
    envelope: JSON.parse(stdout),
    asked: model.requests.length,
    results: results.map(({ content }: any) => content),
  };
}

const startFailures: [string, object, string][] = [
  ["that cannot be started", { command: "no-such-program" }, "no such command"],
  ["whose handshake fails", fixtureServer("from-the-future.mjs"), "speaks MCP"],
  ["whose list of tools fails", fixtureServer("list-fails.mjs"), "answered with an error: the database is down"],
  ["that leaves at once", fixtureServer("complains-and-exits.mjs"), "API_KEY is missing"],
];
for (const [what, server, message] of startFailures) {
  test(`a required server ${what} ends the run before a token is spent`, async () => {
    const { code, envelope, asked } = await runWith(server);
    expect({ code, asked }).toEqual({ code: 3, asked: 0 });
    expect(envelope).toMatchObject({ outcome: "server-failed", reason: expect.stringContaining(message) });
    expect(envelope.children.survivors).toEqual([]);
  });

  test(`a server ${what} and is not required is a warning, and the run goes on with the others`, async () => {
    const { code, envelope, results, stderr } = await runWith({ ...server, required: false });
    expect({ code, results }).toEqual({ code: 0, results: ["echo: hi"] });
    expect(envelope.warnings.join()).toContain(message);
    expect(stderr).toContain("warning: going on without a server");
    expect(envelope.servers).toMatchObject([
      { name: "bad", status: "failed" },
      { name: "good", status: "ready" },
    ]);
  });
}

test("a tool that a server which is not required lacks is a warning", async () => {
  const { code, envelope } = await runWith(fixtureServer("good.mjs", { required: false, tools: ["echo", "ecko"] }), [
    { calls: [echo("good", "hi")] },
    { text: "Done." },
  ]);
  expect(envelope.warnings.join()).toContain('server "bad" has no tool "ecko"');
  expect(code).toBe(0);
});

test("a tool that fails is an error result, and the run goes on", async () => {
  const { code, results } = await runWith(fixtureServer("odd-results.mjs"), [
    { calls: [echo("bad", "error"), echo("bad", "failed"), echo("good", "hi")] },
    { text: "Done." },
  ]);
  expect(code).toBe(0);
  expect(results).toEqual(["Error: backend down", "Error: it failed", "echo: hi"]);
});

test("a server that crashes is not started again by itself; the others go on", async () => {
  const { code, results, envelope } = await runWith(fixtureServer("dies-in-call.mjs"), [
    { calls: [echo("bad", "die")] },
    { calls: [echo("bad", "again"), echo("good", "hi")] },
    { text: "Done." },
  ]);
  expect(code).toBe(3);
  expect(results).toEqual([
    'Error: server "bad" exited with code 3: out of luck',
    'Error: server "bad" exited with code 3: out of luck',
    "echo: hi",
  ]);
  expect(envelope).toMatchObject({ text: "Done.", children: { started: 2 } });
});

test("Ctrl-C ends the servers", async () => {
  const marker = crypto.randomUUID();
  using folder = temporaryFolder();
  const env = { READY: folder.file("ready"), MARKER: marker };
  await Bun.write(folder.file("skill.yaml"), manifest({ slow: fixtureServer("slow-call.mjs", { env }) }));
  const { child, result } = startOmega(["call", folder.path, "echo", "text=hi"]);
  expect(await until(() => existsSync(env.READY), 20_000)).toBe(true);
  child.kill("SIGINT");
  expect((await result).code).toBe(130);
  expect(aliveWith(marker)).toEqual([]);
});
