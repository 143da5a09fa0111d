// `--cassette` and `--replay`: what playing needs, what it leaves alone, and what is refused; `--model replay/F.jsonl`, the
// model's side alone.

import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { atTerminal, hasTerminal } from "../support/at-terminal.ts";
import { lasting, linesOf, recorded } from "../support/cassettes.ts";
import { modelServer } from "../support/model-server.ts";
import { omega } from "../support/omega.ts";
import { call, echo, finish, type Scripted, scripted } from "../support/scripted.ts";
import { fixtureServer, manifest } from "../support/skills.ts";
import { temporaryFolder } from "../support/temporary.ts";

const plain: Scripted = { turns: [{ calls: [echo("a")] }, { text: "Done." }] };
const records = (home: string) => (existsSync(`${home}/runs`) ? readdirSync(`${home}/runs`) : []);

test("a run that was killed says so when it is played", async () => {
  await using life = await scripted({ ...plain, servers: { s: fixtureServer("slow-call.mjs") } });
  const { child, result } = life.start(["--cassette", life.file("tape.jsonl")]);
  expect(await life.isReady()).toBe(true);
  // The model's answer stands in the tape when the call has begun and the answer is over.
  while (!life.read("tape.jsonl").includes('"ask"')) await Bun.sleep(10);
  child.kill("SIGKILL");
  await result;
  const { code, json } = await life.run(["--replay", life.file("tape.jsonl")]);
  expect(code).toBe(1);
  expect(json).toMatchObject({ outcome: "failed", code: "diverged" });
  expect(json.reason).toMatch(
    /tools\/call echo of server "s" is asked for, and the tape ends here: its run was killed/,
  );
});

test("what a run found on its machine need not be there: env files, inherited servers, files of secrets, folders", async () => {
  const tools = ["*"];
  const servers = {
    s: { ...fixtureServer("good.mjs"), env: { A: "${A}", B: "" } },
    m: { inherit: true, tools },
  };
  await using life = await scripted({
    turns: [{ calls: [echo("a"), call("m/echo", { text: "b" })] }, { text: "Done." }],
  });
  const write = (name: string, text: string) => Bun.write(life.file(name), text);
  servers.s.env.B = `\${file:${life.file("secret.txt")}}`;
  const model = { name: "openai-chat/m", baseUrl: "${URL}", apiKey: "${KEY}" };
  const fields = { model, envFile: "own.env", workdir: "{{ inputs.where }}", inputs: { where: { env: "WHERE" } } };
  await write("other/skill.yaml", manifest(servers, fields).replace('"tools":["*"],"inherit"', '"inherit"'));
  await write("other/own.env", `A=from-own-env\nURL=${life.model.url}\n`);
  await write("given.env", "KEY=a-key-of-the-model\n");
  await write("secret.txt", "a-secret-of-a-file\n");
  await write("here/.mcp.json", JSON.stringify({ mcpServers: { m: fixtureServer("good.mjs") } }));
  const cassette = life.file("tape.jsonl");
  const words = ["run", life.file("other"), "--json"];
  const env = { OMEGA_HOME: life.file("home") };
  const then = await omega([...words, "--env-file", life.file("given.env"), "--cassette", cassette], {
    cwd: life.file("here"),
    env: { ...env, WHERE: life.file("work") },
  });
  expect(then.code, then.stdout).toBe(0);
  for (const name of ["other/own.env", "given.env", "secret.txt", "here", "work"])
    rmSync(life.file(name), { recursive: true });
  const again = await omega([...words, "--replay", cassette], { cwd: "/", env });
  expect(lasting(JSON.parse(again.stdout))).toEqual(lasting(JSON.parse(then.stdout)));
  expect(readFileSync(cassette, "utf8")).not.toMatch(/from-own-env|a-key-of|a-secret-of/);
});

test("a run that is played does nothing: no audit, no output, no check, no cost for the day, no lock", async () => {
  const skill = {
    ...{ audit: "required", overlap: "fail", limits: { costPerDay: 1 }, output: { file: "out.txt" } },
    expect: [{ command: ["sh", "-c", "echo x >> ran"] }],
  };
  const model = { price: { input: 1_000, output: 1_000 } };
  await using life = await recorded({ ...plain, skill, model });
  expect(life.ended.json).toMatchObject({ outcome: "done" });
  expect(life.ended.json.cost).toBeGreaterThan(0);
  rmSync(life.file("work"), { recursive: true });
  const home = `${life.elsewhere}/omega`;
  for (let round = 0; round < 3; round++) {
    const again = await life.replay();
    expect(lasting(again.json)).toEqual(lasting(life.ended.json));
  }
  expect(existsSync(life.file("work"))).toBe(false);
  expect(existsSync(`${home}/audit`)).toBe(false);
  using history = new Database(`${home}/history.db`);
  expect(history.query("SELECT outcome, cost FROM runs").all()).toEqual(Array(3).fill({ outcome: "done", cost: 0 }));
  expect(records(home)).toHaveLength(3);
});

