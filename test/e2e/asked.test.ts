// Attended: a person at a terminal is asked. Everything here goes through a real pseudo-terminal.

import { expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { type AtTerminal, atTerminal, hasTerminal } from "../support/at-terminal.ts";
import { type ModelServer, modelServer, type Script } from "../support/model-server.ts";
import { aliveWith } from "../support/processes.ts";
import { fixtureServer, manifest } from "../support/skills.ts";
import { temporaryFolder } from "../support/temporary.ts";

const call = (tool: string, args: object) => ({ name: `mcp__notes__${tool}`, arguments: args });
const write = (name: string) => call("write", { name, text: "x" });
const done = { text: "All is done." };
const prompt = (tool: string) => `allow notes/${tool}? [o]nce, for this [r]un, [n]o: `;

type Setting = AsyncDisposable & {
  terminal: AtTerminal;
  model: ModelServer;
  /** What the notes' folder has. */
  has(name: string): boolean;
  envelope(): any;
  kin(): number[];
};

/** A skill with the server `notes`, started at a terminal. */
async function start(
  script: Script,
  fields: object = {},
  words: readonly string[] = [],
  env: Record<string, string> = {},
): Promise<Setting> {
  const over = new AsyncDisposableStack();
  const model = over.use(await modelServer(script));
  const mark = crypto.randomUUID();
  const notes = fixtureServer("notes.mjs", { tools: [], env: { MARK: mark } });
  const folder = over.use(temporaryFolder({ "skill/skill.yaml": manifest({ notes }, fields), "work/there": "" }));
  const flags = ["--model", "openai-chat/m", "--workdir", folder.file("work")];
  const terminal = over.use(
    atTerminal(["run", folder.file("skill"), ...flags, ...words], {
      env: { OPENAI_BASE_URL: model.url, OMEGA_HOME: folder.file("home"), ...env },
    }),
  );
  return {
    terminal,
    model,
    has: (name) => existsSync(folder.file(`work/${name}`)),
    envelope() {
      const [run = ""] = readdirSync(folder.file("home/runs"));
      return JSON.parse(readFileSync(folder.file(`home/runs/${run}/result.json`), "utf8"));
    },
    kin: () => aliveWith(mark),
    [Symbol.asyncDispose]: () => over.disposeAsync(),
  };
}

const attended = test.if(hasTerminal);

attended("the question shows server, tool, arguments and the rule that would settle it; no is a refusal", async () => {
  await using run = await start([{ calls: [write("a")] }, done]);
  expect(await run.terminal.see(prompt("write"))).toBe(true);
  expect(run.terminal.shown()).toContain(`
The model wants to call tool write of server notes (no rule allows it):
  {
    "name": "a",
    "text": "x"
  }
To settle it for good, allow it before all other rules, under permissions:
  - { tool: "notes/write", action: allow }
${prompt("write")}`);
  run.terminal.type("no\n");
  expect(await run.terminal.exit).toBe(0);
  expect(run.has("a")).toBe(false);
  expect(run.model.asked(0).tools).toEqual(["mcp__notes__read", "mcp__notes__write", "mcp__notes__delete", "finish"]);
  expect(run.model.asked(0).system).toBe("");
  expect(run.model.asked(1).results[0]?.text).toBe("Error: a person refused this call of notes/write");
  expect(run.envelope()).toMatchObject({
    outcome: "done",
    undecided: [],
    denials: [{ tool: "notes/write", by: "a person", arguments: '{"name":"a","text":"x"}' }],
    children: { survivors: [] },
  });
  expect(run.terminal.shown()).toContain("refused: 1 call of notes/write (by a person)");
});

attended("once is asked again, for this run is not, and what is no answer is asked once more", async () => {
  await using run = await start([...["a", "b", "c"].map((name) => ({ calls: [write(name)] })), done]);
  expect(await run.terminal.see(prompt("write"))).toBe(true);
  run.terminal.type("perhaps\n");
  expect(await run.terminal.see(prompt("write"))).toBe(true);
  run.terminal.type("O\n");
  expect(await run.terminal.see('"name": "b"')).toBe(true);
  expect(await run.terminal.see(prompt("write"))).toBe(true);
  run.terminal.type("r\n");
  expect(await run.terminal.exit).toBe(0);
  expect(["a", "b", "c"].filter((name) => run.has(name))).toEqual(["a", "b", "c"]);
  expect(run.terminal.shown().split(prompt("write"))).toHaveLength(4);
  expect(run.envelope()).toMatchObject({ outcome: "done", denials: [] });
});

attended("calls that come together are asked for one after the other, and nothing else is said meanwhile", async () => {
  await using run = await start([{ calls: [write("a"), call("delete", { name: "b" }), write("c")] }, done]);
  expect(await run.terminal.see(prompt("write"))).toBe(true);
  run.terminal.type("o\n");
  expect(await run.terminal.see(prompt("delete"))).toBe(true);
  run.terminal.type("n\n");
  expect(await run.terminal.see(prompt("write"))).toBe(true);
  run.terminal.type("n\n");
  expect(await run.terminal.exit).toBe(0);
  expect([run.has("a"), run.has("c")]).toEqual([true, false]);
  const results = run.model.asked(1).results.map(({ text }) => text);
  expect(results).toEqual([
    "wrote a",
    "Error: a person refused this call of notes/delete",
    "Error: a person refused this call of notes/write",
  ]);
  // From its first line to its answer a question is in one piece.
  const pieces = run.terminal.shown().split("The model wants to call");
  expect(pieces).toHaveLength(4);
  for (const piece of pieces.slice(1)) {
    expect(piece).toMatch(
      /^ tool \w+ of server notes \(no rule allows it\):\n {2}\{\n(?: {4}".*\n)+ {2}\}\nTo settle .*\n.*\nallow notes\/\w+\? .*: [on]\n/,
    );
  }
});

attended("Ctrl-C at the question ends the run as interrupted, and leaves nothing", async () => {
  await using run = await start([{ calls: [write("a"), write("b")] }, done]);
  expect(await run.terminal.see(prompt("write"))).toBe(true);
  run.terminal.type("\x03");
  expect(await run.terminal.exit).toBe(130);
  expect(run.terminal.shown()).toContain("interrupted by SIGINT");
  expect(run.terminal.shown().split(prompt("write"))).toHaveLength(2);
  expect(run.envelope()).toMatchObject({
    outcome: "interrupted",
    exitCode: 130,
    denials: [],
    children: { survivors: [] },
  });
  expect(run.kin()).toEqual([]);
  expect(run.has("a")).toBe(false);
});

attended("who leaves by Ctrl-D has said no, also to what follows", async () => {
  await using run = await start([{ calls: [write("a")] }, { calls: [write("b")] }, done]);
  expect(await run.terminal.see(prompt("write"))).toBe(true);
  run.terminal.type("\x04");
  expect(await run.terminal.exit).toBe(0);
  expect(run.envelope().denials).toHaveLength(2);
});

attended("time that runs out at the question ends the run by its limit, with a report", async () => {
  await using run = await start([{ calls: [write("a")] }, { text: "I got as far as asking." }], {
    limits: { time: "4s" },
  });
  expect(await run.terminal.see(prompt("write"))).toBe(true);
  expect(await run.terminal.exit).toBe(5);
  expect(run.envelope()).toMatchObject({
    outcome: "limit",
    code: "time",
    denials: [],
    text: "I got as far as asking.",
  });
  // The line of the prompt is over before another begins.
  expect(run.terminal.shown()).toContain(`${prompt("write")}\n`);
  expect(run.has("a")).toBe(false);
});

attended(
  "an ask rule asks although the manifest allows, a deny rule does not ask, and what is allowed is not asked for",
  async () => {
    const permissions = [
      { tool: "notes/delete", action: "deny" },
      { tool: "notes/write", args: { name: "a" }, action: "ask" },
      { tool: "notes/*", action: "allow" },
    ];
    await using run = await start([{ calls: [call("delete", { name: "b" }), write("b"), write("a")] }, done], {
      permissions,
    });
    expect(await run.terminal.see("call tool write of server notes (by permissions[1]):")).toBe(true);
    expect(await run.terminal.see(prompt("write"))).toBe(true);
    run.terminal.type("y\n");
    expect(await run.terminal.exit).toBe(0);
    expect([run.has("a"), run.has("b")]).toEqual([true, true]);
    expect(run.terminal.shown().split("The model wants to")).toHaveLength(2);
    expect(run.envelope()).toMatchObject({ denials: [{ tool: "notes/delete", by: "permissions[0]" }] });
  },
);

attended(
  "what a model puts into its arguments does not act on the terminal, does not hide, and tells no secret",
  async () => {
    const odd = { name: "a\x1b[2J\u202eb", text: `key sk-canary-12345678 ${"long ".repeat(1_000)}` };
    await using run = await start([{ calls: [call("write", odd)] }, done], {}, [], {
      OPENAI_API_KEY: "sk-canary-12345678",
    });
    expect(await run.terminal.see(prompt("write"))).toBe(true);
    run.terminal.type("n\n");
    expect(await run.terminal.exit).toBe(0);
    const shown = run.terminal.shown();
    expect(shown).toContain('"name": "a\\u001b[2J\\u202eb"');
    expect(shown).toContain("key ‹OPENAI_API_KEY› long");
    expect(shown).not.toContain("canary");
    expect(shown).not.toContain("\x1b[2J");
    expect(shown).toMatch(/…\n {2}\[\d+ more characters are not shown\]/);
  },
);

const alone: [why: string, words: string[], env: Record<string, string>][] = [
  ["with --unattended", ["--unattended"], {}],
  ["with CI set", [], { CI: "1" }],
  ["with stdin given to the prompt", ["-"], {}],
];
for (const [why, words, env] of alone) {
  attended(`${why} nobody is asked, even at a terminal`, async () => {
    await using run = await start([], {}, words, env);
    if (words.includes("-")) run.terminal.type("words\n\x04");
    expect(await run.terminal.exit).toBe(4);
    expect(run.envelope()).toMatchObject({ outcome: "denied", code: "undecided" });
    expect(run.model.requests).toEqual([]);
  });
}
