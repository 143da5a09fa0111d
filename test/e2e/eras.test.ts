// The two eras of the protocol, bare servers, and what omega remembers of them.

import { expect, test } from "bun:test";
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { onServer } from "../support/one-server.ts";
import { temporaryFolder } from "../support/temporary.ts";

test("a bare server works: no handshake, its result is given as JSON, one call at a time", async () => {
  const calls = ["a", "b", "c"].map((id) => ({ id, tool: "s/send_email", arguments: { to: id } }));
  const { code, json } = await onServer("bare.mjs", ["run", "--json"], { turns: [{ calls }, { text: "{{ c }}" }] });
  expect(code).toBe(0);
  expect(JSON.parse(json.text)).toEqual({ status: "sent", to: "c", most: 1 });
  expect(json.servers).toMatchObject([{ protocol: "bare", tools: 1 }]);
});

test("a modern server works: every request carries its envelope", async () => {
  const { code, stdout } = await onServer("modern.mjs", ["call", "echo", "text=hi"]);
  expect({ code, stdout }).toEqual({ code: 0, stdout: "modern: hi\n" });
  const { json } = await onServer("modern.mjs", ["servers", "--json"], { server: { protocol: "modern" } });
  expect(json).toMatchObject([{ status: "ready", protocol: "2026-07-28", session: { instructions: "Be modern." } }]);
});

test("a modern server that asks for input gets none: the call is an error that says what it asked for", async () => {
  const { code, stderr } = await onServer("modern.mjs", ["call", "asks"]);
  expect(code).toBe(1);
  expect(stderr).toContain('asks for input before it answers tools/call: elicitation/create "Your name?"');
});

test("a modern result of unknown type is an error", async () => {
  const { code, stderr } = await onServer("modern.mjs", ["call", "odd"]);
  expect(code).toBe(1);
  expect(stderr).toContain('unknown type "riddle"');
});

test("protocol: legacy does not try the modern era, protocol: modern not the legacy one", async () => {
  const legacy = await onServer("modern.mjs", ["tools"], { server: { protocol: "legacy" } });
  expect(legacy.code).toBe(3);
  expect(legacy.stderr).toContain("no handshake in this revision");
  const modern = await onServer("good.mjs", ["tools"], { server: { protocol: "modern" } });
  expect(modern.code).toBe(3);
  expect(modern.stderr).toContain("method not found: server/discover");
});

test("a revision that omega does not speak is an error that names both", async () => {
  const { code, stderr } = await onServer("from-the-future.mjs", ["tools"]);
  expect(code).toBe(3);
  expect(stderr).toMatch(/speaks MCP "2099-01-01", omega speaks 2026-07-28, 2025-11-25/);
});

test("a server that refuses our revision with a list gets one of its own", async () => {
  const { json } = await onServer("refuses-revision.mjs", ["servers", "--json"]);
  expect(json).toMatchObject([{ status: "ready", protocol: "2024-11-05" }]);
});

test("a modern server is remembered and asked in its era first; when it turns legacy it still works, and is forgotten", async () => {
  using files = temporaryFolder({ era: "modern" });
  const server = { env: { ERA: files.file("era"), STARTS: files.file("starts") } };
  const look = async () => {
    const { json } = await onServer("modern-or-legacy.mjs", ["servers", "--json"], {
      server,
      home: files.file("home"),
    });
    return json[0].protocol;
  };
  const remembered = () => JSON.parse(readFileSync(files.file("home/eras.json"), "utf8")).modern.length;

  expect(await look()).toBe("2026-07-28");
  expect(remembered()).toBe(1);
  expect(statSync(files.file("home")).mode & 0o777).toBe(0o700);
  expect(statSync(files.file("home/eras.json")).mode & 0o777).toBe(0o600);
  writeFileSync(files.file("era"), "legacy");
  expect(await look()).toBe("2025-11-25");
  expect(remembered()).toBe(0);
  // The legacy server left at the modern question, and was started again for the legacy one.
  expect(readFileSync(files.file("starts"), "utf8")).toBe("modern\nlegacy\nlegacy\n");
  expect(await look()).toBe("2025-11-25");
  expect(readFileSync(files.file("starts"), "utf8")).toBe("modern\nlegacy\nlegacy\nlegacy\n");
});

test("what is remembered may be broken, unwritable or nowhere: the server works all the same", async () => {
  using files = temporaryFolder({ "home/eras.json": "{broken", file: "" });
  for (const home of [files.file("home"), files.file("file/below"), "/proc/nowhere"]) {
    const { code, stdout, stderr } = await onServer("modern.mjs", ["call", "echo", "text=hi"], { home });
    expect({ code, stdout }).toEqual({ code: 0, stdout: "modern: hi\n" });
    expect(stderr).not.toContain("error");
  }
  expect(readdirSync(files.file("home")).sort()).toEqual(["audit", "eras.json", "journal"]);
});
