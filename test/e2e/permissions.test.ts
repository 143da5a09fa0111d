// What a run may call, end to end: unattended, where the manifest alone decides, and at a terminal, where a person does.

import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { type ModelServer, modelServer, type Script } from "../support/model-server.ts";
import { omega } from "../support/omega.ts";
import { fixtureServer, manifest } from "../support/skills.ts";
import { temporaryFolder } from "../support/temporary.ts";

const call = (tool: string, args: object) => ({ name: `mcp__notes__${tool}`, arguments: args });
const write = (name: string) => ({ calls: [call("write", { name, text: "x" })] });
const blocked = (...missing: string[]) => ({
  calls: [{ name: "finish", arguments: { status: "blocked", summary: "I cannot.", missing } }],
});
const done = { text: "All is done." };

type Trial = {
  code: number | null;
  stderr: string;
  envelope: any;
  model: Pick<ModelServer, "requests" | "asked">;
  /** What the notes' folder has. */
  has(name: string): boolean;
};

/** A skill with one server, `notes`, run where nobody can be asked. */
async function trial(
  script: Script,
  { tools = [], ...more }: { tools?: string[]; files?: Record<string, string>; [field: string]: unknown },
  words: readonly string[] = [],
): Promise<Trial> {
  const { files = {}, ...fields } = more;
  return await runIn(
    { "skill.yaml": manifest({ notes: fixtureServer("notes.mjs", { tools }) }, fields), ...files },
    script,
    words,
  );
}

async function runIn(files: Record<string, string>, script: Script, words: readonly string[] = []): Promise<Trial> {
  await using model = await modelServer(script);
  using folder = temporaryFolder(files);
  const flags = ["--json", "--model", "openai-chat/m", "--workdir", folder.path];
  const { code, stdout, stderr } = await omega(["run", folder.path, ...flags, ...words], {
    env: { OPENAI_BASE_URL: model.url },
  });
  const there = new Set(["a", "b", "c"].filter((name) => existsSync(folder.file(name))));
  return { code, stderr, envelope: JSON.parse(stdout), model, has: (name) => there.has(name) };
}

const denied = (tool: string, by: string, args: object) => ({
  tool: `notes/${tool}`,
  by,
  arguments: JSON.stringify(args),
});

// Nobody has decided.

test("a first run where nobody has decided is denied before a token is spent, and the line it proposes makes it work", async () => {
  const yaml = (tools = "") => `
description: Keeps notes.
prompt: Write a note.
servers:
  notes:
    command: node
    args: [${JSON.stringify(fixtureServer("notes.mjs").args[0])}]
    ${tools}
`;
  const script: Script = [write("a"), done];
  const first = await runIn({ "skill.yaml": yaml() }, script);
  expect(first.code).toBe(4);
  expect(first.envelope).toMatchObject({
    outcome: "denied",
    code: "undecided",
    reason: 'no tool of server "notes" is allowed',
    undecided: ["notes/read", "notes/write", "notes/delete"],
    denials: [],
    turns: 0,
    children: { survivors: [] },
  });
  expect(first.model.requests).toEqual([]);

  const line = /tools: \[.*\]/.exec(first.envelope.hint)?.[0];
  expect(first.stderr).toContain(String(line));
  const second = await runIn({ "skill.yaml": yaml(line) }, script);
  expect(second.envelope).toMatchObject({ outcome: "done", undecided: [], denials: [] });
  expect(second.has("a")).toBe(true);
  const third = await runIn({ "skill.yaml": yaml() }, script, ["--yes"]);
  expect(third.code).toBe(0);
});

test("all servers that nothing is allowed of are told at once", async () => {
  const notes = fixtureServer("notes.mjs", { tools: [] });
  const servers = { a: notes, b: { ...notes, tools: ["read"] }, c: notes };
  const { envelope, model } = await runIn({ "skill.yaml": manifest(servers) }, []);
  expect(envelope).toMatchObject({ outcome: "denied", reason: 'no tool of servers "a", "c" is allowed' });
  expect(envelope.hint).toContain('servers.a:\n  tools: ["read", "write", "delete"]');
  expect(envelope.hint).toContain('servers.c:\n  tools: ["read", "write", "delete"]');
  expect(envelope.hint).not.toContain("servers.b");
  expect(model.requests).toEqual([]);
});

