// What a run gives: its answer on stdout and in its file, its record, and what its model can read again.

import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { chmodSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import type { ScriptedTurn } from "../support/model-server.ts";
import { call, echo, finish, scripted } from "../support/scripted.ts";
import { fixture, fixtureServer } from "../support/skills.ts";

const schema = { type: "object", properties: { n: { type: "integer" } }, required: ["n"] };
const answer = { text: "The answer.\nIn two lines." };

test("text: the answer is all that is on stdout", async () => {
  await using life = await scripted({ turns: [{ text: "Let me see. ", calls: [echo("a")] }, answer] });
  const { code, stdout, stderr } = await life.tell();
  expect({ code, stdout }).toEqual({ code: 0, stdout: "The answer.\nIn two lines.\n" });
  expect(stderr).toMatch(/done in [\d.]+ s: 2 turns, 1 tool call; 1 process started, none left\n/);
});

test("text: what comes by finish is the answer where there is no text", async () => {
  await using life = await scripted({ wire: "google", turns: [finish("nothing-to-do", "No commits.")] });
  expect(await life.tell()).toMatchObject({ code: 0, stdout: "No commits.\n" });
});

test("text: structured output is printed as JSON", async () => {
  await using life = await scripted({
    wire: "openai",
    skill: { output: { schema } },
    turns: [{ text: "Here it is.", ...finish("done", "ok", { output: { n: 3 } }) }],
  });
  const { code, stdout } = await life.tell(["--quiet"]);
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toEqual({ n: 3 });
});

const notGood: [string, ScriptedTurn[], string[], string][] = [
  ["a failed check", [answer], ["--limit", "turns=5"], "failed"],
  ["a limit", [{ calls: [echo("a")] }, answer], ["--limit", "turns=2"], "limit"],
  ["a blocked model", [{ ...answer, ...finish("blocked", "No rights.") }], [], "failed"],
];
for (const [what, turns, words, outcome] of notGood) {
  test(`text: after ${what} stdout is empty, and the last words are on stderr`, async () => {
    await using life = await scripted({ wire: "anthropic", skill: { expect: [{ file: "x" }] }, turns });
    const { code, stdout, stderr } = await life.tell(words);
    expect(code).not.toBe(0);
    expect(stdout).toBe("");
    expect(stderr).toContain("the model's last words: The answer.\nIn two lines.");
    expect(stderr).toContain(`error: ${outcome}: `);
  });
}

test("output.file gets the answer, whole, in a folder that is made for it; its name may hold the day", async () => {
  await using life = await scripted({ turns: [answer], skill: { output: { file: "notes/{{ today }}.md" } } });
  const { code, stdout } = await life.tell();
  expect({ code, stdout }).toEqual({ code: 0, stdout: "The answer.\nIn two lines.\n" });
  const [name = ""] = life.names("work/notes");
  expect(name).toMatch(/^\d{4}-\d\d-\d\d\.md$/);
  expect(life.read(`work/notes/${name}`)).toBe("The answer.\nIn two lines.\n");
  expect(life.names("work/notes")).toHaveLength(1);
});

test("output.file gets structured output as JSON, and keeps its mode", async () => {
  await using life = await scripted({
    wire: "google",
    skill: { output: { schema, file: "n.json" } },
    turns: [finish("done", "ok", { output: { n: 3 } })],
    files: { "work/n.json": "old" },
  });
  chmodSync(life.file("work/n.json"), 0o666);
  const { json } = await life.run();
  expect(json).toMatchObject({ outcome: "done", output: { n: 3 }, text: "ok" });
  expect(JSON.parse(life.read("work/n.json"))).toEqual({ n: 3 });
  expect(statSync(life.file("work/n.json")).mode & 0o777).toBe(0o666);
});

test("--output takes its place, relative to the caller", async () => {
  await using life = await scripted({ turns: [answer], skill: { output: { file: "notes.md" } } });
  expect((await life.run(["--output", "here.md"], { cwd: life.file("skill") })).code).toBe(0);
  expect(life.names("work")).toEqual([]);
  expect(life.read("skill/here.md")).toStartWith("The answer.");
});

test("output.file is left alone by a run that is not done", async () => {
  for (const turn of [finish("blocked", "No rights."), finish("nothing-to-do", "No commits."), {}]) {
    await using life = await scripted({
      turns: [turn],
      skill: { output: { file: "n.md" } },
      files: { "work/n.md": "old" },
    });
    await life.run();
    expect(life.read("work/n.md")).toBe("old");
  }
});

test("what is no regular file is written to, not replaced", async () => {
  await using life = await scripted({ turns: () => answer });
  const read = Bun.spawn(["sh", "-c", 'mkfifo "$0" && cat "$0"', life.file("pipe")], { stdout: "pipe" });
  while (!life.names().includes("pipe")) await Bun.sleep(5);
  expect((await life.run(["--output", life.file("pipe")])).code).toBe(0);
  expect(await new Response(read.stdout).text()).toBe("The answer.\nIn two lines.\n");
  expect(statSync(life.file("pipe")).isFIFO()).toBe(true);
});

test("a pipe that nobody reads does not hold the run: failed as output-file", async () => {
  await using life = await scripted({ turns: [answer] });
  Bun.spawnSync(["mkfifo", life.file("pipe")]);
  const { code, json } = await life.run(["--output", life.file("pipe")]);
  expect({ code, word: json.code }).toEqual({ code: 1, word: "output-file" });
});

test("an output that was cut is read on, page by page, to its last byte", async () => {
  const long = `é${"0123456789".repeat(30)}ü`;
  const read = (more: object) => ({ name: "ReadToolOutput", arguments: { id: "1", ...more } });
  await using life = await scripted({
    wire: "anthropic",
    skill: { limits: { toolOutput: "100B" } },
    turns: [
      { calls: [echo(long)] },
      { calls: [read({ offset: 99 })] },
      { calls: [read({ offset: 199 }), read({ offset: 299, length: 100 }), read({ length: 101 }), read({ id: "2" })] },
      { text: "Read." },
    ],
  });
  const { json } = await life.run();
  expect(json).toMatchObject({ outcome: "done", toolCalls: 6 });
  expect(life.model.asked(0).tools).not.toContain("ReadToolOutput");
  expect(life.model.asked(1).tools).toContain("ReadToolOutput");
  const [first, second, third, fourth, tooLong, unknown] = life.model.asked(-1).results.map(({ text }) => text);
  expect(first).toEndWith('\n[cut: the first 100 of 310 bytes; ReadToolOutput {"id":"1","offset":100} reads on]');
  expect(second).toEndWith("\n[111 bytes follow: offset 199]");
  const bodies = [first, second, third, fourth].map((page) => page?.replace(/\n\[[^\]]*\]$/, ""));
  expect(bodies.join("")).toContain("0123456789ü");
  expect(tooLong).toContain("/length");
  expect(unknown).toContain('there is no kept output "2"');
  expect(readFileSync(`${json.record}/outputs/1.txt`, "utf8")).toBe(`echo: ${long}`);
});

