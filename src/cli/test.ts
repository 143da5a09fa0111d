import { writeFileSync } from "node:fs";
import { defineCommand } from "citty";
import { OmegaError, systemCode } from "../errors.ts";
import { exitCodeOf } from "../outcome.ts";
import { cassetteFrom, cassettesOf, type Tested, testCassette } from "../run/skill-tests.ts";
import { jsonText, plain } from "../terminal.ts";
import type { Lifetime } from "./lifetime.ts";

export default defineCommand({
  meta: { name: "test", description: "Play the cassettes in a skill's tests/: no server, no key, no network" },
  args: {
    skill: { type: "positional", required: false, description: "manifests or their folders" },
    from: {
      type: "string",
      valueHint: "run",
      description: "make a test of a recorded run (its id, or last), and play it",
    },
    update: { type: "boolean", description: "accept what is asked now: the cassettes keep their answers" },
    json: { type: "boolean", description: "the results as JSON" },
    junit: { type: "string", valueHint: "file", description: "the results as JUnit XML, for CI" },
    verbose: { type: "boolean", alias: "v", description: "more on stderr" },
  },
  async run({ args, data }) {
    const { signal, hurry }: Lifetime = data;
    if ((args._.length === 0) === (args.from === undefined)) {
      throw new OmegaError("USAGE", "give the skills to test, or --from and a run", { hint: "omega test --help" });
    }
    const tested: Tested[] = [];
    for (const { skill, cassette } of chosen(args._, args.from)) {
      const result = await testCassette(skill, cassette, { isUpdate: args.update ?? false, signal, hurry });
      signal.throwIfAborted();
      tested.push(result);
      if (!args.json) process.stdout.write(plain(line(result)));
    }
    if (args.junit !== undefined) writeJunit(args.junit, tested);
    process.stdout.write(args.json ? `${jsonText(tested)}\n` : plain(summary(tested)));
    return exitCodeOf(tested.every(({ ok }) => ok) ? "done" : "failed");
  },
});

function chosen(skills: readonly string[], from: string | undefined): { skill: string; cassette: string }[] {
  if (from !== undefined) return [cassetteFrom(from)];
  return skills.flatMap((skill) => {
    const cassettes = cassettesOf(skill);
    if (cassettes.length > 0) return cassettes.map((cassette) => ({ skill, cassette }));
    throw new OmegaError("USAGE", `${skill} has no tests`, {
      hint: `make one: omega run ${skill} --cassette …/tests/name.jsonl, or omega test --from RUN`,
    });
  });
}

function line({ cassette, ok, outcome, reason, ms, updated }: Tested): string {
  const how = ok
    ? `ok     ${cassette}: ${outcome}, ${ms} ms${updated ? ", updated" : ""}`
    : `FAILED ${cassette}: ${reason}`;
  return `${how.replaceAll("\n", "\n       ")}\n`;
}

function summary(tested: readonly Tested[]): string {
  const passed = tested.filter(({ ok }) => ok).length;
  const hints = new Set(tested.flatMap(({ hint }) => hint ?? []));
  return `${[...hints].map((hint) => `${hint}\n`).join("")}${passed} passed, ${tested.length - passed} failed\n`;
}

function writeJunit(file: string, tested: readonly Tested[]): void {
  const cases = tested.map(({ skill, cassette, ok, reason, ms }) => {
    const failure = ok ? "" : `<failure message="${escaped(reason ?? "")}"/>`;
    return `  <testcase classname="${escaped(skill)}" name="${escaped(cassette)}" time="${ms / 1000}">${failure}</testcase>\n`;
  });
  const failures = tested.filter(({ ok }) => !ok).length;
  const suite = `<testsuite name="omega test" tests="${tested.length}" failures="${failures}">\n${cases.join("")}</testsuite>\n`;
  try {
    writeFileSync(file, `<?xml version="1.0" encoding="UTF-8"?>\n${suite}`);
  } catch (cause) {
    throw new OmegaError("USAGE", `--junit: cannot write ${file} (${systemCode(cause)})`, { cause });
  }
}

function escaped(text: string): string {
  return plain(text)
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll('"', "&quot;")
    .replaceAll("\n", "&#10;");
}