test("where a rule asks, it is a rule that is proposed, and it makes the run work", async () => {
  const asks = { tool: "notes/*", action: "ask" };
  const first = await trial([], { tools: ["*"], permissions: [asks] }, ["--yes"]);
  expect(first.envelope).toMatchObject({ outcome: "denied", code: "undecided" });
  expect(first.envelope.hint).not.toContain("--yes");
  expect(first.envelope.hint).not.toContain("tools:");
  const pasted = [...first.envelope.hint.matchAll(/- \{ tool: "(.*)", action: (.*) \}/g)].map(([, tool, action]) => ({
    tool,
    action,
  }));
  expect(pasted).toHaveLength(3);
  const second = await trial([write("a"), done], { tools: ["*"], permissions: [...pasted, asks] });
  expect(second.envelope).toMatchObject({ outcome: "done", denials: [] });
});

test("an undecided tool is not offered, is named in the system prompt, and a call of it is refused", async () => {
  const script: Script = [
    { calls: [call("delete", { name: "a" }), call("write", { name: "a", text: "x" })] },
    // No schema was shown, so these may well be wrong; they need not be mended before they are refused.
    { calls: [call("delete", { which: "a" })] },
    done,
  ];
  const { code, envelope, model, has, stderr } = await trial(script, {
    tools: ["write"],
    instructions: "You keep notes.",
  });
  expect(code).toBe(0);
  const asked = model.asked(0);
  expect(asked.tools).toEqual(["mcp__notes__write", "finish"]);
  expect(asked.system).toStartWith("You keep notes.\n\nThese tools exist");
  expect(asked.system).toContain("nobody can be asked: notes/read, notes/delete. ");
  expect(model.asked(1).results.map(({ text }) => text)).toEqual([
    "Error: not allowed (no rule allows it), and nobody can be asked for notes/delete in this run",
    "wrote a",
  ]);
  expect(envelope).toMatchObject({
    outcome: "done",
    undecided: ["notes/read", "notes/delete"],
    denials: [denied("delete", "no rule", { name: "a" }), denied("delete", "no rule", { which: "a" })],
  });
  expect(stderr).toContain("refused: 2 calls of notes/delete (no rule allows it)");
  expect(has("a")).toBe(true);
});

test("a tool that comes during the run, and that nobody has decided on, is among the undecided", async () => {
  const server = fixtureServer("changes-its-tools.mjs", { tools: ["echo"] });
  const { envelope, model } = await runIn(
    { "skill.yaml": manifest({ s: server }, { limits: { repeat: 1_000, turns: 1_000 } }) },
    (index, { results }) => {
      if (index === 0) return { calls: [{ name: "mcp__s__echo", arguments: { text: "x" } }] };
      // It takes the server a moment to tell.
      return results.at(-1)?.text.includes("nobody can be asked")
        ? done
        : { calls: [{ name: "mcp__s__extra", arguments: {} }] };
    },
  );
  expect(model.asked(-1).tools).toEqual(["mcp__s__echo", "finish"]);
  expect(envelope).toMatchObject({ outcome: "done", undecided: ["s/extra"], denials: [{ tool: "s/extra" }] });
});

// Refusals, and how a run with them ends.

const thrice = [write("a"), write("b"), write("c"), done];
const exists = { file: "there" };
const missing = { file: "not-there" };

test("the third refusal of one tool ends the run as denied", async () => {
  const { code, envelope, model } = await trial(thrice, { tools: ["read"] });
  expect(code).toBe(4);
  expect(envelope).toMatchObject({
    outcome: "denied",
    code: "refused",
    reason: "the run was ended: notes/write was refused in 3 turns (no rule allows it)",
    turns: 3,
  });
  expect(envelope.denials).toHaveLength(3);
  expect(model.requests).toHaveLength(3);
});

test("calls refused together are one refusal: the model is told, and can go another way", async () => {
  const { envelope, has } = await trial(
    [{ calls: ["x", "y", "z"].map((name) => call("delete", { name })) }, write("a"), done],
    { tools: ["*"], permissions: [{ tool: "notes/delete", action: "deny" }] },
  );
  expect(envelope.outcome).toBe("done");
  expect(envelope.denials).toHaveLength(3);
  expect(has("a")).toBe(true);
});