test("a run that is played is recorded like any other, and that plays as well", async () => {
  await using life = await recorded(plain);
  const again = await life.replay(["--cassette", life.file("second.jsonl")]);
  const { record } = again.json;
  expect(readFileSync(`${record}/cassette.jsonl`, "utf8")).toBe(life.text());
  expect(life.read("second.jsonl")).toBe(life.text());
});

test("words and flags of then hold, until others are given", async () => {
  const words = ["--limit", "turns=5", "in", "German"];
  await using life = await recorded({ ...plain, skill: { inputs: { a: { default: "x" } } } }, words);
  expect(life.lines()[0]).toMatchObject({ given: { limits: { turns: 5 } }, words: ["in", "German"] });
  expect((await life.replay()).json.outcome).toBe("done");
  expect((await life.replay(["--limit", "turns=1"])).json).toMatchObject({ outcome: "failed", code: "diverged" });
  expect((await life.replay(["--deny", "s/echo"])).json.reason).toContain('at tools.0 the tape has "mcp__s__echo"');
  const other = await life.play(["run", life.file("skill"), "--json", "--replay", life.cassette, "in", "Greek"]);
  expect(other.json.reason).toContain('at messages.0.user the tape has "Work. in German", the run "Work. in Greek"');
});

test("a script of turns is recorded as well, and need not be there to play", async () => {
  using folder = temporaryFolder({
    "skill.yaml": manifest({ s: fixtureServer("good.mjs") }, { model: "replay/turns.yaml" }),
    "turns.yaml": "turns: [{ calls: [{ tool: s/echo, arguments: { text: x } }] }]",
  });
  const words = ["run", folder.path, "--json"];
  const env = { OMEGA_HOME: folder.file("home") };
  const then = await omega([...words, "--cassette", folder.file("new/folder/tape.jsonl")], { env });
  rmSync(folder.file("turns.yaml"));
  const again = await omega([...words, "--replay", folder.file("new/folder/tape.jsonl")], { env });
  // It left its script then, and does so now: that is no departure from the tape.
  expect(JSON.parse(again.stdout)).toMatchObject({ code: "diverged", reason: JSON.parse(then.stdout).reason });
  expect(lasting(JSON.parse(again.stdout))).toEqual(lasting(JSON.parse(then.stdout)));
});

test("a server that was remembered as modern plays as it was started", async () => {
  const servers = { s: fixtureServer("modern-or-legacy.mjs", { env: { ERA: "era", STARTS: "starts" } }) };
  await using life = await scripted({ servers, turns: [{ text: "1" }, { text: "2" }, { text: "3" }] });
  const tapes = [];
  for (const era of ["modern", "modern", "legacy"]) {
    writeFileSync(life.file("work/era"), era);
    tapes.push(life.file(`${tapes.length}.jsonl`));
    const then = await life.run(["--cassette", tapes.at(-1) ?? ""]);
    expect(then.json.outcome).toBe("done");
    const again = await life.run(["--replay", tapes.at(-1) ?? ""], { env: { OMEGA_HOME: life.file("other") } });
    expect(lasting(again.json)).toEqual(lasting(then.json));
  }
  const methods = tapes.map((tape) => linesOf(readFileSync(tape, "utf8")).flatMap(({ method }) => method ?? []));
  expect(methods).toEqual([
    ["initialize", "server/discover", "tools/list"],
    ["server/discover", "tools/list"],
    ["server/discover", "initialize", "tools/list"],
  ]);
});

test.if(hasTerminal)("what a person said is played, and nobody is asked again", async () => {
  await using model = await modelServer([
    { calls: [call("notes/write", { name: "a", text: "x" })] },
    { calls: [call("notes/write", { name: "b", text: "x" })] },
    { text: "Done." },
  ]);
  using folder = temporaryFolder({
    "skill/skill.yaml": manifest({ notes: fixtureServer("notes.mjs", { tools: [] }) }, { model: "openai-chat/m" }),
  });
  const words = ["run", folder.file("skill"), "--quiet"];
  const env = { OPENAI_BASE_URL: model.url, OMEGA_HOME: folder.file("home") };
  await using terminal = atTerminal([...words, "--cassette", folder.file("tape.jsonl")], { env, cwd: folder.path });
  for (const answer of ["once", "no"]) {
    expect(await terminal.see("[n]o: ")).toBe(true);
    terminal.type(`${answer}\n`);
  }
  expect(await terminal.exit).toBe(0);
  const tape = linesOf(readFileSync(folder.file("tape.jsonl"), "utf8"));
  expect(tape.flatMap(({ reply }) => reply ?? [])).toEqual(["once", "no"]);
  const [id] = records(folder.file("home"));
  const then = JSON.parse(readFileSync(folder.file(`home/runs/${id}/result.json`), "utf8"));
  const again = await omega([...words, "--json", "--replay", folder.file("tape.jsonl")], {
    env: { OMEGA_HOME: folder.file("other") },
  });
  expect(lasting(JSON.parse(again.stdout))).toEqual(lasting(then));
  // At a terminal too.
  await using quiet = atTerminal([...words, "--replay", folder.file("tape.jsonl")], { env, cwd: folder.path });
  expect(await quiet.exit).toBe(0);
  expect(quiet.shown()).not.toContain("allow notes");
});

