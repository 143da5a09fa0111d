// What a person sees, at a real terminal (tmux): whole screens, also in the middle of a run, as they are kept under screens/.
// `UPDATE_SCREENS=1` writes them again; then look at each of them. Times, run ids and spinners are masked.

import { expect, test } from "bun:test";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { type ModelServer, modelServer, type Script } from "../support/model-server.ts";
import { root } from "../support/omega.ts";
import { aliveWith, until } from "../support/processes.ts";
import { call } from "../support/scripted.ts";
import { fixtureServer, manifest } from "../support/skills.ts";
import { temporaryFolder } from "../support/temporary.ts";
import { hasTmux, inTmux, type Pane } from "../support/tmux.ts";

type Setting = AsyncDisposable & {
  pane: Pane;
  model: ModelServer;
  home: string;
  /** Lets go what waits for this file. */
  let(name: string): void;
  read(name: string): string;
  /** Takes the screen as it is when it shows this. */
  take(what: string, when: string | RegExp): Promise<void>;
  /** All that was taken, masked. */
  taken(): string;
};

type Start = {
  columns?: number;
  turns: Script;
  servers: Record<string, object>;
  fields?: object;
  words?: string[];
  env?: Record<string, string>;
  /** For the shell; DIR is the folder. */
  more?: string;
};

/** What they wait for: files in DIR. */
const server = (env: object = {}, more: object = {}) => ({ ...fixtureServer("waits-for-files.mjs", { env }), ...more });

async function start({ columns = 80, turns, servers, fields, words = [], env, more: after }: Start): Promise<Setting> {
  await using opening = new AsyncDisposableStack();
  const model = opening.use(await modelServer(turns));
  const folder = opening.use(temporaryFolder({ "work/complains.mjs": COMPLAINS }));
  const { file } = folder;
  const inFolder = Object.entries<any>(servers).map(([name, each]) => [
    name,
    { ...each, env: { ...each.env, DIR: folder.path } },
  ]);
  const price = { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 };
  const more = {
    name: "release-notes",
    workdir: file("work"),
    model: { ...model.choice("openai-chat"), price },
    ...fields,
  };
  await Bun.write(file("skill/skill.yaml"), manifest(Object.fromEntries(inFolder), more));
  const options = { columns, rows: 40, env: { OMEGA_HOME: file("home"), DIR: folder.path, ...env } };
  const pane = opening.use(
    inTmux(["run", file("skill"), ...words], { ...options, ...(after && { more: after.replace("DIR", folder.path) }) }),
  );
  const over = opening.move();
  const screens: string[] = [];
  const looked = () => masked(pane.screen(), folder.path);
  /** More may come at the same moment: taken is what stays for some frames. */
  const settled = async () => {
    for (let [last, next] = ["", looked()]; ; [last, next] = [next, looked()]) {
      if (last === next) return next;
      await Bun.sleep(250);
    }
  };
  return {
    pane,
    model,
    home: file("home"),
    let: (name) => writeFileSync(file(name), ""),
    read: (name) => readFileSync(file(name), "utf8"),
    async take(what, when) {
      expect(await pane.see(when), `${what}: no ${when} in\n${pane.screen()}`).toBe(true);
      screens.push(`━━━ ${what}\n${await settled()}`);
    },
    taken: () => screens.join("\n"),
    [Symbol.asyncDispose]: () => over.disposeAsync(),
  };
}

/** What is on the right stays in its column. */
function masked(screen: string, folder: string): string {
  return screen
    .replaceAll(folder, "/tmp/folder")
    .replace(/\d{8}-\d{6}-[0-9a-f]{8}/g, "‹------ run ------›")
    .replace(/^.*[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏] .*$/gm, (line) => line.replace(/[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]/, "⠿").replace(/, \d+ s| +\d+ s$/g, ""))
    .replace(/( +)\d+(\.\d)? m?s\b/g, (all, space) =>
      space.length < 3 ? `${space}‹time›` : "‹time›".padStart(all.length),
    );
}

function expectKept(name: string, screens: string): void {
  const file = resolve(root, `test/e2e/screens/${name}.txt`);
  if (process.env["UPDATE_SCREENS"] || !existsSync(file)) writeFileSync(file, screens);
  expect(screens).toBe(readFileSync(file, "utf8"));
}

/** The next program finds the terminal as omega did. */
function expectSane(pane: Pane): void {
  expect([pane.flag("cursor_flag"), pane.flag("wrap_flag"), pane.flag("cursor_x")]).toEqual(["1", "1", "0"]);
}

/** Complains when the file that it is given appears. It stands where it is started, so that its name is short. */
const COMPLAINS = `import { existsSync } from "node:fs";
while (!existsSync(process.env.DIR + "/" + process.argv[2])) await new Promise((resolve) => setTimeout(resolve, 20));
process.stderr.write("config error: API_KEY is missing\\n");
process.exit(1);
`;
const ENDED = /^exit \d+$/m;
const NOTES = `## Release notes

- The parser reads lines that end in CRLF.
- \`omega plan\` shows what each tool weighs in tokens, and which rule decides over it, so that nothing comes as a surprise.
- 日本語, é and 👩‍👩‍👧 are cut where they should be.

That is all.`;

