// `omega servers` without a skill: the servers of ./.mcp.json and ~/.mcp.json.

import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { omega } from "../support/omega.ts";
import { fixture, fixtureServer } from "../support/skills.ts";
import { temporaryFolder } from "../support/temporary.ts";

const json = (mcpServers: object) => JSON.stringify({ mcpServers });

test("both files are listed, the project's first, nothing is started and no argument, address or value is shown", async () => {
  using home = temporaryFolder({
    ".mcp.json": json({ a: { command: "other" }, web: { url: "https://h.example/k/hunter2?k=hunter2" } }),
  });
  using folder = temporaryFolder();
  const touch = { command: "touch", args: [folder.file("started"), "hunter2"], env: { MY_KEY: "hunter2" } };
  await Bun.write(folder.file(".mcp.json"), json({ a: touch, odd: { command: 5 }, empty: {} }));
  const options = { cwd: folder.path, env: { HOME: home.path } };
  const { code, stdout, stderr } = await omega(["servers"], options);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  const here = folder.file(".mcp.json");
  expect(stdout).toMatch(/^a +touch +from /m);
  expect(stdout).toMatch(/^odd +.*mcpServers\.odd\.command: expected string, got 5/m);
  expect(stdout).toMatch(/^empty +neither command nor url +from /m);
  expect(stdout).toMatch(/^web +https:\/\/h\.example +from /m);
  const asJson = await omega(["servers", "--json"], options);
  const shown = { origin: null, error: null };
  expect(JSON.parse(asJson.stdout).slice(0, 3)).toMatchObject([
    { name: "a", file: here, command: "touch", env: ["MY_KEY"], ...shown },
    { name: "odd", file: here, command: null, error: expect.stringContaining("command") },
    { name: "empty", file: here, command: null, ...shown },
  ]);
  expect(stdout + asJson.stdout).not.toContain("hunter2");
  expect(existsSync(folder.file("started"))).toBe(false);
});

test("--connect starts them with their variables filled in; one that cannot start makes the exit code 3, with the reason", async () => {
  using folder = temporaryFolder();
  await Bun.write(
    folder.file(".mcp.json"),
    json({
      good: { command: "${RUNTIME}", args: [fixture("good.mjs")] },
      web: { url: "https://h.example/" },
      unset: { command: "${NO_SUCH}" },
    }),
  );
  const options = { cwd: folder.path, env: { HOME: "/nonexistent", RUNTIME: "node" } };
  const all = await omega(["servers", "--connect", "--json"], options);
  expect(all.code).toBe(3);
  expect(JSON.parse(all.stdout)).toMatchObject([
    { name: "good", status: "ready", error: null },
    { name: "web", status: "failed", error: expect.stringContaining("HTTP") },
    { name: "unset", status: "failed", error: expect.stringContaining("NO_SUCH is not set") },
  ]);
  const one = await omega(["servers", "--connect", "--server", "good"], options);
  expect(one.code).toBe(0);
  expect(one.stdout).toMatch(/^good +ready +MCP /);
});

test("--server takes one of them; a name that is not there is invalid, with the nearest and the list", async () => {
  using folder = temporaryFolder({ ".mcp.json": json({ first: fixtureServer("good.mjs"), second: { command: "x" } }) });
  const options = { cwd: folder.path, env: { HOME: "/nonexistent" } };
  expect((await omega(["servers", "--server", "second"], options)).stdout).toMatch(/^second +x +from \S+\n$/);
  const { code, stderr } = await omega(["servers", "--server", "secnd"], options);
  expect(code).toBe(2);
  expect(stderr).toContain('no .mcp.json has a server "secnd"; did you mean "second"?');
  expect(stderr).toContain("there are: first, second");
});

test("no .mcp.json is an empty list, with and without --connect; a broken one is a warning with its place", async () => {
  using folder = temporaryFolder();
  const options = { cwd: folder.path, env: { HOME: "/nonexistent" } };
  for (const more of [[], ["--connect"]]) {
    expect(await omega(["servers", ...more], options)).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("no servers"),
    });
    expect((await omega(["servers", "--json", ...more], options)).stdout).toBe("[]\n");
  }
  await Bun.write(folder.file(".mcp.json"), '{"mcpServers": {"a": {"env": {"K": "hunter2"');
  const { code, stdout, stderr } = await omega(["servers"], options);
  expect(code).toBe(0);
  expect(stdout).toContain("no servers");
  expect(stderr).toContain(`warning: a broken .mcp.json was passed over: ${folder.file(".mcp.json")}:1:`);
  expect(stderr).not.toContain("hunter2");
});