test("with unattended: fail the first refusal does", async () => {
  const { code, envelope, model } = await trial(thrice, { tools: ["read"], unattended: "fail" });
  expect(code).toBe(4);
  expect(envelope).toMatchObject({ outcome: "denied", code: "refused", turns: 1 });
  expect(model.requests).toHaveLength(1);
});

const ends: [why: string, script: Script, fields: object, outcome: string, code: string | null][] = [
  ["blocked for want of an undecided tool", [blocked("notes/write")], {}, "denied", "undecided"],
  ["blocked for want of one in the model's spelling", [blocked("mcp__notes__write")], {}, "denied", "undecided"],
  ["blocked for want of one by its own name", [blocked("write")], {}, "denied", "undecided"],
  ["blocked for want of one in a sentence", [blocked("a permit for notes/write.")], {}, "denied", "undecided"],
  ["blocked for want of something else", [blocked("a pen", "notes/writers")], {}, "failed", "blocked"],
  ["blocked for want of an undecided tool, checks held", [blocked("notes/write")], { expect: [exists] }, "done", null],
  [
    "blocked for want of an undecided tool, checks failed",
    [blocked("notes/write")],
    { expect: [exists, missing] },
    "failed",
    "check",
  ],
  ["ended by refusals, checks held", thrice, { expect: [exists] }, "done", null],
  ["ended by refusals, checks failed", thrice, { expect: [missing] }, "failed", "check"],
  ["ended by the first refusal, checks held", thrice, { expect: [exists], unattended: "fail" }, "done", null],
];
for (const [why, script, fields, outcome, code] of ends) {
  test(`a run that was ${why}, is ${outcome}`, async () => {
    const { envelope } = await trial(script, { tools: ["read"], files: { there: "" }, ...fields });
    expect(envelope).toMatchObject({ outcome, code, undecided: ["notes/write", "notes/delete"] });
  });
}

test("the line proposed to a blocked run keeps the tools that were allowed", async () => {
  const { envelope } = await trial([blocked("notes/write")], { tools: ["read"] });
  expect(envelope.hint).toContain('tools: ["read", "write"]');
});

test("a deny rule that did its job leaves the run green, and what it refused is listed", async () => {
  const script: Script = [
    { calls: [call("delete", { name: "a" }), call("write", { name: "a", text: "x" })] },
    { calls: [call("delete", { name: "a" })] },
    done,
  ];
  const { code, envelope, model, has, stderr } = await trial(script, {
    tools: ["*"],
    permissions: [{ tool: "notes/delete", action: "deny" }],
    unattended: "deny",
  });
  expect(code).toBe(0);
  expect(envelope).toMatchObject({
    outcome: "done",
    undecided: [],
    denials: [denied("delete", "permissions[0]", { name: "a" }), denied("delete", "permissions[0]", { name: "a" })],
  });
  expect(model.asked(0).tools).toEqual(["mcp__notes__read", "mcp__notes__write", "finish"]);
  expect(model.asked(0).system).toBe("");
  expect(model.asked(1).results[0]?.text).toBe(
    "Error: refused by permissions[0]: this call of notes/delete is not allowed",
  );
  expect(stderr).toContain("warning: refused: 2 calls of notes/delete (by permissions[0])");
  expect(has("a")).toBe(true);
});

test("a rule on arguments lets through what meets it and refuses the rest", async () => {
  const script: Script = [
    {
      calls: [
        call("write", { name: "a", text: "x" }),
        call("write", { name: "b", text: "x" }),
        call("write", { name: "a", text: "secret plan" }),
      ],
    },
    done,
  ];
  const { envelope, model, has } = await trial(script, {
    permissions: [
      { tool: "notes/write", args: { text: "*secret*" }, action: "deny" },
      { tool: "notes/write", args: { name: "{{ inputs.mine }}*" }, action: "allow" },
    ],
    inputs: { mine: { default: "a" } },
  });
  expect(model.asked(0).tools).toEqual(["mcp__notes__write", "finish"]);
  expect(["a", "b", "c"].filter(has)).toEqual(["a"]);
  expect(model.asked(1).results[0]?.text).toBe("wrote a");
  expect(envelope).toMatchObject({
    outcome: "done",
    undecided: ["notes/read", "notes/delete"],
    denials: [
      denied("write", "no rule", { name: "b", text: "x" }),
      denied("write", "permissions[0]", { name: "a", text: "secret plan" }),
    ],
  });
});

