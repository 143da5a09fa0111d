// The completion scripts in the shells themselves; a shell that is not on the machine is skipped by name.

import { expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { omega } from "../support/omega.ts";
import { temporaryFolder } from "../support/temporary.ts";

const script = async (shell: string) => (await omega(["completions", shell])).stdout;
const run = (shell: string, ...args: string[]) =>
  spawnSync(shell, args, { encoding: "utf8", timeout: 20_000 }).stdout.trim();

test("bash completes commands, flags and the values of a flag", async () => {
  const source = await script("bash");
  const complete = (...words: string[]) =>
    run(
      "bash",
      "-c",
      `${source}\nCOMP_WORDS=("$@"); COMP_CWORD=$(($#-1)); _omega; echo "\${COMPREPLY[*]}"`,
      "bash",
      ...words,
    );
  expect(complete("omega", "val")).toBe("validate");
  expect(complete("omega", "run", "--inp")).toBe("--input --input-file");
  expect(complete("omega", "run", "--format", "j")).toBe("json");
  expect(complete("omega", "completions", "f")).toBe("fish");
});

test.skipIf(!Bun.which("fish"))("fish completes commands, flags and the values of a flag", async () => {
  using folder = temporaryFolder({ "omega.fish": await script("fish") });
  const complete = (line: string) =>
    run("fish", "--no-config", "-c", "source $argv[1]; complete -C $argv[2]", folder.file("omega.fish"), line)
      .split("\n")
      .map((each) => each.split("\t")[0]);
  expect(complete("omega val")).toEqual(["validate"]);
  expect(complete("omega run --inp")).toEqual(["--input", "--input-file"]);
  expect(complete("omega run --format j")).toEqual(["json"]);
  expect(complete("omega completions f")).toEqual(["fish"]);
});

/** A zsh in a terminal of its own: types the line and a tab, and reads until the whole of it stands there. */
const typing = `
zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell "PS1='' fpath=($1 \\$fpath); autoload -Uz compinit; compinit -u -D; echo REA''DY"
zpty -r -m shell out '*READY*'
zpty -w -n shell "$2"$'\\t'
zpty -r -m shell out "*$3*" && print "$3"
zpty -d shell
`;

test.skipIf(!Bun.which("zsh"))("zsh completes commands, flags and the values of a flag", async () => {
  using folder = temporaryFolder({ _omega: await script("zsh") });
  const types = (line: string, whole: string) => run("zsh", "-f", "-c", typing, "zsh", folder.path, line, whole);
  for (const [line, whole] of [
    ["omega val", "omega validate"],
    ["omega run --input-f", "omega run --input-file"],
    ["omega run --format j", "omega run --format json"],
    ["omega completions f", "omega completions fish"],
  ] as const) {
    expect(types(line, whole)).toBe(whole);
  }
});
