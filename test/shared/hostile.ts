// Every stdio behaviour of ../shared/hostile, through the compiled binary: `run` with a scripted model, and `call`. Whatever
// a server does: the stated reaction, in its time, no stack trace, no escape code, bounded memory, no process left.

import { expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { controlCharacter, isText, keptIn } from "../support/kept.ts";
import { modelServer } from "../support/model-server.ts";
import { root, startOmega } from "../support/omega.ts";
import { aliveWith, peakMemory, until } from "../support/processes.ts";
import { manifest } from "../support/skills.ts";
import { temporaryFolder } from "../support/temporary.ts";

type Behaviour = {
  name: string;
  does: string;
  expect: "work" | "error" | "either";
  calls: number;
  par: boolean;
  arg_mb: number;
  slow: number;
  text: string | null;
  no: string | null;
};

type Ending = {
  code: number | null;
  stdout: string;
  stderr: string;
  ms: number;
  peakMb: number;
  alive: number[];
  cleanExit: boolean;
  /** The names of what lies in omega's home. */
  kept: string[];
  /** Those that hold the secret, or a raw control character. */
  tainted: string[];
  /** What the model was told by the tool. */
  results: string[];
  /** The server's tools, by their names for the model. */
  offered: string[];
  /** The model was told the secret. */
  toldSecret: boolean;
};
type Played = Omit<Ending, "results" | "offered" | "toldSecret">;

const program = resolve(root, "../shared/hostile/hostile_stdio.py");
const SECONDS = 3;
const AT_ONCE = 5;
const STARTUP_MARGIN_MS = 12_000;
const MAX_MB = 250;
const MAX_RESULT = 100_000;
const secret = "s3cr3t-canary";

const behaviours: Behaviour[] = spawnSync("python3", [program, "--list"], { encoding: "utf8" })
  .stdout.trim()
  .split("\n")
  .map((line) => JSON.parse(line));

/** What a behaviour asks beyond the general promises, of `run`. */
const more: Record<string, (ending: Ending, envelope: any) => void> = {
  bare: ({ results }, { servers }) => {
    expect(JSON.parse(results[0] ?? "")).toMatchObject({ answer: 42 });
    expect(servers[0].protocol).toBe("bare");
  },
  "modern-only": ({ code, results }, { servers }) => {
    expect({ code, results }).toEqual({ code: 0, results: ["echo: modern"] });
    expect(servers[0].protocol).toBe("2026-07-28");
  },
  "version-old": (_, { servers }) => expect(servers[0].protocol).toBe("2024-11-05"),
  "version-unknown": (_, { reason }) => expect(reason).toMatch(/1999-01-01.*2025-11-25/),
  "version-newer": (_, { reason }) => expect(reason).toMatch(/2099-01-01.*2025-11-25/),
  "exit-now": ({ ms }, { reason }) => {
    expect(reason).toContain("exited with code 0");
    expect(ms).toBeLessThan(SECONDS * 1000);
  },
  "exit-stderr": ({ stderr }) => expect(stderr).toContain("exited with code 1: config error: API_KEY is missing"),
  "exit-mid-call": ({ code, results }, { outcome }) => {
    expect({ code, outcome }).toEqual({ code: 3, outcome: "server-failed" });
    expect(results[0]).toContain("exited with code 3");
  },
  "exit-segv": ({ results }) => expect(results[0]).toContain("SIGSEGV"),
  "never-init": (_, { reason }) => expect(reason).toContain('server "h" did not answer initialize within'),
  "no-list": (_, { reason }) => expect(reason).toContain('server "h" did not answer tools/list within'),
  "wrong-id": ({ results }) => expect(results[0]).toContain("did not answer tools/call within"),
  "null-id": ({ results }) => expect(results[0]).toContain("did not answer tools/call within"),
  "out-of-order": ({ results }) => expect(results).toEqual(["echo: first, late", "echo: second"]),
  "late-response": ({ results }) => expect(results[1]).toBe("echo: on time"),
  "dup-response": ({ results }) => expect(results).toEqual(["echo: hi 1", "echo: hi 2"]),
  "line-64mb": ({ results }) => expect(results[0]).toContain("more than 10000000 bytes"),
  "progress-keepalive": ({ results }) => expect(results).toEqual(["echo: after progress"]),
  "cursor-endless": (_, { reason }) => expect(reason).toContain("pages"),
  paged: (_, { servers }) => expect(servers[0].tools).toBe(16),
  "bad-tools": (_, { servers, warnings }) => {
    expect(servers[0].tools).toBe(3);
    expect(warnings.join()).toContain("8 malformed tools skipped");
  },
  "dup-tools": ({ offered }, { warnings }) => {
    expect(new Set(offered).size).toBe(offered.length);
    expect(warnings.join()).toContain("already taken");
  },
  "odd-names": ({ offered }) => {
    expect(offered).toHaveLength(12);
    expect(new Set(offered.map((name) => name.toLowerCase())).size).toBeGreaterThanOrEqual(11);
    for (const name of offered) expect(name).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
  },
  "rug-pull": (_, { warnings }) => expect(warnings.join()).toMatch(/echo.*changed/),
  "is-error": ({ results }) => expect(results).toEqual(["Error: it failed"]),
  "rpc-error": ({ results }) => expect(results[0]).toContain("backend down"),
  "exit-answered": ({ code, results }) => expect({ code, results }).toEqual({ code: 0, results: ["echo: last words"] }),
  "slow-reader": ({ results }) => expect(results[0]).toContain("did not answer tools/call within"),
  "stdin-closed": ({ results }) => expect(results[0]).toContain('server "h"'),
  "secret-echo": ({ results }) => expect(results).toEqual(["echo: token is ‹HOSTILE_SECRET› ok"]),
  "big-result": ({ results }) =>
    expect(results[0]).toMatch(
      /\[cut: the first 100000 of 8\d{6} bytes; ReadToolOutput \{"id":"1","offset":100000\} reads on\]$/,
    ),
  "slow-exit": ({ cleanExit }) => expect(cleanExit).toBe(true),
  "slow-call-term": ({ code, ms }, { outcome }) => {
    expect({ code, outcome }).toEqual({ code: 143, outcome: "interrupted" });
    expect(ms).toBeLessThan(6_000 + STARTUP_MARGIN_MS);
  },
  pretty: (_, { reason }) => expect(reason).toContain("did not answer initialize within"),
};

/** At most so many at once, in the order of asking. */
function limited(size: number): <T>(work: () => Promise<T>) => Promise<T> {
  const slots = Array.from({ length: size }, () => Promise.resolve());
  let turn = 0;
  return (work) => {
    const slot = turn++ % size;
    const result = (slots[slot] ?? Promise.resolve()).then(work);
    slots[slot] = result.then(
      () => undefined,
      () => undefined,
    );
    return result;
  };
}
const queue = limited(AT_ONCE);

async function play(
  behaviour: Behaviour,
  words: (skill: string) => string[],
  env: Record<string, string>,
  input = "",
): Promise<Played> {
  const marker = crypto.randomUUID();
  using folder = temporaryFolder();
  const server = {
    command: "python3",
    args: [program, behaviour.name],
    env: { MARKER: marker, HOSTILE_T: String(SECONDS), HOSTILE_DIR: folder.path, HOSTILE_SECRET: secret },
    startupTimeout: `${SECONDS * 2}s`,
    timeout: `${SECONDS}s`,
  };
  await Bun.write(folder.file("skill.yaml"), manifest({ h: server }));
  const started = performance.now();
  const { child, result } = startOmega(words(folder.path), {
    env: { ...env, OMEGA_HOME: folder.file("home") },
    timeoutMs: 90_000,
    input,
  });
  const memory = peakMemory(child.pid ?? 0);
  if (behaviour.name === "slow-call-term") {
    let told = "";
    child.stderr?.on("data", (text: string) => {
      told += text;
    });
    await until(() => told.includes("mcp__h__echo") || words("")[0] === "call", 20_000);
    await Bun.sleep(words("")[0] === "call" ? 2_000 : 100);
    child.kill("SIGTERM");
  }
  const { code, stdout, stderr } = await result;
  const ms = Math.round(performance.now() - started);
  await until(() => aliveWith(marker).length === 0, 300);
  return {
    code,
    stdout,
    stderr,
    ms,
    peakMb: memory(),
    alive: aliveWith(marker),
    cleanExit: existsSync(folder.file("clean-exit")),
    kept: keptIn(folder.file("home")).map(({ name }) => name),
    tainted: taintedIn(folder.file("home")),
  };
}

async function playRun(behaviour: Behaviour): Promise<Ending> {
  const calls = Array.from({ length: behaviour.calls }, (_, index) => ({
    name: "mcp__h__echo",
    arguments: { text: behaviour.arg_mb > 0 ? "x".repeat(behaviour.arg_mb * 1_000_000) : `hi ${index + 1}` },
  }));
  const turns = behaviour.par ? [{ calls }] : calls.map((call) => ({ calls: [call] }));
  await using model = await modelServer([...turns, { text: "That is all." }]);
  const ending = await play(behaviour, (skill) => ["run", skill, "--json", "--model", "openai-chat/m"], {
    OPENAI_BASE_URL: model.url,
  });
  const messages: any[] = model.requests.at(-1)?.messages ?? [];
  return {
    ...ending,
    results: messages.filter(({ role }) => role === "tool").map(({ content }) => String(content)),
    offered: namesIn(model.requests[0]).filter((name) => name.startsWith("mcp__h__")),
    toldSecret: JSON.stringify(model.requests).includes(secret),
  };
}

const namesIn = (request: any): string[] => (request?.tools ?? []).map((tool: any) => tool.function.name);

function taintedIn(home: string): string[] {
  const tainted = keptIn(home).filter(
    (kept) => kept.bytes.includes(secret) || (isText(kept) && controlCharacter.test(kept.bytes.toString("utf8"))),
  );
  return tainted.map(({ name }) => name);
}

function keepsThePromises(behaviour: Behaviour, ending: Played): void {
  const { code, stdout, stderr, ms, peakMb, alive } = ending;
  expect(alive, "processes left").toEqual([]);
  expect([0, 1, 2, 3, 143], stderr).toContain(code ?? -1);
  expect(stderr).not.toMatch(/^\s+at .*:\d+/m);
  expect(stderr).not.toContain("internal:");
  expect(stdout + stderr).not.toMatch(controlCharacter);
  expect(stdout + stderr).not.toContain(secret);
  expect(ending.tainted, "files that hold the secret or a control character").toEqual([]);
  expect(ms).toBeLessThan((SECONDS * 3 + 5 + behaviour.slow) * 1000 + STARTUP_MARGIN_MS);
  expect(peakMb).toBeLessThan(MAX_MB);
  if (behaviour.no !== null) expect(stdout).not.toContain(behaviour.no);
}

const only = process.env["HOSTILE_ONLY"]?.split(",");
const chosen = behaviours.filter(({ name }) => !only || only.includes(name));

for (const behaviour of chosen) {
  const played = queue(() => playRun(behaviour));
  played.catch(() => undefined);
  test(`run with ${behaviour.name}: ${behaviour.does}`, async () => {
    const ending = await played;
    if (process.env["HOSTILE_TELL"]) {
      console.log(behaviour.name, ending.code, `${ending.ms} ms`, `${ending.peakMb} MB`, ending.stderr.slice(-300));
      console.log(
        "  ",
        ending.results.map((text) => text.slice(0, 150)),
      );
    }
    keepsThePromises(behaviour, ending);
    const envelope = JSON.parse(ending.stdout);
    expect(envelope.children.survivors).toEqual([]);
    expect(ending.kept).toContainEqual(`runs/${envelope.run}/result.json`);
    expect(ending.kept.filter((name) => name.startsWith("journal/"))).toEqual([]);
    const told = ending.results.join("\n");
    if (behaviour.expect === "work") expect(ending.code).toBe(0);
    if (behaviour.expect === "error") expect(ending.code).toBe(3);
    if (behaviour.text !== null) expect(told).toContain(behaviour.text);
    if (behaviour.no !== null) expect(told).not.toContain(behaviour.no);
    expect(ending.toldSecret, "the model was told the secret").toBe(false);
    for (const result of ending.results) expect(result.length).toBeLessThan(MAX_RESULT + 200);
    more[behaviour.name]?.(ending, envelope);
  });
}

for (const behaviour of chosen) {
  const input = JSON.stringify({ text: behaviour.arg_mb > 0 ? "x".repeat(behaviour.arg_mb * 1_000_000) : "hi" });
  const played = queue(() => play(behaviour, (skill) => ["call", skill, "echo", "-", "--json"], {}, input));
  played.catch(() => undefined);
  test(`call with ${behaviour.name}: ${behaviour.does}`, async () => {
    const ending = await played;
    keepsThePromises(behaviour, ending);
    if (behaviour.name === "is-error") expect(ending.code).toBe(1);
    else if (behaviour.expect === "work") expect(ending.code).toBe(0);
    if (behaviour.expect === "error") expect(ending.code).toBe(3);
    if (behaviour.text !== null) expect(JSON.stringify(JSON.parse(ending.stdout))).toContain(behaviour.text);
    if (behaviour.name === "slow-call-term") expect(ending.code).toBe(143);
  });
}

test("the list of behaviours was read", () => {
  expect(behaviours.length).toBeGreaterThanOrEqual(88);
  expect(readFileSync(program, "utf8")).toContain("BEHAVIOURS");
});