// Flags, SKILL.md, omega's own tools.

test("--allow allows, --deny refuses whatever else allows, and --yes allows what nobody has decided on", async () => {
  const some: Script = [
    { calls: [call("write", { name: "a", text: "x" }), call("delete", { name: "a" }), call("read", { name: "no" })] },
    done,
  ];
  const tools = async (words: string[]) => {
    const { envelope, model } = await trial(some, { permissions: [{ tool: "notes/delete", action: "deny" }] }, words);
    const offered = model.requests.length === 0 ? [] : model.asked(0).tools.slice(0, -1);
    return [offered.map((name) => name.slice(12)), envelope.denials.map(({ by }: { by: string }) => by)];
  };
  expect(await tools(["--yes"])).toEqual([["read", "write"], ["permissions[0]"]]);
  expect(await tools(["--allow", "notes/delete", "--allow=notes/write"])).toEqual([["write", "delete"], ["no rule"]]);
  expect(await tools(["--yes", "--allow", "*", "--deny", "mcp__notes__w*"])).toEqual([
    ["read", "delete"],
    ["--deny mcp__notes__w*"],
  ]);
});

for (const words of [["--deny", "write"], ["--allow=notes"], ["--deny", "mcp__notes"], ["--deny", ""]]) {
  test(`${words.join(" ")} is a mistake, told before anything starts`, async () => {
    using folder = temporaryFolder({ "skill.yaml": manifest({ notes: fixtureServer("notes.mjs") }) });
    const { code, stderr } = await omega(["run", folder.path, "--model", "openai-chat/m", ...words]);
    expect(code).toBe(2);
    expect(stderr).toContain("takes server/tool, with * for anything, not");
  });
}

test("a pattern that could match no tool is a mistake in a manifest too", async () => {
  const permissions = [{ tool: "mcp__notes", action: "deny" }];
  using folder = temporaryFolder({ "skill.yaml": manifest({ notes: fixtureServer("notes.mjs") }, { permissions }) });
  const { code, stderr } = await omega(["validate", folder.path]);
  expect(code).toBe(2);
  expect(stderr).toContain("permissions.0.tool: expected server/tool, mcp__server__tool");
});

test("allowed-tools of a SKILL.md allow, after its permissions", async () => {
  const markdown = `---
name: notes
description: Keeps notes.
allowed-tools: Read mcp__notes__write mcp__notes__delete
servers: ${JSON.stringify({ notes: fixtureServer("notes.mjs") })}
permissions: [{ tool: notes/delete, action: deny }]
---
Keep notes.
`;
  const { envelope, model, has } = await runIn({ "SKILL.md": markdown }, [
    { calls: [call("write", { name: "a", text: "x" }), call("delete", { name: "a" })] },
    done,
  ]);
  expect(model.asked(0).tools).toEqual(["mcp__notes__write", "finish"]);
  expect(envelope).toMatchObject({
    outcome: "done",
    undecided: ["notes/read"],
    denials: [denied("delete", "permissions[0]", { name: "a" })],
  });
  expect(has("a")).toBe(true);
});

const inner = (fields: object = {}) => ({
  "inner/skill.yaml": manifest({ notes: fixtureServer("notes.mjs") }, { name: "inner", ...fields }),
});
const sub = (args: object = {}) => ({ calls: [{ name: "skill__inner", arguments: args }] });