const screen = test.if(hasTmux);

for (const columns of [40, 80, 120]) {
  screen(`a good run at ${columns} columns`, async () => {
    const gate = Promise.withResolvers<void>();
    await using run = await start({
      columns,
      servers: { git: server({}, { tools: ["fetch", "store"] }), tracker: server({ START: "tracker" }) },
      fields: { expect: [{ tool: "git/fetch", min: 2 }] },
      turns: [
        {
          text: "I look at the commits since the last tag first, and at the issues that were closed meanwhile.",
          calls: [
            call("git/fetch", { range: "v1.2.0..HEAD", until: "commits", size: 4_100 }),
            call("tracker/fetch", { project: "docs", state: "closed", until: "issues", size: 51_234 }),
          ],
        },
        {
          calls: [
            call("tracker/fetch", { error: "there is no project of this name\nthere are: docs, web", until: "more" }),
            call("git/fetch", { commit: "4b825dc642cb6eb9a060e54bf8d69288fbee4904", size: 12 }),
          ],
        },
        { text: NOTES, afterText: gate.promise },
      ],
    });
    await run.take("a server starts", /✓ git.*\n.*tracker +starting/);
    run.let("tracker");
    await run.take("two calls run", /[⠇-⠿] git\/fetch.*\n.*[⠇-⠿] tracker\/fetch/);
    run.let("commits");
    await run.take("one of them is over", /✓ git\/fetch/);
    run.let("issues");
    await run.take("the next turn", /✓ git\/fetch +comm/);
    run.let("more");
    await run.take("the answer comes", /That is all\.\n\n[⠇-⠿]/);
    gate.resolve();
    await run.take("the end", ENDED);
    expectKept(`good-${columns}`, run.taken());
    expectSane(run.pane);
  });
}

for (const columns of [80, 120]) {
  screen(`a run that is denied at ${columns} columns`, async () => {
    await using run = await start({
      columns,
      servers: { tracker: server() },
      fields: { permissions: [{ tool: "tracker/remove", action: "deny" }], limits: { turns: 9 } },
      turns: (index) => ({
        text: index === 0 ? "The old issues must go." : "",
        calls: [call("tracker/remove", { issue: index + 1, reason: "it is older than two years" })],
      }),
    });
    await run.take("the end", ENDED);
    expectKept(`denied-${columns}`, run.taken());
    expectSane(run.pane);
  });

  screen(`a server that does not start, at ${columns} columns`, async () => {
    await using run = await start({
      columns,
      servers: {
        git: server(),
        notes: { command: "node", args: ["complains.mjs", "notes"], required: false },
        tracker: { command: "node", args: ["complains.mjs", "tracker"] },
      },
      turns: [],
    });
    expect(await run.pane.see("✓ git")).toBe(true);
    run.let("notes");
    await run.take("one cannot be had, and is not needed", "going on without");
    run.let("tracker");
    await run.take("the end", ENDED);
    expectKept(`failing-server-${columns}`, run.taken());
    expectSane(run.pane);
  });

  screen(`a run that is interrupted at ${columns} columns`, async () => {
    await using run = await start({
      columns,
      servers: { tracker: server() },
      turns: [{ text: "This takes a while.", calls: [call("tracker/fetch", { until: "never" })] }],
    });
    await run.take("a call runs", /[⠇-⠿] tracker\/fetch/);
    run.pane.type("C-c");
    await run.take("the end", ENDED);
    expectKept(`interrupted-${columns}`, run.taken());
    expectSane(run.pane);
  });

  screen(`a question at ${columns} columns`, async () => {
    await using run = await start({
      columns,
      servers: { tracker: server({}, { tools: ["fetch"] }) },
      turns: [
        {
          text: "I store it, and fetch the rest meanwhile.",
          calls: [call("tracker/store", { name: "notes.md" }), call("tracker/fetch", { until: "rest", size: 7 })],
        },
        { text: "Stored." },
      ],
    });
    await run.take("it is asked", "[n]o:");
    // Its result is not told before the question is answered.
    run.let("rest");
    await Bun.sleep(300);
    await run.take("a call ends meanwhile", "[n]o:");
    run.pane.type("r", "Enter");
    await run.take("the end", ENDED);
    expectKept(`question-${columns}`, run.taken());
    expectSane(run.pane);
  });

  screen(`sub-agents at ${columns} columns`, async () => {
    await using run = await start({
      columns,
      servers: { git: server() },
      fields: { limits: { depth: 1 } },
      turns: (_, { messages }) => {
        const read = (half = "") => call("git/fetch", { half, until: half, size: 12 });
        const task = messages[0]?.text ?? "";
        const isFirst = messages.length === 1;
        if (task === "Work.")
          return isFirst
            ? {
                text: "I share the work out.",
                calls: [call("agent", { task: "read the left half" }), call("agent", { task: "read the right half" })],
              }
            : { text: "Both halves are read." };
        const half = task.split(" ")[2];
        // One after the other, so that their rows always stand in the same order.
        if (isFirst && half === "right") return { delayMs: 500, calls: [read(half)] };
        return isFirst ? { calls: [read(half)] } : { text: `${half} is read` };
      },
    });
    await run.take("both are at work", /left[\s\S]*right[\s\S]*┆[\s\S]*┆/);
    run.let("right");
    await run.take("one is done", /✓ agent/);
    run.let("left");
    await run.take("the end", ENDED);
    expectKept(`sub-agents-${columns}`, run.taken());
    expectSane(run.pane);
  });
}