test("a cut output with colours is read on where it was cut", async () => {
  const red = (n: number) => `\x1b[31m${String(n).padStart(4, "0")}\x1b[0m `;
  const long = [...Array(40).keys()].map(red).join("");
  await using life = await scripted({
    skill: { limits: { toolOutput: "200B" } },
    turns: (index, { results }) => {
      const next = /"offset":(\d+)\}|offset (\d+)\]/.exec(results.at(-1)?.text ?? "");
      if (index === 0) return { calls: [echo(long)] };
      const offset = Number(next?.[1] ?? next?.[2]);
      return next ? { calls: [{ name: "ReadToolOutput", arguments: { id: "1", offset } }] } : { text: "Read." };
    },
  });
  expect((await life.run()).json.outcome).toBe("done");
  const whole = life.model
    .asked(-1)
    .results.map(({ text }) => text.replace(/\n\[[^\]]*\]$/, ""))
    .join("");
  const numbers = Bun.stripANSI(whole).match(/\d{4}/g) ?? [];
  expect([...numbers]).toEqual([...Array(40).keys()].map((n) => String(n).padStart(4, "0")));
});

test("ReadSkillFile reads the files of the skill, and nothing else", async () => {
  const read = (path: string) => ({ name: "ReadSkillFile", arguments: { path } });
  const refused = [
    "../home/secret",
    "/etc/passwd",
    ".hidden",
    "run.env",
    "skill.yaml",
    "link",
    "docs/../../work/x",
    "tests/a.md",
    "none.md",
    "docs",
  ];
  await using life = await scripted({
    wire: "openai",
    skill: { envFile: "run.env" },
    turns: [{ calls: ["guide.md", "docs/./more.md", "docs/../guide.md", ...refused].map(read) }, { text: "Read." }],
    files: {
      "skill/guide.md": "Guide.",
      "skill/docs/more.md": "More.",
      "skill/.hidden": "SECRET",
      "skill/run.env": "A=SECRET",
      "skill/tests/a.md": "SECRET",
      "home/secret": "SECRET",
      "work/x": "SECRET",
    },
  });
  symlinkSync("../home/secret", life.file("skill/link"));
  expect((await life.run()).json.outcome).toBe("done");
  const tool = life.model.asked(0).raw.tools.find(({ name }: { name: string }) => name === "ReadSkillFile");
  expect(tool.description).toEndWith("It has: docs/more.md, guide.md");
  const results = life.model.asked(1).results.map(({ text }) => text);
  expect(results.slice(0, 3)).toEqual(["Guide.", "More.", "Guide."]);
  expect(results).toHaveLength(3 + refused.length);
  expect(JSON.stringify(life.model.requests)).not.toContain("SECRET");
});