test("agent and sub-skills can be denied by rules, and asked for they are undecided", async () => {
  const both: Script = [
    {
      calls: [
        { name: "agent", arguments: { task: "x" } },
        { name: "skill__inner", arguments: {} },
      ],
    },
    done,
  ];
  const fields = { tools: ["*"], limits: { depth: 1 }, skills: ["./inner"], files: inner() };
  const rules = (action: string) => [
    { tool: "agent", action },
    { tool: "skill__*", action },
  ];
  const free = await trial([done], fields);
  expect(free.model.asked(0).tools.slice(3)).toEqual(["agent", "skill__inner", "finish"]);

  const refused = await trial(both, { ...fields, permissions: rules("deny") });
  expect(refused.model.asked(0).tools.slice(3)).toEqual(["finish"]);
  expect(refused.envelope).toMatchObject({ outcome: "done", turns: 2, undecided: [] });
  expect(refused.envelope.denials.map(({ tool }: { tool: string }) => tool)).toEqual(["agent", "skill__inner"]);

  const asked = await trial([blocked("agent")], { ...fields, permissions: rules("ask") });
  expect(asked.model.asked(0).system).toContain("nobody can be asked: agent, skill__inner. ");
  expect(asked.envelope).toMatchObject({ code: "undecided", undecided: ["agent", "skill__inner"] });
  expect(asked.envelope.hint).toContain('- { tool: "agent", action: allow }');
});

test("a sub-skill obeys its own rules and those above it, and a refusal tells whose it was", async () => {
  const script: Script = [
    sub(),
    { calls: [call("write", { name: "a", text: "x" }), call("delete", { name: "a" }), call("read", { name: "a" })] },
    { text: "Did what I could." },
    done,
  ];
  const { envelope, model, has } = await trial(script, {
    tools: ["*"],
    permissions: [{ tool: "notes/delete", action: "deny" }],
    skills: ["./inner"],
    files: inner({ permissions: [{ tool: "notes/read", action: "deny" }] }),
  });
  expect(model.asked(1).tools).toEqual(["mcp__notes__write", "finish"]);
  expect(envelope.outcome).toBe("done");
  expect(has("a")).toBe(true);
  expect(envelope.denials.map(({ tool, by }: { tool: string; by: string }) => [tool, by])).toEqual([
    ["notes/delete", "permissions[0]"],
    ["notes/read", "inner/permissions[0]"],
  ]);
});

test("an input that a model gives a sub-skill cannot widen its rules", async () => {
  const { model } = await trial([sub({ name: "*" }), sub({ name: "a" }), write("a"), write("b"), done, done], {
    tools: ["*"],
    skills: ["./inner"],
    files: {
      "inner/skill.yaml": manifest(
        { notes: fixtureServer("notes.mjs", { tools: [] }) },
        {
          name: "inner",
          inputs: { name: {} },
          permissions: [{ tool: "notes/write", args: { name: "{{ inputs.name }}" }, action: "allow" }],
        },
      ),
    },
  });
  expect(model.asked(1).results[0]?.text).toContain("the value of inputs.name has a * in it");
  expect(model.asked(4).results.map(({ text }) => text)).toEqual([
    "wrote a",
    expect.stringContaining("not allowed (no rule allows it)"),
  ]);
});

// Without a model.

test("omega call obeys the deny rules of the manifest, and takes being called for a yes to the rest", async () => {
  using folder = temporaryFolder({
    "skill.yaml": manifest(
      { notes: fixtureServer("notes.mjs", { tools: [] }) },
      {
        permissions: [
          { tool: "notes/delete", action: "deny" },
          { tool: "notes/write", args: { name: "secret*" }, action: "deny" },
          { tool: "notes/*", action: "ask" },
        ],
      },
    ),
  });
  const calls = (...words: string[]) => omega(["call", folder.path, ...words, "--workdir", folder.path]);
  expect(await calls("write", "name=a", "text=x")).toMatchObject({ code: 0, stdout: "wrote a\n" });
  const refused = await calls("mcp__notes__write", "name=secret.txt", "text=x");
  expect(refused).toMatchObject({ code: 4, stdout: "" });
  expect(refused.stderr).toContain("error: denied: permissions[1] denies this call of notes/write");
  expect(refused.stderr).toContain(folder.file("skill.yaml"));
  expect(existsSync(folder.file("secret.txt"))).toBe(false);
  expect(await calls("notes/delete", "name=a")).toMatchObject({ code: 4, stdout: "" });
  // What is missing meets a deny, here as in a run.
  expect(await calls("write", "text=x")).toMatchObject({ code: 4 });
  const adHoc = await omega(["call", "delete", "name=a", "--", "node", String(fixtureServer("notes.mjs").args[0])], {
    cwd: folder.path,
  });
  expect(adHoc).toMatchObject({ code: 0, stdout: "deleted a\n" });
});