const echo = { text: "I look.", calls: [call("git/fetch", { size: 3 })] };
const plainly: [why: string, more: Pick<Start, "words" | "env" | "more">, shows: RegExp][] = [
  [
    "with NO_COLOR",
    { env: { NO_COLOR: "1" } },
    /^server git is ready: 3 tools.*\n.*\n.*answered in[\s\S]*^Done\.\ndone in/m,
  ],
  ["with TERM=dumb", { env: { TERM: "dumb" } }, /^server git is ready/m],
  ["with CI", { env: { CI: "1" } }, /^server git is ready/m],
  ["with --quiet", { words: ["--quiet"] }, /^Done\.\nexit 0\n$/],
];
for (const [why, more, shows] of plainly) {
  screen(`${why} there are plain lines`, async () => {
    await using run = await start({ servers: { git: server() }, turns: [echo, { text: "Done." }], ...more });
    expect(await run.pane.see(ENDED)).toBe(true);
    expect(run.pane.screen()).toMatch(shows);
    expect(run.pane.screen()).not.toContain("✓");
  });
}

screen(
  "the answer alone is in a file that stdout goes to, the JSON too, and stderr has no escape codes there",
  async () => {
    for (const [words, stdout] of [
      [[], /^Done\.\n$/],
      [["--json"], /^\{\n[^\x1b]*"text": "Done\."[^\x1b]*\n\}\n$/],
    ] as const) {
      const turns = [echo, { text: "Done." }];
      await using run = await start({ servers: { git: server() }, turns, words: [...words], more: "> DIR/out" });
      expect(await run.pane.see(/✓ done[\s\S]*^exit 0/m)).toBe(true);
      expect(run.pane.screen()).not.toContain("Done.");
      expect(run.read("out")).toMatch(stdout);
      await using piped = await start({ servers: { git: server() }, turns, words: [...words], more: "2> DIR/err" });
      expect(await piped.pane.see(ENDED)).toBe(true);
      expect(piped.read("err")).toMatch(/^release-notes with openai-chat\/m[^\x1b]*\ndone in [^\x1b]*$/);
    }
  },
);

screen("a terminal that changes its size while a run goes on keeps one live view, and loses nothing", async () => {
  await using run = await start({
    columns: 100,
    servers: { git: server() },
    turns: [{ ...echo, calls: [...echo.calls, call("git/fetch", { until: "go" })] }, { text: "Done." }],
  });
  expect(await run.pane.see(/✓ git\/fetch[\s\S]*[⠇-⠿] calling/)).toBe(true);
  for (const [columns, rows] of [
    [50, 40],
    [30, 12],
    [61, 6],
    [120, 40],
    [77, 20],
  ] as const) {
    run.pane.resize(columns, rows);
    await Bun.sleep(300);
    const isOne = () => run.pane.screen().match(/[⠇-⠿] calling/g)?.length === 1;
    expect(await until(isOne), `${columns} x ${rows}\n${run.pane.screen()}`).toBe(true);
  }
  run.let("go");
  expect(await run.pane.see(ENDED)).toBe(true);
  const screen = run.pane.all();
  expect(screen).not.toMatch(/[⠇-⠿]/);
  for (const once of ["release-notes", "✓ git ", "I look.", "size=3", "until=go", "Done.", "✓ done"])
    expect(screen.split(once), `${once} in\n${screen}`).toHaveLength(2);
});

screen(
  "a second Ctrl-C is offered while a stubborn server is ended, and kill -9 leaves the terminal sane",
  async () => {
    const stubborn = fixtureServer("stubborn-family.mjs", { stopGrace: "20s" });
    await using run = await start({ servers: { stubborn, git: server() }, turns: [{ hang: true }] });
    expect(await run.pane.see("waiting for the model")).toBe(true);
    run.pane.type("C-c");
    expect(await run.pane.see("interrupted: ending what was started (Ctrl-C: at once)")).toBe(true);
    run.pane.type("C-c");
    expect(await run.pane.see(/⊘ interrupted[\s\S]*^exit 130/m)).toBe(true);
    expectSane(run.pane);

    await using killed = await start({ servers: { git: server() }, turns: [{ hang: true }] });
    expect(await killed.pane.see("waiting for the model")).toBe(true);
    const [omega = 0] = aliveWith(killed.home).filter(isOmega);
    process.kill(omega, "SIGKILL");
    expect(await killed.pane.see(/^exit 137$/m)).toBe(true);
    expectSane(killed.pane);
  },
);

/** Not its guardian. */
function isOmega(pid: number): boolean {
  const file = `/proc/${pid}/cmdline`;
  return existsSync(file) && readFileSync(file, "utf8").includes("/skill");
}
