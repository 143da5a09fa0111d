// `omega test`: the cassettes of a skill are played, in CI too; `--update` accepts what is asked now; `--from` makes one of
// a run that is over.

import { expect, test } from "bun:test";
import {
  appendFileSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname } from "node:path";
import { linesOf, recorded } from "../support/cassettes.ts";
import { omega } from "../support/omega.ts";
import { call, echo, type Scripted, scripted } from "../support/scripted.ts";
import { manifest } from "../support/skills.ts";

const plain: Scripted = {
  turns: [{ calls: [echo("a"), echo("b")] }, { text: "It is done." }],
  skill: { prompt: "Do it.", expect: [{ tool: "s/echo", min: 2 }] },
};
const failing: Scripted = { ...plain, skill: { expect: [{ file: "none.txt" }] } };

/** A skill with these cassettes of one run in its tests/. */
async function tested(given: Scripted = plain, names = ["good.jsonl"]) {
  const life = await recorded(given);
  const file = (name: string) => life.file(`skill/tests/${name}`);
  mkdirSync(life.file("skill/tests"));
  for (const name of names) copyFileSync(life.cassette, file(name));
  const skill = life.file("skill");
  return {
    ...life,
    skill,
    tape: file,
    read: (name: string) => readFileSync(file(name), "utf8"),
    test: (...words: string[]) => life.play(["test", ...words]),
    change: (name: string, from: string, to: string) => {
      const text = readFileSync(file(name), "utf8");
      expect(text).toContain(from);
      writeFileSync(file(name), text.replaceAll(from, to));
    },
    changeSkill: (from: string, to: string) => {
      const text = readFileSync(life.file("skill/skill.yaml"), "utf8");
      expect(text).toContain(from);
      writeFileSync(life.file("skill/skill.yaml"), text.replace(from, to));
    },
  };
}

test("tests that hold: one line each, exit 0, and nothing is left anywhere", async () => {
  await using life = await tested(plain, ["b.jsonl", "a.jsonl"]);
  writeFileSync(life.tape("notes.md"), "not a cassette");
  const { code, stdout, stderr } = await life.test(life.skill);
  expect(code).toBe(0);
  expect(stderr).toBe("");
  expect(stdout.replace(/\d+ ms/g, "N ms")).toBe(
    `ok     ${life.tape("a.jsonl")}: done, N ms\nok     ${life.tape("b.jsonl")}: done, N ms\n2 passed, 0 failed\n`,
  );
  expect(existsSync(`${life.elsewhere}/omega`)).toBe(false);
});

test("a run that failed then must fail so now", async () => {
  await using life = await tested(failing);
  const good = await life.test(life.skill);
  expect(good).toMatchObject({ code: 0, stdout: expect.stringMatching(/^ok .*: failed, \d+ ms\n1 passed/) });
  life.change("good.jsonl", '"ok":false', '"ok":true');
  const { code, stdout } = await life.test(life.skill);
  expect(code).toBe(1);
  expect(stdout).toMatch(/^FAILED .*:\d+\): the end: at outcome the tape has "failed", the run "done"\n/);
});

test("a departure is exit 1; the others are played all the same, and the hint is told once", async () => {
  await using life = await tested(plain, ["1.jsonl", "2.jsonl", "3.jsonl"]);
  for (const name of ["1.jsonl", "3.jsonl"]) life.change(name, "Do it.", "Do that.");
  const { code, stdout } = await life.test(life.skill);
  expect(code).toBe(1);
  expect(stdout.split("\n").map((line) => line.split(" ")[0])).toEqual(["FAILED", "ok", "FAILED", "if", "1", ""]);
  expect(stdout).toContain("(4): turn 1 of the model".replace("(4)", `${life.tape("1.jsonl")}:4)`));
  expect(stdout).toEndWith("1 passed, 2 failed\n");
});

test("a cassette that cannot be read is a test that fails", async () => {
  await using life = await tested(plain, ["1.jsonl", "2.jsonl"]);
  appendFileSync(life.tape("1.jsonl"), "{}\n");
  const { code, stdout } = await life.test(life.skill);
  expect(code).toBe(1);
  expect(stdout).toContain(`FAILED ${life.tape("1.jsonl")}: ${life.tape("1.jsonl")}:11: something follows the end\n`);
  expect(stdout).toContain("1 passed, 1 failed");
});

