// Permissions where nobody can be asked: what a run makes of tools that nobody has decided on, and of calls it refuses.

import { expect, test } from "bun:test";
import { echo, finish, scripted } from "../support/scripted.ts";
import { fixtureServer } from "../support/skills.ts";

test("a server without an allowed tool is denied/undecided, 4, with the line to paste, before a model is asked", async () => {
  await using life = await scripted({ turns: [], servers: { s: fixtureServer("good.mjs", { tools: [] }) } });
  const { code, json } = await life.run();
  expect(code).toBe(4);
  expect(json).toMatchObject({ outcome: "denied", code: "undecided", undecided: ["s/echo"], turns: 0 });
  expect(json.hint).toContain('tools: ["echo"]');
  expect(life.model.requests).toEqual([]);
});

for (const spelling of ["s/echo", "mcp__s__echo", "echo", "s.echo"]) {
  test(`a model that is blocked for want of a tool nobody has allowed, as ${spelling}, is denied/undecided`, async () => {
    const servers = { s: fixtureServer("odd-tools.mjs", { tools: ["far-schema"] }) };
    await using life = await scripted({
      wire: "anthropic",
      servers,
      turns: [finish("blocked", "I must echo.", { missing: [spelling] })],
    });
    const { code, json } = await life.run();
    expect(code).toBe(4);
    expect(json).toMatchObject({ outcome: "denied", code: "undecided", text: "I must echo." });
    expect(json.undecided).toContain("s/echo");
    expect(life.model.asked(0).system).toContain("s/echo");
    expect(life.model.asked(0).tools).not.toContain("mcp__s__echo");
  });
}

const noX = { permissions: [{ tool: "s/echo", args: { text: "x*" }, action: "deny" }] };

test("the third refusal of one tool is denied/refused, and all of them are listed", async () => {
  await using life = await scripted({
    wire: "google",
    skill: noX,
    turns: (index) => ({ text: "Again.", calls: [echo(`x${index}`)] }),
  });
  const { code, json } = await life.run();
  expect(code).toBe(4);
  expect(json).toMatchObject({ outcome: "denied", code: "refused", turns: 3, text: "Again." });
  expect(json.denials).toEqual(
    [0, 1, 2].map((n) => ({ tool: "s/echo", by: "permissions[0]", arguments: `{"text":"x${n}"}` })),
  );
  expect(life.model.requests).toHaveLength(3);
});

test("unattended: fail makes it the first", async () => {
  await using life = await scripted({ skill: { ...noX, unattended: "fail" }, turns: [{ calls: [echo("x")] }] });
  expect((await life.run()).json).toMatchObject({ outcome: "denied", code: "refused", turns: 1, denials: [{}] });
});

test("a deny rule that did its job does not turn a good run red", async () => {
  await using life = await scripted({
    wire: "openai",
    skill: noX,
    turns: [{ calls: [echo("x"), echo("y")] }, { text: "Done." }],
  });
  const { code, json, stderr } = await life.run();
  expect(code).toBe(0);
  expect(json).toMatchObject({ outcome: "done", denials: [{ tool: "s/echo", by: "permissions[0]" }] });
  expect(life.model.asked(-1).results.map(({ text }) => text)).toEqual([
    expect.stringContaining("refused by permissions[0]"),
    "echo: y",
  ]);
  expect(stderr).toContain("refused: 1 call of s/echo (by permissions[0])");
});

test("with checks, they decide over a denial, either way", async () => {
  const turns = () => ({ calls: [echo("x")] });
  const skill = { ...noX, expect: [{ file: "notes.md" }] };
  await using good = await scripted({ skill, turns, files: { "work/notes.md": "" } });
  expect((await good.run()).json).toMatchObject({ outcome: "done", denials: [{}, {}, {}], checks: [{ ok: true }] });
  await using bad = await scripted({ skill, turns });
  expect((await bad.run()).json).toMatchObject({
    outcome: "failed",
    code: "check",
    hint: expect.stringContaining("refused in 3 turns"),
  });
});

for (const [what, more] of [
  ["the answer that output.file promises", { expect: [{ command: ["true"] }], output: { file: "notes.md" } }],
  [
    "the answer that output.schema promises",
    { expect: [{ command: ["true"] }], output: { schema: { type: "object" } } },
  ],
  ["a check of the work itself", { expect: [{ tool: "s/echo", max: 5 }] }],
] as const) {
  test(`checks that hold do not make up for ${what}: the run stays denied`, async () => {
    await using life = await scripted({ skill: { ...noX, ...more }, turns: () => ({ calls: [echo("x")] }) });
    const { code, json } = await life.run();
    expect(code).toBe(4);
    expect(json).toMatchObject({ outcome: "denied", code: "refused", checks: [{ ok: true }] });
  });
}
