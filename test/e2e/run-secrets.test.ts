// Whatever servers and models say, and wherever, a run shows no secret: not on stdout or stderr, not in omega's home, and
// not to a model.

import { expect, test } from "bun:test";
import { mkdirSync, rmSync } from "node:fs";
import { type Canaries, canariesOf, leaksIn, places, shapeNames } from "../support/canaries.ts";
import { controlCharacter, isText, keptIn } from "../support/kept.ts";
import {
  type ModelServer,
  modelServer,
  type Script,
  type ScriptedTurn,
  scriptedKey,
  type WireName,
} from "../support/model-server.ts";
import { omega, type Result } from "../support/omega.ts";
import { fixture, fixtureServer, manifest } from "../support/skills.ts";
import { temporaryFolder } from "../support/temporary.ts";

type Told = Result & { model: ModelServer; home: string; file(name: string): string; folder: Disposable };

const secretsOf = (canaries: Canaries) => places.map((place) => canaries[place]);

/** A run of a skill whose server knows every secret, those that only the provider should know included. */
async function play(
  canaries: Canaries,
  script: Script,
  more: {
    mode?: string;
    flags?: string[];
    skill?: object;
    keyFrom?: "manifest" | "environment";
    under?: string[];
    wire?: WireName;
  } = {},
): Promise<Told & AsyncDisposable> {
  const { wire = "openai-chat", keyFrom = "manifest" } = more;
  const model = await modelServer(script);
  const folder = temporaryFolder({ "secret.txt": `${canaries.file}\n` });
  mkdirSync(folder.file("work"));
  const { file } = folder;
  const server = {
    ...fixtureServer("tells-canaries.mjs"),
    args: [fixture("tells-canaries.mjs"), "--login=me:${CANARY_AUTH}@h"],
    env: {
      CANARIES: file("work/known.json"),
      MODE: more.mode ?? "normal",
      CANARY_TOKEN: "${CANARY_TOKEN}",
      LITERAL_PASSWORD: canaries.literal,
      FROM_FILE: `\${file:${file("secret.txt")}}`,
      FROM_INPUT: "{{ inputs.secret }}",
    },
  };
  await Bun.write(file("work/known.json"), JSON.stringify(secretsOf(canaries)));
  const skill = {
    inputs: { secret: { type: "string", secret: true, env: "CANARY_INPUT" } },
    permissions: [{ tool: "s/denied", action: "deny" }],
    model: {
      name: `${wire}/m`,
      price: { input: 3, output: 15 },
      headers: { "x-login": "${CANARY_HEADER}" },
      ...(keyFrom === "manifest" && { apiKey: "${CANARY_PROVIDER}" }),
    },
    workdir: file("work"),
    ...more.skill,
  };
  await Bun.write(file("skill/skill.yaml"), manifest({ s: server }, skill));
  const result = await omega(["run", file("skill"), ...(more.flags ?? [])], {
    env: {
      OMEGA_HOME: file("home"),
      ...addressOf(model, wire, keyFrom === "environment" ? canaries.key : ""),
      CANARY_TOKEN: canaries.env,
      CANARY_AUTH: canaries.args,
      CANARY_INPUT: canaries.input,
      CANARY_HEADER: canaries.header,
      CANARY_PROVIDER: canaries.key,
    },
    ...(more.under && { under: more.under }),
  });
  return {
    ...result,
    ...{ model, home: file("home"), file, folder },
    async [Symbol.asyncDispose]() {
      folder[Symbol.dispose]();
      await model[Symbol.asyncDispose]();
    },
  };
}

/** The variables of a provider, with this key in the place of the scripted one; an empty one is none. */
function addressOf(model: ModelServer, wire: WireName, key: string): Record<string, string> {
  const variables = Object.entries(model.env(wire));
  return Object.fromEntries(variables.map(([name, value]) => [name, value === scriptedKey ? key : value]));
}

/** What a model is told by others than itself. */
function toldToModel({ requests }: ModelServer): string {
  const isOwn = ({ role, type }: any) => ["assistant", "model"].includes(role) || type === "function_call";
  return requests
    .map(({ messages = [], contents = [], input = [], ...rest }) =>
      JSON.stringify([[...messages, ...contents, ...input].filter((each) => !isOwn(each)), rest]),
    )
    .join("\n");
}

function leaks({ stdout, stderr, model, home }: Told, canaries: Canaries): string[] {
  const secrets = secretsOf(canaries);
  return [
    ...leaksIn("stdout", stdout, secrets),
    ...leaksIn("stderr", stderr, secrets),
    ...leaksIn("model", toldToModel(model), secrets),
    ...keptIn(home).flatMap(({ name, bytes }) => [
      ...leaksIn(name, bytes.toString("utf8"), secrets),
      ...leaksIn("a name", name, secrets),
    ]),
  ];
}