test("several skills, as JSON and as JUnit", async () => {
  await using one = await tested();
  await using other = await tested(plain, ["<&>.jsonl"]);
  other.change("<&>.jsonl", "Do it.", 'Do \\"that\\".');
  const junit = one.file("junit.xml");
  const { code, json } = await one.test(one.skill, `${other.skill}/skill.yaml`, "--json", "--junit", junit);
  expect(code).toBe(1);
  expect(json).toMatchObject([
    { skill: one.skill, cassette: one.tape("good.jsonl"), ok: true, outcome: "done", reason: null, updated: false },
    { skill: `${other.skill}/skill.yaml`, cassette: other.tape("<&>.jsonl"), ok: false, outcome: "failed" },
  ]);
  const xml = readFileSync(junit, "utf8");
  expect(xml).toMatch(
    /^<\?xml version="1\.0" encoding="UTF-8"\?>\n<testsuite name="omega test" tests="2" failures="1">\n/,
  );
  expect(xml).toContain(`name="${other.tape("&lt;&amp;>.jsonl")}"`);
  expect(xml).toContain("the tape has &quot;Do \\&quot;that\\&quot;.&quot;, the run &quot;Do it.&quot;");
  expect(xml).toEndWith("</testsuite>\n");
});

const usages: [string, (life: Awaited<ReturnType<typeof tested>>) => string[], RegExp][] = [
  ["nothing to test", () => [], /give the skills to test, or --from and a run/],
  ["a skill and --from", ({ skill }) => [skill, "--from", "last"], /give the skills to test, or --from and a run/],
  ["a skill that is not there", () => ["none"], /no such skill: none/],
  ["a skill without tests", ({ skill, path }) => moved(`${skill}/tests`, `${path}/tests`), /has no tests/],
  ["a run that is not there", () => ["--from", "20260901-060000-0a1b2c3d"], /there is no recorded run 2026/],
  ["what is no run", () => ["--from", "../.."], /there is no recorded run \.\.\/\.\./],
  ["no run at all", () => ["--from", "last"], /there is no recorded run in /],
  [
    "a report that cannot be written",
    ({ skill }) => [skill, "--junit", "/none/x"],
    /--junit: cannot write \/none\/x \(ENOENT\)/,
  ],
  ["a flag that does not exist", () => ["--updat"], /no flag --updat.*--update/],
];
for (const [what, words, message] of usages) {
  test(`${what} is exit 2`, async () => {
    await using life = await tested();
    const { code, stderr } = await life.test(...words(life));
    expect(code).toBe(2);
    expect(stderr).toMatch(message);
  });
}

function moved(tests: string, to: string): string[] {
  renameSync(tests, to);
  return [dirname(tests)];
}

test("--update accepts what is asked now, keeps every answer, and changes nothing but that", async () => {
  await using life = await tested();
  const before = life.read("good.jsonl");
  const { mtimeMs } = statSync(life.tape("good.jsonl"));
  expect(await life.test(life.skill, "--update")).toMatchObject({ code: 0 });
  expect(statSync(life.tape("good.jsonl")).mtimeMs).toBe(mtimeMs);

  life.changeSkill('"Do it."', '"Do it in {{ workdir }}."');
  life.changeSkill('"min": 2', '"min": 1');
  expect((await life.test(life.skill)).code).toBe(1);
  const { code, stdout } = await life.test(life.skill, "--update");
  expect({ code, stdout }).toMatchObject({ code: 0, stdout: expect.stringMatching(/done, \d+ ms, updated\n/) });
  const after = life.read("good.jsonl");
  const changed = after.split("\n").flatMap((line, index) => (line === before.split("\n")[index] ? [] : [index + 1]));
  expect(changed).toEqual([4, 8]);
  expect(linesOf(after)[3].ask.messages).toEqual([{ user: "Do it in {{ workdir }}." }]);
  expect(linesOf(after)[3].answer).toEqual(linesOf(before)[3].answer);
  expect(await life.test(life.skill)).toMatchObject({ code: 0 });
  expect((await life.test(life.skill, "--update")).stdout).not.toContain("updated");
});

