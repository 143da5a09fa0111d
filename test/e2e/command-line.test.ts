import { expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { bin, cleanEnvironment, omega, root } from "../support/omega.ts";
import { aliveWith } from "../support/processes.ts";
import { fixtureServer, manifest } from "../support/skills.ts";
import { temporaryFolder } from "../support/temporary.ts";

const mistakes: [string[], string][] = [
  [["rnu"], 'no command rnu; did you mean "run"?'],
  [["--verison"], "no flag --verison"],
  [["--version", "--jsno"], "--version takes --json and nothing else"],
  [["run", "x", "--modle", "a/b"], 'no flag --modle; did you mean "--model"?'],
  [["run", "x", "--no-model"], "no flag --no-model"],
  [["run", "x", "--model"], "--model needs a value"],
  [["run", "x", "--model", "--quiet"], "--model needs a value"],
  [["run", "x", "--json=yes"], "--json takes no value"],
  [["run", "x", "--format", "jsno"], '--format takes text, json, stream-json, not "jsno"; did you mean "json"?'],
  [["run"], "Missing required positional argument: SKILL"],
  [["run", "/no/such/skill"], "no such skill: /no/such/skill"],
];
for (const [words, message] of mistakes) {
  test(`omega ${words.join(" ")} is invalid, exit 2, and says: ${message}`, async () => {
    const { code, stdout, stderr } = await omega(words);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain(message);
    expect(stderr).not.toContain("    at ");
  });
}

test("a run that is refused for its command line has an envelope for who asks for JSON", async () => {
  for (const [words, read] of [
    [["run", "x", "--json", "--modle", "a/b"], (text: string) => text],
    [
      ["run", "x", "--format", "stream-json", "--limit", "turns=many"],
      (text: string) => text.trim().split("\n").at(-1),
    ],
    [["run", "x", "--modle", "a/b", "--format=json"], (text: string) => text],
  ] as const) {
    const { code, stdout } = await omega(words);
    expect(code).toBe(2);
    expect(JSON.parse(read(stdout) ?? "")).toMatchObject({
      outcome: "invalid",
      exitCode: 2,
      code: "usage",
      record: null,
    });
  }
});

test("no command at all prints the help on stderr and exits 2", async () => {
  const { code, stdout, stderr } = await omega([]);
  expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
  expect(stderr).toContain("USAGE");
});

test("--help works alone, after a command, and as a word", async () => {
  for (const words of [["--help"], ["help"], ["-h"]]) {
    const { code, stdout } = await omega(words);
    expect(code).toBe(0);
    expect(stdout).toContain("run    Run a skill");
  }
  for (const words of [
    ["run", "--help"],
    ["help", "run"],
    ["run", "x", "-h"],
  ]) {
    const { code, stdout } = await omega(words);
    expect(code).toBe(0);
    expect(stdout).toContain("--format");
  }
});

test("--version prints one line; with --json how it was built", async () => {
  const { version } = await Bun.file(`${root}/package.json`).json();
  expect((await omega(["--version"])).stdout).toBe(`omega ${version}\n`);
  const details = JSON.parse((await omega(["--version", "--json"])).stdout);
  expect(details).toMatchObject({ version, target: `${process.platform}-${process.arch}` });
  if (process.env["OMEGA_UNDER_TEST"] !== "deno") {
    expect(details).toMatchObject({ bun: process.versions.bun, commit: expect.stringMatching(/^[0-9a-f]{12}$/) });
  }
});

test("all errors of a manifest are told at once, with line and column", async () => {
  using folder = temporaryFolder({
    "skill.yaml": "descripton: x\nservers:\n  git:\n    command: git\n    timeout: 30\nlimits: { turns: none }\n",
  });
  const { code, stderr } = await omega(["run", folder.path]);
  expect(code).toBe(2);
  for (const place of ["skill.yaml:1:1", "skill.yaml:5:14", "skill.yaml:6:18"]) expect(stderr).toContain(place);
  expect(stderr).toContain("did you mean");
});

test("an exception that nobody catches ends as internal, exit 70, in one clear line; -v shows the stack", () => {
  const late = (words: string[]) => {
    const { status, stderr } = spawnSync(bin("bun"), [`${root}/test/fixtures/throws-late.ts`, "late", ...words], {
      encoding: "utf8",
    });
    return { status, lines: stderr.trim().split("\n") };
  };
  const short = late([]);
  expect(short.status).toBe(70);
  expect(short.lines[0]).toBe("error: internal: unexpected TypeError: thrown where nobody catches");
  expect(short.lines.length).toBe(2);
  expect(late(["-v"]).lines.join("\n")).toContain("throws-late.ts:");
});

test("an exception that nobody catches ends a run as internal, with its servers gone and the reason told once", () => {
  const mark = crypto.randomUUID();
  using folder = temporaryFolder({
    "turns.yaml": "turns: [{ calls: [{ tool: slow/echo, arguments: { text: hi } }] }]",
  });
  const slow = fixtureServer("slow-call.mjs", { env: { READY: folder.file("ready"), MARK: mark } });
  writeFileSync(folder.file("skill.yaml"), manifest({ slow }, { model: "replay/turns.yaml" }));
  const { status, stdout, stderr } = spawnSync(
    bin("bun"),
    [`${root}/test/fixtures/throws-late.ts`, "run", folder.path, "--json"],
    { encoding: "utf8", env: { ...cleanEnvironment, THROW_WHEN: folder.file("ready") }, timeout: 30_000 },
  );
  expect(status, stderr).toBe(70);
  expect(JSON.parse(stdout)).toMatchObject({ outcome: "internal", children: { started: 1, survivors: [] } });
  expect(stderr.match(/thrown where nobody catches/g)?.length).toBe(2); // the call's error result, and the reason
  expect(aliveWith(mark)).toEqual([]);
});
