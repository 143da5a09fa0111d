// Servers that others wrote, as they are published.

import { expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { resolve } from "node:path";
import { root } from "../support/omega.ts";
import { onServer } from "../support/one-server.ts";
import { temporaryFolder } from "../support/temporary.ts";

const published = (path: string, ...args: string[]) => ({
  command: "node",
  args: [resolve(root, "node_modules", path), ...args],
});
const everything = published("@modelcontextprotocol/server-everything/dist/index.js");

test("server-everything: tools, structured output, resources and prompts", async () => {
  expect((await onServer(everything, ["call", "get-sum", "a=2", "b=3"])).stdout).toBe("The sum of 2 and 3 is 5.\n");
  const structured = await onServer(everything, ["call", "get-structured-content", "location=New York", "--json"]);
  expect(structured.json.structuredContent).toMatchObject({ temperature: expect.any(Number) });
  const image = await onServer(everything, ["call", "get-tiny-image"]);
  expect(image.stdout).toContain("[image image/png");
  const resources = await onServer(everything, ["resources", "--json"]);
  expect(resources.json.some((entry: any) => "uriTemplate" in entry)).toBe(true);
  const read = await onServer(everything, ["resources", resources.json[0].uri]);
  expect(read).toMatchObject({ code: 0, stdout: expect.stringContaining("#") });
  const prompt = await onServer(everything, ["prompts", "args-prompt", "city=Oslo"]);
  expect(prompt.stdout).toBe("user: What's weather in Oslo?\n");
});

test("server-filesystem: a file is written and read, one outside is refused with exit 1", async () => {
  using folder = temporaryFolder({ "in.txt": "hello" });
  const files = published("@modelcontextprotocol/server-filesystem/dist/index.js", folder.path);
  const path = folder.file("out.txt");
  expect((await onServer(files, ["call", "write_file", `path=${path}`, "content=written"])).code).toBe(0);
  expect(await Bun.file(path).text()).toBe("written");
  const read = await onServer(files, ["call", "read_text_file", `path=${folder.file("in.txt")}`]);
  expect(read.stdout).toBe("hello\n");
  const outside = await onServer(files, ["call", "read_text_file", "path=/etc/passwd"]);
  expect(outside.code).toBe(1);
  expect(outside.stdout).toContain("denied");
});

test("server-memory: what one start stores the next one finds", async () => {
  using folder = temporaryFolder();
  const memory = {
    ...published("@modelcontextprotocol/server-memory/dist/index.js"),
    env: { MEMORY_FILE_PATH: folder.file("memory.jsonl") },
  };
  const entities = JSON.stringify([{ name: "Ada", entityType: "person", observations: ["writes programs"] }]);
  expect((await onServer(memory, ["call", "create_entities", `entities=${entities}`])).code).toBe(0);
  const { json } = await onServer(memory, ["call", "search_nodes", "query=Ada", "--json"]);
  expect(json.structuredContent.entities).toMatchObject([{ name: "Ada" }]);
});

test("server-sequential-thinking: a thought is taken, and one without its number refused before it is sent", async () => {
  const thinking = published("@modelcontextprotocol/server-sequential-thinking/dist/index.js");
  const words = ["call", "sequentialthinking", "thought=Hm.", "nextThoughtNeeded=false", "thoughtNumber=1"];
  const { json } = await onServer(thinking, [...words, "totalThoughts=1", "--json"]);
  expect(json.structuredContent).toMatchObject({ thoughtNumber: 1, totalThoughts: 1 });
  const missing = await onServer(thinking, words);
  expect(missing.code).toBe(1);
  expect(missing.stderr).toContain("must have required properties totalThoughts");
});

test("git-mcp-server: the log of a repository", async () => {
  using folder = temporaryFolder({ "a.txt": "a" });
  const git = (...words: string[]) =>
    spawnSync("git", ["-c", "user.name=T", "-c", "user.email=t@example.com", ...words], { cwd: folder.path });
  git("init");
  git("add", ".");
  git("commit", "-m", "the first commit");
  const server = published("@cyanheads/git-mcp-server/dist/index.js");
  const { code, stdout } = await onServer(server, ["call", "git_log", `path=${folder.path}`]);
  expect(code).toBe(0);
  expect(stdout).toContain("the first commit");
});

test("context7 speaks the modern era; without a network its tool says so", async () => {
  const context7 = published("@upstash/context7-mcp/dist/index.js");
  const modern = { server: { protocol: "modern" } };
  const { json } = await onServer(context7, ["servers", "--json"], modern);
  expect(json).toMatchObject([{ status: "ready", protocol: "2026-07-28", tools: 2 }]);
  const { code, stdout } = await onServer(context7, ["call", "resolve-library-id", "libraryName=x", "query=y"], modern);
  expect([0, 1]).toContain(code ?? -1);
  expect(stdout.trim()).not.toBe("");
});