test("--update: a call that is made no more goes, a tool that is new comes, another end is the end", async () => {
  await using life = await tested();
  // Somebody has taken a call out of the answer, and denies nothing but wants more.
  const lines = linesOf(life.read("good.jsonl"));
  lines[3].answer = lines[3].answer.filter((event: any) => !event.call?.arguments.includes('"b"'));
  writeFileSync(life.tape("good.jsonl"), lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
  life.changeSkill('"description"', '"limits": { "depth": 1 }, "description"');
  const updated = await life.test(life.skill, "--update");
  expect(updated.stdout).toMatch(/failed, \d+ ms, updated/);
  const after = linesOf(life.read("good.jsonl"));
  expect(after.filter(({ method }) => method === "tools/call")).toHaveLength(1);
  expect(after[3].ask.tools).toEqual(["mcp__s__echo", "agent", "finish"]);
  expect(after.at(-1).end).toMatchObject({ outcome: "failed", code: "check", toolCalls: 1 });
  expect(await life.test(life.skill)).toMatchObject({ code: 0 });
});

test("--update cannot invent answers: what is asked beyond them stays a departure, and the file as it is", async () => {
  await using life = await tested();
  const lines = linesOf(life.read("good.jsonl"));
  const text = lines
    .toSpliced(6, 1)
    .map((line) => `${JSON.stringify(line)}\n`)
    .join("");
  writeFileSync(life.tape("good.jsonl"), text);
  const { code, stdout } = await life.test(life.skill, "--update");
  expect(code).toBe(1);
  expect(stdout).toContain("turn 2 of the model is asked for, which the tape does not have");
  expect(life.read("good.jsonl")).toBe(text);
});

test("a manifest that is wrong, or wants an input that was not there then, is a test that fails, with its reason", async () => {
  await using life = await tested();
  life.changeSkill('"description"', '"inputs": { "where": {} }, "description"');
  const { code, stdout } = await life.test(life.skill);
  expect(code).toBe(1);
  expect(stdout).toContain('input "where" is missing');
  expect((await life.test(life.skill, "--update")).code).toBe(1);
});

test("--from makes a test of a run of the records, good or not, and plays it", async () => {
  await using life = await scripted(failing);
  const { json } = await life.run(["--input-file", "-"], { input: "{}" });
  expect(json.outcome).toBe("failed");
  const home = { env: { OMEGA_HOME: life.file("home") } };
  for (const name of [json.run, "last"]) {
    const { code, stdout } = await omega(["test", "--from", name], home);
    const cassette = life.file(`skill/tests/failed-${json.run}.jsonl`);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^ok .*: failed, \d+ ms\n1 passed, 0 failed\n$/);
    expect(stdout).toContain(cassette);
    expect(readFileSync(cassette, "utf8")).toBe(readFileSync(`${json.record}/cassette.jsonl`, "utf8"));
  }
  expect(readdirSync(life.file("home/runs"))).toEqual([json.run]);
  expect((await omega(["test", life.file("skill")], home)).code).toBe(0);
  rmSync(life.file("skill"), { recursive: true });
  const gone = await omega(["test", "--from", "last"], home);
  expect(gone).toMatchObject({ code: 2, stderr: expect.stringContaining("is not where it was") });
});

test("--from: a SKILL.md with a manifest beside it, and a manifest of another name, are found as they were", async () => {
  const body = "---\nname: work\ndescription: From markdown.\n---\nBe brief.\n";
  await using life = await scripted({ turns: [{ text: "A." }, { text: "B." }], files: { "skill/SKILL.md": body } });
  expect((await life.run()).json.outcome).toBe("done");
  expect(life.model.asked(0).system).toContain("Be brief.");
  const env = { OMEGA_HOME: life.file("home"), ...life.model.env("openai-chat") };
  expect(await omega(["test", "--from", "last"], { env })).toMatchObject({ code: 0 });
  await Bun.write(life.file("other/daily.yaml"), manifest({}, { model: "openai-chat/m" }));
  expect((await omega(["run", life.file("other/daily.yaml")], { env })).code).toBe(0);
  expect(await omega(["test", "--from", "last"], { env })).toMatchObject({ code: 0 });
  expect(readdirSync(life.file("other/tests"))).toHaveLength(1);
});

test("--from a run that was killed, or that asked nothing, is exit 2 and says why", async () => {
  await using life = await scripted({ turns: [{ hang: true }] });
  const { child, result } = life.start();
  while (life.model.requests.length === 0) await Bun.sleep(10);
  child.kill("SIGKILL");
  await result;
  const home = { env: { OMEGA_HOME: life.file("home") } };
  const killed = await omega(["test", "--from", "last"], home);
  expect(killed).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("has no end: it was killed, is still on, or was too long to be kept"),
  });
  expect(readdirSync(life.file("skill"))).toEqual(["skill.yaml"]);
});

test("a signal ends the tests, and the exit code tells it", async () => {
  await using life = await tested(
    plain,
    Array.from({ length: 200 }, (_, index) => `${index}.jsonl`),
  );
  const { startOmega } = await import("../support/omega.ts");
  const { child, result } = startOmega(["test", life.skill], { env: { OMEGA_HOME: life.file("home") } });
  await new Promise((resolve) => child.stdout?.once("data", resolve));
  child.kill("SIGTERM");
  const { code, stdout } = await result;
  expect(code).toBe(143);
  expect(stdout).not.toContain("passed");
});

test("omega test --help and the completions know it", async () => {
  const help = await omega(["test", "--help"]);
  for (const word of ["--update", "--from=<run>", "--junit=<file>", "--json", "no server, no key, no network"])
    expect(help.stdout).toContain(word);
  for (const shell of ["bash", "zsh", "fish"]) {
    const { stdout } = await omega(["completions", shell]);
    for (const word of ["junit", "update", "replay", "cassette"]) expect(stdout).toContain(word);
  }
  expect((await omega(["--help"])).stdout).toContain("test");
});

test("the tests of a skill are not for its model to read", async () => {
  await using life = await tested({
    turns: [{ calls: [call("ReadSkillFile", { path: "tests/good.jsonl" })] }, { text: "No." }],
    files: { "skill/a.md": "a" },
  });
  expect(life.ended.json.outcome).toBe("done");
  expect((await life.test(life.skill)).code).toBe(0);
  expect(life.read("good.jsonl")).toContain("is not a file of this skill for you to read");
});