function rawControls({ stdout, stderr, home }: Told): string[] {
  const files = keptIn(home).filter(isText);
  const texts = [["stdout", stdout] as const, ["stderr", stderr] as const].concat(
    files.map(({ name, bytes }) => [name as never, bytes.toString("utf8") as never]),
  );
  return texts.flatMap(([where, text]) => {
    const found = controlCharacter.exec(text);
    return found ? [`${where}: ${JSON.stringify(text.slice(found.index - 20, found.index + 20))}`] : [];
  });
}

const call = (tool: string, at: number, pad = 0) => ({ name: `mcp__s__${tool}`, arguments: { at, pad } });
const eachOf = (canaries: Canaries) => secretsOf(canaries).map((_, at) => at);
const finish = (status: string, summary: string, more: object = {}) => ({
  name: "finish",
  arguments: { status, summary, missing: [summary], ...more },
});
const quoting = (canaries: Canaries) =>
  JSON.stringify({ error: { message: `Incorrect API key provided: ${secretsOf(canaries).join(", ")}` } });
/** Says so much that only its end is kept, which begins within the secret. */
const tail = "process.stdout.write(`${process.argv[1]} `.repeat(3_000)); process.exitCode = 1";
const inPieces = (text: string) => text.match(/[\s\S]{1,3}/gu) ?? [];

/** Everything that the server can do with each secret, then a model that tells them too. */
function thorough(canaries: Canaries, hides: boolean): ScriptedTurn[] {
  const all = eachOf(canaries);
  const words = `I know ${secretsOf(canaries).join(" and ")}, and ${Buffer.from(canaries.env).toString("base64")}. `;
  const hidden = `${canaries.env.slice(0, 4)}\x1b[1m${canaries.env.slice(4)} ${canaries.file.slice(0, 4)}\u200b${canaries.file.slice(4)}`;
  return [
    { chunks: inPieces(words), calls: all.map((at) => call("tell", at)) },
    { calls: all.flatMap((at) => [call("tell", at, 107), call("fail", at, 112)]) },
    { calls: all.flatMap((at) => [call("refuse", at), call("refuse", at, 195)]) },
    { calls: all.flatMap((at) => [call("structured", at), call("picture", at)]) },
    { calls: [call("big", 0, 99_950), call("big", 1, 99_960)] },
    { calls: [{ name: "ReadToolOutput", arguments: { id: "1", offset: 90_000, length: 100_000 } }] },
    {
      calls: [
        { name: "mcp__s__denied", arguments: { at: 0, pad: 1, [canaries.env]: canaries.args, more: "x".repeat(300) } },
        { name: "mcp__s__denied", arguments: { more: "x".repeat(475), at: canaries.env, rest: canaries.literal } },
        { name: `mcp__s__${canaries.env}`, arguments: { at: canaries.input } },
        { name: "mcp__s__tell", arguments: { at: canaries.input } },
        { name: "mcp__s__tell", arguments: `{ "at": "${canaries.args}` },
      ],
    },
    { chunks: inPieces(hides ? `${words}${hidden}` : words) },
  ];
}

const formats = [["--format", "text", "-v"], ["--quiet"], ["--json"], ["--format", "stream-json", "-v"]];

