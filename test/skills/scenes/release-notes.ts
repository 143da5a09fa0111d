import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { call, type Scene } from "../scene.ts";

type Commit = { message: string; file: string; text: string; tag?: string };

const before: Commit[] = [
  { message: "Import: read bank statements in CSV", file: "import.js", text: "csv\n" },
  { message: "Release 1.4.0", file: "VERSION", text: "1.4.0\n", tag: "v1.4.0" },
];
const since: Commit[] = [
  {
    message: "Import: statements in CAMT.053 too\n\nAsked for by three banks' customers.",
    file: "import.js",
    text: "csv, camt\n",
  },
  { message: "CI: cache the package folder", file: "ci.yml", text: "cache: npm\n" },
  { message: "tweaks", file: "config.js", text: 'exports.variable = "LEDGER_HOME"; // was LEDGER_DIR\n' },
  { message: "Fix: amounts over a million lost their last digit", file: "amount.js", text: "BigInt\n" },
];

/** Dates, names and settings of our own: the hashes are the same on every machine. */
function commitAll(work: string, commits: readonly Commit[]): void {
  const env = { PATH: process.env["PATH"], HOME: work, GIT_CONFIG_NOSYSTEM: "1" };
  const git = (...words: string[]) => {
    const { status, stderr } = spawnSync("git", words, { cwd: work, env: { ...env, ...identity(commits.length) } });
    if (status !== 0) throw new Error(`git ${words.join(" ")}: ${stderr}`);
  };
  git("init", "--quiet", "--initial-branch=main");
  for (const { message, file, text, tag } of commits) {
    writeFileSync(`${work}/${file}`, text);
    git("add", file);
    git("commit", "--quiet", "-m", message);
    if (tag) git("tag", tag);
  }
}

function identity(day: number): Record<string, string> {
  const date = `2026-10-0${day}T09:00:00Z`;
  const who = { NAME: "Ida", EMAIL: "ida@example.com", DATE: date };
  return Object.fromEntries(
    Object.entries(who).flatMap(([name, value]) => [
      [`GIT_AUTHOR_${name}`, value],
      [`GIT_COMMITTER_${name}`, value],
    ]),
  );
}

const tags = (path: string) => ({
  text: "I'll find the newest tag.",
  calls: [call("git/git_tag", { path, mode: "list" })],
});
const log = (path: string) => ({
  text: "The newest tag is v1.4.0; now the commits since then.",
  calls: [call("git/git_log", { path, branch: "v1.4.0..HEAD", maxCount: 200 })],
});

export const sinceLastTag: Scene = {
  skill: "release-notes",
  name: "since-last-tag",
  files: { "README.md": "# ledger\n" },
  prepare: (work) => commitAll(work, [...before, ...since]),
  outcome: "done",
  turns: (work) => [
    tags(work),
    log(work),
    {
      text: 'One subject says only "tweaks"; I\'ll look at what it changes.',
      calls: [call("git/git_show", { path: work, object: "HEAD~1" })],
    },
    {
      text: `## Unreleased

### Breaking
- The folder of the ledger is set by \`LEDGER_HOME\`; \`LEDGER_DIR\` is no longer read. [${hash(work, "HEAD~1")}]

### New
- Bank statements in CAMT.053 can be imported, besides CSV. [${hash(work, "HEAD~3")}]

### Fixed
- Amounts over a million keep their last digit. [${hash(work, "HEAD")}]
`,
    },
  ],
};

function hash(work: string, commit: string): string {
  return spawnSync("git", ["rev-parse", "--short=7", commit], { cwd: work, encoding: "utf8" }).stdout.trim();
}

export const nothingForUsers: Scene = {
  skill: "release-notes",
  name: "nothing-for-users",
  files: { "README.md": "# ledger\n" },
  prepare: (work) => commitAll(work, [...before, ...since.slice(1, 2)]),
  outcome: "nothing-to-do",
  turns: (work) => [
    tags(work),
    log(work),
    {
      calls: [
        {
          name: "finish",
          arguments: {
            status: "nothing-to-do",
            summary: "Since v1.4.0 there is one commit, and it concerns continuous integration only.",
          },
        },
      ],
    },
  ],
};
