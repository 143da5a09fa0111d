import { expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { nameForModels } from "../../src/tools/names.ts";
import { argumentsFromWords } from "../../src/tools/words.ts";

function names(tools: [string, string][]): Map<string, string> {
  const taken = new Map<string, string>();
  for (const [server, tool] of tools) taken.set(nameForModels(server, tool, taken), `${server}/${tool}`);
  return new Map([...taken].map(([name, origin]) => [origin, name]));
}

test("a safe name stands as it is", () => {
  expect(nameForModels("git", "log", new Map())).toBe("mcp__git__log");
});

test("what is unsafe, too long or would collide is hashed, the same whatever the order", () => {
  const tools: [string, string][] = [
    ["a", "x y"],
    ["a", "x.y"],
    ["a", "x_y"],
    ["a", "n".repeat(100)],
    ["a", `${"n".repeat(100)}m`],
    ["a", "ü"],
    ["a", ""],
    ["a", "b_c"],
    ["a_b", "c"],
  ];
  const forward = names(tools);
  const backward = names([...tools].reverse());
  expect(forward.size).toBe(tools.length);
  for (const [origin, name] of forward) {
    expect(name).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
    expect(backward.get(origin)).toBe(name);
  }
});

test("a tool named like another's hashed name does not collide with it, whatever the order", () => {
  const hash = createHash("sha256").update("mcp__a__x y").digest("hex").slice(0, 8);
  for (const tools of [
    [
      ["a", "x y"],
      ["a", `x_y_${hash}`],
    ],
    [
      ["a", `x_y_${hash}`],
      ["a", "x y"],
    ],
  ] as [string, string][][]) {
    const found = names(tools);
    expect(found.size).toBe(2);
    expect(found.get("a/x y")).toBe(`mcp__a__x_y_${hash}`);
  }
});

test("words become arguments by the declared type, and keys like __proto__ are only keys", () => {
  const schema = { properties: { n: { type: "number" }, s: { type: "string" }, u: { type: ["string", "null"] } } };
  expect(argumentsFromWords(["n=5", "s=5", "u=5", "free=5", "words=a b=c"], schema)).toEqual({
    n: 5,
    s: "5",
    u: "5",
    free: 5,
    words: "a b=c",
  });
  const odd = argumentsFromWords(["__proto__=1", '{"constructor":2}'], schema);
  expect(Object.entries(odd)).toEqual([
    ["__proto__", 1],
    ["constructor", 2],
  ]);
  expect(() => argumentsFromWords(["[1]"], schema)).toThrow("expected name=value");
});