test("what cannot be is refused before anything happens, and the cassette that is there stays", async () => {
  await using life = await recorded(plain);
  const text = life.text();
  const skill = life.file("skill");
  const refused: [string[], RegExp][] = [
    [["--replay", life.cassette, "--model", "openai-chat/m"], /--replay plays the model too/],
    [["--replay", life.cassette, "--cassette", life.cassette], /--cassette would write over .*, which --replay plays/],
    [["--model", `replay/${life.cassette}`, "--cassette", life.cassette], /write over .*, which --model plays/],
    [["--replay", life.file("none.jsonl")], /cannot read .*none\.jsonl \(ENOENT\)/],
    [["--cassette", "/proc/none/tape.jsonl"], /--cassette: cannot write \/proc\/none\/tape\.jsonl/],
    [["--cassette", life.cassette, "--input", "no=1"], /no input "no"/],
  ];
  for (const [words, message] of refused) {
    const { code, stderr, stdout } = await life.play(["run", skill, ...words]);
    expect({ words, code, stdout }).toEqual({ words, code: 2, stdout: "" });
    expect(stderr).toMatch(message);
  }
  expect(life.text()).toBe(text);
  expect(records(`${life.elsewhere}/omega`)).toEqual([]);
});

test("a cassette that cannot be written on is told once, and the run goes on", async () => {
  await using life = await scripted(plain);
  const { code, stderr } = await life.tell(["--cassette", "/dev/full"]);
  expect(code).toBe(0);
  expect(stderr.match(/--cassette: cannot go on writing \/dev\/full \(ENOSPC\)/g)).toHaveLength(1);
});

test("replay/F.jsonl plays the model's side alone: real servers, in the folder of now, whatever is asked", async () => {
  const count = manifest({ own: fixtureServer("good.mjs") }, { prompt: "Count.", model: "anthropic/none" });
  await using life = await recorded(
    {
      skill: { limits: { depth: 1 }, skills: ["count"], prompt: "Work in {{ workdir }}." },
      files: { "skill/count/skill.yaml": count.replace("anthropic/none", "openai-chat/m") },
      servers: { notes: fixtureServer("notes.mjs") },
      turns: (_, { messages, results }) => {
        const [first] = messages;
        if (first?.text === "Count.")
          return results.length > 0 ? { text: "3" } : { calls: [call("own/echo", { text: "c" })] };
        if (first?.text === "help") return { text: "Helped." };
        if (results.length > 0) return { text: "All is done." };
        const path = { name: "{{ workdir }}", text: "x" };
        return {
          calls: [
            call("notes/write", { name: "new", text: "x" }),
            call("agent", { task: "help" }),
            call("skill__count"),
            call("notes/nothing", path),
          ],
        };
      },
    },
    [],
    (model) => ({ env: model.env("openai-chat") }),
  );
  expect(life.ended.json, life.ended.stderr).toMatchObject({ outcome: "done", turns: 5 });
  mkdirSync(`${life.elsewhere}/work`);
  writeFileSync(life.file("skill/count/skill.yaml"), count);
  const words = ["run", life.file("skill"), "--json", "--workdir", "work", "--model", `replay/${life.cassette}`];
  const { code, json } = await life.play([...words, "and", "more"]);
  expect(code).toBe(0);
  expect(json).toMatchObject({
    ...{ outcome: "done", text: "All is done.", turns: 5, cost: 0, usage: { input: 0, output: 0 } },
    children: { started: 2 },
  });
  expect(json.model).toBe(`replay/${life.cassette}`);
  expect(json.warnings.join()).toContain("the answers are those of a recorded run");
  expect(readdirSync(`${life.elsewhere}/work`)).toContain("new");
});

test("replay/F.jsonl: an answer too few, a failure of then, and a file that is none are told", async () => {
  await using life = await recorded({ turns: [{ calls: [echo("a")] }, finish("done", "D.", { output: { n: 1 } })] });
  const alone = (file: string) =>
    life.play(["run", life.file("skill"), "--json", "--model", `replay/${life.file(file)}`]);
  writeFileSync(life.file("short.jsonl"), life.text().split("\n").slice(0, 5).join("\n"));
  const short = await alone("short.jsonl");
  expect(short.json).toMatchObject({ outcome: "failed", code: "diverged" });
  expect(short.json.reason).toMatch(/short\.jsonl has 1 answers? of the model, the run wants one more/);
  writeFileSync(life.file("none.jsonl"), "turns: []\n");
  const none = await alone("none.jsonl");
  expect(none.code).toBe(2);
  expect(none.json.reason).toMatch(/none\.jsonl:1: not a cassette/);
  expect((await alone("absent.jsonl")).code).toBe(2);

  await using failed = await recorded({ turns: [{ status: 429, retryAfter: 7_200 }] });
  const again = await failed.play([
    ...["run", failed.file("skill"), "--json"],
    ...["--model", `replay/${failed.cassette}`],
  ]);
  expect(again.json).toMatchObject({ outcome: "unavailable", retryAfterMs: 7_200_000 });
});
