// `expect`: what the checks look at, when, and what they decide.

import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { until } from "../support/processes.ts";
import { call, echo, finish, scripted } from "../support/scripted.ts";
import { fixtureServer } from "../support/skills.ts";

const done = { text: "Done." };
const failing = { s: fixtureServer("odd-results.mjs") };

const checks: [string, object, boolean, string][] = [
  ["a tool that was called", { tool: "s/echo" }, true, "2 sent, 2 succeeded"],
  ["a tool in the model's spelling", { tool: "mcp__s__*" }, true, "2 sent, 2 succeeded"],
  ["too few calls", { tool: "s/echo", min: 3 }, false, "2 sent, 2 succeeded"],
  ["too many calls", { tool: "s/*", max: 1 }, false, "2 sent, 2 succeeded"],
  ["no call, as it should be", { tool: "s/delete*", max: 0 }, true, "0 sent, 0 succeeded"],
  ["a tool that was never called", { tool: "t/echo" }, false, "0 sent, 0 succeeded"],
  ["a file that is there", { file: "notes.md" }, true, "5 bytes"],
  ["a file that is not", { file: "other.md" }, false, "no such file"],
  ["a folder", { file: "." }, false, "not a file"],
  ["a file below a file", { file: "notes.md/x" }, false, "no such file"],
  ["a file that no file can be called", { file: "x".repeat(300) }, false, "ENAMETOOLONG"],
  ["a command that ends well", { command: ["grep", "-q", "^notes", "notes.md"] }, true, "exit 0"],
  [
    "a command that does not",
    { command: ["sh", "-c", "echo 3 are missing >&2; exit 7"] },
    false,
    "exit 7: 3 are missing",
  ],
  ["a command that there is not", { command: ["no-such-program"] }, false, "no such command: no-such-program"],
  ["a command that kills itself", { command: ["sh", "-c", "kill -9 $$"] }, false, "SIGKILL"],
];

for (const [what, check, ok, found] of checks) {
  test(`${what}: the check ${ok ? "holds" : "does not hold"}`, async () => {
    await using life = await scripted({
      turns: [{ calls: [echo("a"), echo("b")] }, done],
      skill: { expect: [check] },
      files: { "work/notes.md": "notes" },
    });
    const { code, json } = await life.run();
    expect(json.checks).toEqual([{ check: expect.any(String), ok, found }]);
    expect({ code, outcome: json.outcome, word: json.code }).toEqual(
      ok ? { code: 0, outcome: "done", word: null } : { code: 1, outcome: "failed", word: "check" },
    );
    if (!ok) expect(json.reason).toContain(found);
    expect(json.text).toBe("Done.");
  });
}

test("min counts calls that succeeded, max those that were sent", async () => {
  await using life = await scripted({
    wire: "google",
    servers: failing,
    turns: [{ calls: [echo("failed"), echo("failed"), echo("plain")] }, done],
    skill: {
      expect: [
        { tool: "s/echo", min: 2 },
        { tool: "s/echo", max: 2 },
        { tool: "s/echo", min: 1, max: 3 },
      ],
    },
  });
  const { code, json } = await life.run();
  expect(code).toBe(1);
  expect(json.checks.map(({ ok }: { ok: boolean }) => ok)).toEqual([false, false, true]);
  expect(json.reason).toStartWith("2 checks of expect do not hold: ");
});

test("calls that a rule refuses are not sent, and count for neither", async () => {
  await using life = await scripted({
    turns: [{ calls: [echo("x"), echo("y")] }, done],
    skill: {
      permissions: [{ tool: "s/echo", args: { text: "x" }, action: "deny" }],
      expect: [{ tool: "s/echo", min: 1, max: 1 }],
    },
  });
  expect((await life.run()).json).toMatchObject({ outcome: "done", checks: [{ found: "1 sent, 1 succeeded" }] });
});

for (const [what, check, ok, looked] of [
  ["a file that is asked for when it is done", { file: "x" }, true, 0],
  ["a file that is always asked for", { file: "x", when: "always" }, false, 1],
  ["the least number of calls", { tool: "s/echo", min: 5 }, true, 0],
  ["the least number of calls, always", { tool: "s/echo", min: 5, when: "always" }, false, 1],
  ["the greatest number of calls that was kept", { tool: "s/echo", min: 5, max: 1 }, true, 1],
  ["the greatest number of calls that was not", { tool: "s/echo", max: 0 }, false, 1],
] as const) {
  test(`nothing to do: ${what} is ${looked ? "" : "not "}looked at${looked ? ` and ${ok ? "holds" : "fails"}` : ""}`, async () => {
    await using life = await scripted({
      wire: "anthropic",
      turns: [{ calls: [echo("a")] }, finish("nothing-to-do", "No commits.")],
      skill: { expect: [check] },
    });
    const { code, json } = await life.run();
    expect(json.checks).toHaveLength(looked);
    expect(code).toBe(ok ? 0 : 1);
    expect(json).toMatchObject(ok ? { outcome: "nothing-to-do" } : { outcome: "failed", code: "check" });
  });
}

test("checks are made while the servers live, after the answer is written, in the order of the manifest", async () => {
  await using life = await scripted({
    wire: "openai",
    turns: [{ text: "## Notes" }],
    skill: {
      output: { file: "notes.md" },
      expect: [{ command: ["grep", "-q", "^## ", "notes.md"] }, { command: ["sh", "-c", "kill -0 $(cat pid)"] }],
    },
    servers: {
      s: { command: "sh", args: ["-c", `echo $$ > "$DIR/work/pid"; exec node ${fixtureServer("good.mjs").args[0]}`] },
    },
  });
  const { code, json } = await life.run();
  expect(json.checks).toMatchObject([{ ok: true }, { ok: true }]);
  expect(code).toBe(0);
});

test("a check that hangs is ended with the run's time, and the answer is not lost", async () => {
  await using life = await scripted({ turns: [done], skill: { expect: [{ command: ["sleep", "1000"] }] } });
  const { code, json } = await life.run(["--limit", "time=1s"]);
  expect(code).toBe(5);
  expect(json).toMatchObject({ outcome: "limit", code: "time", text: "Done.", children: { started: 2 } });
});

test("a signal ends a check that hangs, and what it has started", async () => {
  await using life = await scripted({
    wire: "anthropic",
    turns: [done],
    skill: { expect: [{ command: ["sh", "-c", "touch begun; sleep 1000 & sleep 1000"] }] },
  });
  const { child, result } = life.start(["--json"]);
  expect(await until(() => existsSync(life.file("work/begun")), 20_000)).toBe(true);
  child.kill("SIGTERM");
  const { code, json } = await result;
  expect(code).toBe(143);
  expect(json).toMatchObject({ outcome: "interrupted", text: "Done." });
});

test("a check command works in the workdir and knows no key", async () => {
  await using life = await scripted({
    turns: [done],
    skill: { expect: [{ command: ["sh", "-c", "pwd > where; env > env"] }] },
  });
  await life.run([], { env: { OPENAI_API_KEY: "sk-canary-12345678" } });
  expect(life.read("work/where").trim()).toBe(life.file("work"));
  expect(life.read("work/env")).not.toContain("sk-canary");
});

test("a blocked model is blocked, whatever the checks would say", async () => {
  await using life = await scripted({
    turns: [{ calls: [call("s/echo", { text: "a" })] }, finish("blocked", "No rights.")],
    skill: { expect: [{ tool: "s/echo" }] },
  });
  expect((await life.run()).json).toMatchObject({ outcome: "failed", code: "blocked", checks: [] });
});
