// The README in a fresh clone: every command of its sh blocks runs there and ends with 0. Where a model is needed a scripted
// one answers; commands with a placeholder are for people.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { readFileSync, symlinkSync } from "node:fs";
import { resolve } from "node:path";
import { type ModelServer, modelServer } from "../support/model-server.ts";
import { root } from "../support/omega.ts";
import { temporaryFolder } from "../support/temporary.ts";

const readme = readFileSync(resolve(root, "README.md"), "utf8");
const blocks = [...readme.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, text = ""]) => text.trim().split("\n"));
const manifest = /^```yaml\n# skill\.yaml\n(.*?)^```$/ms.exec(readme)?.[1] ?? "";
/** These run in .ci/run, each by itself. */
const elsewhere = ["npm ci", "npm test"];
const isForPeople = (command: string) => /\b[A-Z]{2,}\b|…/.test(withoutComment(command));
const withoutComment = (command: string) => command.replace(/\s+#.*$/, "");

const folder = temporaryFolder();
const clone = folder.file("omega");
let model: ModelServer;

beforeAll(async () => {
  model = await modelServer((index, { results }) =>
    index % 2 === 0 || results.length === 0
      ? { calls: [{ name: "mcp__files__read_text_file", arguments: { path: "package.json" } }] }
      : { text: "It runs skills." },
  );
  expect(await sh(`git clone --quiet ${root} ${clone}`, root)).toMatchObject({ code: 0 });
  if ((await sh("npm ping --fetch-retries=0 --fetch-timeout=3000")).code === 0)
    expect(await sh("npm ci --no-audit --no-fund --silent")).toMatchObject({ code: 0 });
  else symlinkSync(resolve(root, "node_modules"), resolve(clone, "node_modules"));
  await Bun.write(resolve(clone, "skill.yaml"), manifest);
  expect(await sh("npm run --silent build")).toMatchObject({ code: 0 });
}, 300_000);

afterAll(async () => {
  await model[Symbol.asyncDispose]();
  folder[Symbol.dispose]();
});

async function sh(command: string, cwd = clone) {
  const env = {
    PATH: `${clone}/dist:${process.env["PATH"]}`,
    HOME: process.env["HOME"] ?? "/",
    OMEGA_HOME: folder.file("home"),
    // `npm start` shows what it does without a key.
    ...(command.startsWith("omega ") && model.env("anthropic")),
  };
  const child = Bun.spawn(["bash", "-c", command], { cwd, env, stdin: "ignore", stdout: "pipe", stderr: "pipe" });
  const [stdout, stderr] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  return { code: await child.exited, stdout, stderr };
}

/** `a && b` are two. */
const commands = blocks.flat().flatMap((line) => withoutComment(line).split(" && "));
for (const command of commands.filter((each) => each !== "" && !elsewhere.includes(each) && !isForPeople(each))) {
  test(`\`${command}\` works in a fresh clone`, async () => {
    const { code, stdout, stderr } = await sh(command);
    expect(code, stderr).toBe(0);
    expect(stdout).not.toBe("");
  });
}

/** Commands in its text. */
for (const command of ["omega init my-skill", "omega init --from folder-digest my-digest", "omega test skills/*"]) {
  test(`\`${command}\`, as its text says, works in a fresh clone`, async () => {
    expect(readme).toContain(`\`${command}\``);
    const { code, stderr } = await sh(command);
    expect(code, stderr).toBe(0);
  });
}

test("the clone has nothing that git does not know, but what was made there", () => {
  const { stdout } = spawnSync("git", ["status", "--porcelain"], { cwd: clone, encoding: "utf8" });
  const made = ["?? my-digest/", "?? my-skill/", "?? node_modules", "?? skill.yaml", "?? tests/"];
  expect(
    stdout
      .trimEnd()
      .split("\n")
      .filter((line) => !made.includes(line)),
  ).toEqual([]);
});
