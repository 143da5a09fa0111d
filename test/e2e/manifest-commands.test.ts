import { expect, test } from "bun:test";
import { omega } from "../support/omega.ts";
import { fixtureServer, manifest } from "../support/skills.ts";
import { temporaryFolder } from "../support/temporary.ts";

test("omega init makes a skill that is valid and runs, and never overwrites", async () => {
  using folder = temporaryFolder();
  const cwd = { cwd: folder.path };
  expect((await omega(["init", "demo"], cwd)).code).toBe(0);
  expect(await Bun.file(folder.file("demo/skill.yaml")).text()).toStartWith("# yaml-language-server: $schema=");
  expect((await omega(["validate", "demo"], cwd)).code).toBe(0);
  expect((await omega(["run", "demo", "--input", "who=you"], cwd)).stdout).toContain("Hello!");
  expect((await omega(["init", "demo"], cwd)).code).toBe(2);
});

test("omega plan shows secrets by name and source, never by value", async () => {
  using folder = temporaryFolder({
    "skill.yaml":
      'description: d\ninputs: { t: { secret: true } }\nservers: { a: { command: x, args: ["--key=${MY_KEY}", "{{ inputs.t }}"] } }\n',
  });
  const words = ["plan", folder.path, "--input", "t=hunter2hunter2"];
  const env = { MY_KEY: "sk-canary-1" };
  for (const more of [[], ["--json"]]) {
    const { code, stdout, stderr } = await omega([...words, ...more], { env });
    expect(code).toBe(0);
    expect(stdout + stderr).not.toMatch(/hunter2|sk-canary/);
    expect(stdout).toContain("--key=‹MY_KEY›");
    expect(stdout).toContain("the environment");
  }
});

test("omega plan --connect shows for each tool which rule decides, what it weighs, and what is named but missing", async () => {
  using folder = temporaryFolder({
    "skill.yaml": manifest(
      { all: fixtureServer("several-tools.mjs", { tools: ["read", "ghost"] }) },
      {
        permissions: [
          { tool: "all/write", args: { path: "notes/*" }, action: "allow" },
          { tool: "mcp__all__erase", action: "deny" },
        ],
        limits: { tokens: "100k", cost: 0.5 },
      },
    ),
  });
  const { code, stdout, stderr } = await omega(["plan", folder.path, "--connect", "--json", "--deny", "all/e*"]);
  expect(code).toBe(0);
  expect(stderr).toContain('server "all" has no tool "ghost"');
  const { tools, worstCost } = JSON.parse(stdout);
  expect(worstCost).toBe(0.5);
  const decided = Object.fromEntries(tools.map((tool: any) => [tool.name, [tool.unattended, ...tool.decisions]]));
  expect(decided).toEqual({
    read: ["offered", { action: "allow", by: "servers.all.tools" }],
    write: ["offered", { action: "allow", by: "permissions[0]" }, { action: "ask", by: "no rule" }],
    erase: ["denied", { action: "deny", by: "--deny all/e*" }],
    list: ["undecided", { action: "ask", by: "no rule" }],
  });
  expect(tools.every(({ estimatedTokens }: any) => estimatedTokens > 5)).toBe(true);
  const text = await omega(["plan", folder.path, "--connect"]);
  expect(text.stdout).toMatch(/all\/erase +refused +~\d+ tokens +deny by permissions\[1\]/);
  expect(text.stdout).toContain("tools    2 of 4 offered when nobody can be asked");
});

test("--match runs the one skill whose trigger is in the text; none or two are invalid, with the list", async () => {
  using folder = temporaryFolder({
    "a/skill.yaml": "description: d\ntrigger: release notes|changelog\nmodel: replay/t.yaml\n",
    "a/t.yaml": "turns: [{ text: I am a }]",
    "b/skill.yaml": "description: d\ntrigger: changelog\nmodel: replay/t.yaml\n",
  });
  const match = (text: string) => omega(["run", "--match", text, folder.path]);
  expect((await match("write the Release notes!")).stdout).toBe("I am a\n");
  for (const text of ["a changelog please", "nothing"]) {
    const { code, stderr } = await match(text);
    expect(code).toBe(2);
    expect(stderr).toContain("b: changelog");
  }
});

test("two claims on stdin are invalid; one gives the inputs", async () => {
  using folder = temporaryFolder({ "skill.yaml": "description: d\ninputs: { a: {} }\nprompt: P {{ inputs.a }}\n" });
  expect((await omega(["plan", folder.path, "-", "--input-file", "-"])).code).toBe(2);
  const { stdout } = await omega(["plan", folder.path, "--input-file", "-", "--json"], { input: '{"a":"x"}' });
  expect(JSON.parse(stdout).prompt).toBe("P x");
});