for (const shape of shapeNames) {
  const canaries = canariesOf(shape);

  for (const flags of formats) {
    test(`a good run hides secrets of the shape "${shape}" with ${flags.join(" ")}`, async () => {
      // Pieces of text are told as they come: what hides a secret there hides it from whoever reads the JSON as well.
      const isStream = flags.includes("stream-json");
      await using told = await play(canaries, thorough(canaries, !isStream), { flags });
      expect(told.code, told.stderr).toBe(0);
      expect(told.model.requests).toHaveLength(8);
      expect(told.stdout).toContain("‹CANARY_TOKEN›");
      expect(toldToModel(told.model)).toContain("‹LITERAL_PASSWORD›");
      expect(leaks(told, canaries)).toEqual([]);
      expect(rawControls(told)).toEqual([]);
    });
  }

  const failures: [string, Script, number, { mode?: string; skill?: object }][] = [
    ["a server dies with last words", [{ calls: [call("leave", 0), call("leave", 2, 280)] }, { text: "Gone." }], 3, {}],
    ["a server does not start", [], 3, { mode: "dies" }],
    ["a server makes noise, and floods its stderr", [{ text: "Done." }], 0, { mode: "floods" }],
    ["a provider refuses, and quotes", [{ status: 401, body: quoting(canaries) }], 6, {}],
    ["a provider fails in the middle", [{ status: 400, body: `no JSON: ${secretsOf(canaries).join(" ")}` }], 6, {}],
    ["a model is blocked", [{ calls: [finish("blocked", canaries.env)] }], 1, {}],
    [
      "a model is refused three times",
      () => ({ calls: [0, 1, 2].map((at) => ({ name: "mcp__s__denied", arguments: { at, x: canaries.env } })) }),
      4,
      {},
    ],
    [
      "checks do not hold, and quote",
      [{ text: `Done with ${canaries.input}.` }],
      1,
      {
        skill: {
          expect: [
            { command: ["sh", "-c", 'echo "$1" >&2; exit 3', "sh", canaries.literal] },
            { command: ["node", "-e", tail, canaries.env] },
            { command: ["cat", "known.json"] },
            { file: canaries.file },
          ],
        },
      },
    ],
  ];

  for (const [index, [what, script, code, more]] of failures.entries()) {
    test(`${what}: secrets of the shape "${shape}" are hidden`, async () => {
      // Each failure meets every format with one shape or another.
      const turn = index + shapeNames.indexOf(shape);
      for (const flags of [formats[turn % 4] ?? [], formats[(turn + 2) % 4] ?? []]) {
        await using told = await play(canaries, script, { flags, keyFrom: "environment", ...more });
        expect(told.code, told.stderr).toBe(code);
        expect(leaks(told, canaries)).toEqual([]);
        expect(rawControls(told)).toEqual([]);
      }
    });
  }

  for (const wire of ["openai", "anthropic", "google"] as const) {
    test(`${wire}: a good run tells its model no secret of the shape "${shape}"`, async () => {
      await using told = await play(canaries, thorough(canaries, true), { wire, keyFrom: "environment" });
      expect(told.code, told.stderr).toBe(0);
      expect(told.model.requests).toHaveLength(8);
      expect(toldToModel(told.model)).toContain("‹LITERAL_PASSWORD›");
      expect(leaks(told, canaries)).toEqual([]);
    });
  }

  test(`a run that had secrets of the shape "${shape}" is played without any of them`, async () => {
    // The size of data that cannot be shown is told as it was, with the secret in it.
    const script = thorough(canaries, true).map(({ calls = [], ...turn }) => {
      const shown = calls.filter(({ name }) => name !== "mcp__s__picture");
      return shown.length > 0 ? { ...turn, calls: shown } : turn;
    });
    await using told = await play(canaries, script, { flags: ["--json"] });
    expect(told.code, told.stderr).toBe(0);
    const then = JSON.parse(told.stdout);
    rmSync(told.file("secret.txt"));
    const env = { OMEGA_HOME: told.file("other"), HOME: "/nonexistent" };
    const words = ["run", told.file("skill"), "--json", "--replay", `${then.record}/cassette.jsonl`];
    const played = await omega(words, { env });
    expect(JSON.parse(played.stdout)).toMatchObject({ outcome: "done", text: then.text });
  });

  test(`data and its file hide secrets of the shape "${shape}"`, async () => {
    const output = { [canaries.env]: { deep: [canaries.file, `Bearer ${canaries.header}`] } };
    const skill = { output: { schema: { type: "object" }, file: "answer.json" } };
    await using told = await play(canaries, [{ calls: [finish("done", canaries.input, { output })] }], { skill });
    expect(told.code, told.stderr).toBe(0);
    expect(JSON.parse(told.stdout)).toEqual({
      "‹CANARY_TOKEN›": { deep: [expect.stringMatching(/^‹.*secret.txt›$/), "Bearer ‹model.headers.x-login›"] },
    });
    expect(await Bun.file(told.file("work/answer.json")).text()).toBe(told.stdout);
    expect(leaks(told, canaries)).toEqual([]);
  });
}

/** As they lie around on a machine that runs many things. */
const surroundings = {
  OPENAI_API_KEY: "sk-around-0123456789",
  ANTHROPIC_API_KEY: "sk-ant-around-0123456789",
  AWS_SECRET_ACCESS_KEY: "aws/around+0123456789",
  GITHUB_TOKEN: "ghp_around0123456789",
  DATABASE_URL: "postgres://me:around0123456789@h/db",
  NODE_AUTH_TOKEN: "npm_around0123456789",
  SSH_AUTH_SOCK: "/run/around0123456789.sock",
  BASH_ENV: "/etc/around0123456789",
  NODE_OPTIONS: "--title=around0123456789",
  LD_LIBRARY_PATH: "/around0123456789",
  OMEGA_MODEL: "openai-chat/m",
  CI: "around0123456789",
};

