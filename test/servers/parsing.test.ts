// The rules for reading what servers say, without a server.

import { expect, test } from "bun:test";
import { textOf } from "../../src/conversation.ts";
import type { Peer } from "../../src/mcp/json-rpc.ts";
import { listTools, parseTool } from "../../src/servers/discovery.ts";
import { openSession, type Session } from "../../src/servers/session.ts";
import { parseToolResult } from "../../src/servers/tool-result.ts";

const session = { capabilities: { tools: {} } } as unknown as Session;

test("a list of tools gives each with its name and description", async () => {
  const ask = async () => ({
    tools: [
      { name: "a", description: "A" },
      { name: "b", description: "B" },
    ],
  });
  const { entries } = await listTools(ask, "s", session);
  expect(entries.map(({ name, description }) => [name, description])).toEqual([
    ["a", "A"],
    ["b", "B"],
  ]);
});

test("a list that is absent is empty", async () => {
  expect((await listTools(async () => ({}), "s", session)).entries).toEqual([]);
  expect((await listTools(async () => null, "s", session)).entries).toEqual([]);
});

test("only an entry without a name is malformed; the rest has defaults", () => {
  for (const entry of [null, 7, "x", [], {}, { name: "" }, { name: 5 }]) expect(parseTool(entry)).toBeUndefined();
  expect(parseTool({ name: "a", description: { odd: 1 }, inputSchema: null, annotations: "x" })).toEqual({
    name: "a",
    description: "",
    inputSchema: { type: "object" },
    outputSchema: undefined,
    annotations: {},
  });
});

test("an object's schema is passed on untouched; another is replaced by one that takes anything", () => {
  const schema = { $schema: "x", type: "object", $defs: { a: { $anchor: "b" } }, allOf: [{ if: {} }] };
  expect(parseTool({ name: "a", inputSchema: schema })?.inputSchema).toEqual(schema);
  expect(parseTool({ name: "a", inputSchema: { properties: {} } })?.inputSchema).toEqual({
    type: "object",
    properties: {},
  });
  for (const odd of [true, "x", [], { type: "string" }, { type: ["object", "null"] }])
    expect(parseTool({ name: "a", inputSchema: odd })?.inputSchema).toEqual({ type: "object" });
});

test("text blocks are joined by a line feed, and the result is no error", () => {
  const result = parseToolResult({
    content: [
      { type: "text", text: "a" },
      { type: "text", text: "b" },
    ],
  });
  expect(result).toEqual({ content: [{ type: "text", text: "a\nb" }], isError: false });
});

test("isError is taken over, and only as true", () => {
  expect(parseToolResult({ content: [], isError: true }).isError).toBe(true);
  expect(parseToolResult({ content: [], isError: "yes" }).isError).toBe(false);
});

test("an empty content is an empty result and no error", () => {
  expect(parseToolResult({ content: [] })).toEqual({ content: [], isError: false });
});

test("structured content without content is given as JSON", () => {
  expect(textOf(parseToolResult({ structuredContent: { n: 1 } }).content)).toBe('{"n":1}');
});

test("a block whose words are objects that hide their toString is named all the same", () => {
  const odd = { toString: null, valueOf: null };
  const content = [
    { type: "resource_link", name: odd, uri: odd },
    { type: "resource", resource: { uri: odd, mimeType: odd, blob: "aa" } },
    { type: odd, mimeType: odd, data: "aa" },
  ];
  const json = JSON.stringify(odd);
  expect(textOf(parseToolResult({ content }).content).split("\n")).toEqual([
    `[resource ${json} at ${json}]`,
    `[resource ${json} ${json}, 2 characters of base64]`,
    `[${json} ${json}, 2 characters of base64]`,
  ]);
});

test("a modern server whose revisions are no text is refused by a clear error", async () => {
  const supportedVersions = [{ toString: null, valueOf: null }];
  const opening = openSession({} as Peer, "the server", "modern", async () => ({ supportedVersions }));
  await expect(opening).rejects.toThrow('the server speaks MCP [{"toString":null,"valueOf":null}], omega speaks');
});

test("cursors count towards what a list may hold", async () => {
  let page = 0;
  const ask = async () => ({ tools: [], nextCursor: `${page++}${"c".repeat(8_000_000)}` });
  await expect(listTools(ask, "s", session)).rejects.toThrow("the list of tools has more than 32000000 characters");
});