test("the program of a server is not for the model, and a README only beside a SKILL.md", async () => {
  const program = await Bun.file(fixture("serve.mjs")).text();
  const servers = { s: { command: "node", args: ["{{ skill.dir }}/server.mjs"] } };
  for (const markdown of [{}, { "skill/SKILL.md": "---\nname: skill\ndescription: d\n---\nRead the README." }]) {
    await using life = await scripted({
      servers,
      skill: { name: "skill" },
      turns: [{ text: "Done." }],
      files: { "skill/server.mjs": `${program}\nserve();`, "skill/README.md": "…", "skill/guide.md": "…", ...markdown },
    });
    expect((await life.run()).json.outcome).toBe("done");
    const { tools } = life.model.requests[0];
    const { description } = tools.find((tool: any) => tool.function.name === "ReadSkillFile").function;
    const names = Object.keys(markdown).length > 0 ? "README.md, guide.md" : "guide.md";
    expect(description).toEndWith(`It has: ${names}`);
  }
});

for (const order of ["before", "after"]) {
  test(`finish ${order} a call of its turn that fails is not taken; by itself it is`, async () => {
    const done = finish("done", "ok").calls[0]!;
    const bad = echo("failed");
    await using life = await scripted({
      wire: "google",
      servers: { s: fixtureServer("odd-results.mjs") },
      turns: [{ calls: order === "before" ? [done, bad] : [bad, done] }, finish("blocked", "It failed.")],
    });
    expect((await life.run()).json).toMatchObject({ outcome: "failed", code: "blocked", turns: 2, toolCalls: 1 });
    const results = life.model.asked(1).results;
    expect(results[order === "before" ? 0 : 1]?.text).toContain("not taken: another call of this turn failed");
  });
}

test("the record holds the events, the result, what servers said, and a row in the history", async () => {
  await using life = await scripted({
    wire: "anthropic",
    servers: {
      s: { command: "sh", args: ["-c", `echo hello from stderr >&2; exec node ${fixtureServer("good.mjs").args[0]}`] },
    },
    turns: [{ text: "Look.", calls: [echo("a")] }, answer],
  });
  const { json } = await life.run();
  expect(json.record).toBe(life.file(`home/runs/${json.run}`));
  expect(life.names(`home/runs/${json.run}`)).toEqual(["cassette.jsonl", "events.jsonl", "result.json", "stderr"]);
  expect(JSON.parse(life.read(`home/runs/${json.run}/result.json`))).toEqual(json);
  expect(life.read(`home/runs/${json.run}/stderr/s.log`)).toBe("hello from stderr\n");
  expect(life.events(json).map(({ type }) => type)).toEqual([
    ...["start", "starting", "server", "turn", "text", "call", "usage", "result"],
    ...["turn", "text", "usage", "answer"],
  ]);
  using history = new Database(life.file("home/history.db"), { readonly: true });
  expect(history.query("SELECT * FROM runs").all()).toMatchObject([
    {
      id: json.run,
      skill: "work",
      outcome: "done",
      exitCode: 0,
      turns: 2,
      toolCalls: 1,
      input: 120,
      record: json.record,
    },
  ]);
  const [day = ""] = life.names("home/audit");
  const audit = life
    .read(`home/audit/${day}`)
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(audit).toMatchObject([
    { run: json.run, phase: "begin", server: "s", method: "tools/call", name: "echo", arguments: { text: "a" } },
    { run: json.run, phase: "end", how: "answered" },
  ]);
  expect(life.names("home/journal")).toEqual([]);
});

test("a home that cannot be written costs the record, with one warning, and not the run", async () => {
  await using life = await scripted({ turns: [{ calls: [call("s/echo", { text: "a" })] }, answer] });
  writeFileSync(life.file("plain"), "");
  const { code, json } = await life.run([], { env: { OMEGA_HOME: life.file("plain/home") } });
  expect(code).toBe(0);
  expect(json).toMatchObject({ outcome: "done", record: null, warnings: [expect.stringContaining("cannot write to")] });
});