test("a server has no variable that it was not given, and a command of expect neither", async () => {
  await using model = await modelServer([
    { calls: [{ name: "mcp__s__environment", arguments: {} }] },
    { text: "Done." },
  ]);
  using folder = temporaryFolder();
  const server = fixtureServer("tells-environment.mjs", { env: { GIVEN: "yes", GITHUB_TOKEN: null } });
  const command = ["node", "-e", "require('fs').writeFileSync('env.json', JSON.stringify(process.env))"];
  const skill = { expect: [{ command }], workdir: folder.path };
  await Bun.write(folder.file("skill/skill.yaml"), manifest({ s: server }, skill));
  const { code, stderr } = await omega(["run", folder.file("skill")], {
    env: { ...surroundings, OPENAI_BASE_URL: model.url, OMEGA_HOME: folder.file("home") },
  });
  expect(code, stderr).toBe(0);
  const told = JSON.parse(model.asked(1).results[0]?.text ?? "");
  expect(Object.keys(told).sort()).toEqual(["GITHUB_TOKEN", "GIVEN", "HOME", "OMEGA_RUN", "PATH"]);
  expect(told).toMatchObject({ GIVEN: "yes", GITHUB_TOKEN: "‹GITHUB_TOKEN›" });
  const seen = await Bun.file(folder.file("env.json")).json();
  expect(Object.keys(seen).sort()).toEqual(["HOME", "OMEGA_RUN", "PATH"]);
});

test("an env file that lies in the skill's folder is not for the model, whoever named it", async () => {
  const read = (path: string) => ({ name: "ReadSkillFile", arguments: { path } });
  await using model = await modelServer([
    { calls: [read("a.md"), read("own.env"), read("prod.env")] },
    { text: "Done." },
  ]);
  using folder = temporaryFolder({
    "skill.yaml": manifest({}, { envFile: "own.env" }),
    ...{ "a.md": "for you", "own.env": "A=hidden-in-own", "prod.env": "B=hidden-in-prod" },
  });
  const { code, stderr } = await omega(["run", ".", "--env-file", "prod.env", "--model", "openai-chat/m"], {
    cwd: folder.path,
    env: { OPENAI_BASE_URL: model.url, OMEGA_HOME: folder.file(".home") },
  });
  expect(code, stderr).toBe(0);
  expect(model.asked(1).results[0]).toEqual({ text: "for you" });
  expect(JSON.stringify(model.requests)).not.toContain("hidden-in");
  expect(JSON.stringify(model.requests[0].tools)).not.toContain("prod.env");
});

test("what looks like a template in a result reaches the model as it is", async () => {
  const text = "${HOME} {{ inputs.x }} ${file:/etc/passwd} {{ run.id }} $(id) `id` %PATH% \\u0041 ‹KEY›";
  const calls = [{ name: "mcp__s__echo", arguments: { text } }];
  await using model = await modelServer([{ calls }, { text }]);
  using folder = temporaryFolder({
    "skill.yaml": manifest({ s: fixtureServer("good.mjs") }, { inputs: { x: { type: "string", default: "filled" } } }),
  });
  const { stdout } = await omega(["run", folder.path, "--model", "openai-chat/m"], {
    env: { OPENAI_BASE_URL: model.url, OMEGA_HOME: folder.file("home") },
  });
  expect(model.asked(1).results).toEqual([{ text: `echo: ${text}` }]);
  expect(stdout).toBe(`${text}\n`);
});

test("what a run leaves is for its owner alone, whatever the umask", async () => {
  const canaries = canariesOf("plain");
  for (const umask of ["000", "277"]) {
    const under = ["sh", "-c", `umask ${umask}; exec "$@"`, "sh"];
    const skill = { overlap: "skip", limits: { costPerDay: 1 } };
    await using told = await play(canaries, thorough(canaries, true), { under, skill });
    expect(told.stderr).not.toContain("cannot write");
    const kept = keptIn(told.home);
    const names = kept.map(({ name }) => name.split("/")[0]);
    for (const name of ["runs", "audit", "history.db", "locks", "journal"]) expect(names).toContain(name);
    const wrong = kept.filter(({ isFolder, mode }) => mode !== (isFolder ? 0o700 : 0o600));
    expect(wrong.map(({ name, mode }) => `${name} ${mode.toString(8)}`)).toEqual([]);
  }
});
