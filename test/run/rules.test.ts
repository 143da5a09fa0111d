import { expect, test } from "bun:test";
import { deadRules } from "../../src/run/rules.ts";

const flags = { allow: [], deny: [], yes: false };
const inner = { manifest: { servers: { "in-ner": {} } }, skills: [] };
const skill = (...tools: string[]): any => ({
  permissions: tools.map((tool) => ({ tool, action: "deny" })),
  servers: [{ name: "git" }, { name: "a_b" }],
  skills: [inner],
});

const table: [string, string | undefined][] = [
  ["git/push", undefined],
  ["mcp__git__push", undefined],
  ["mcp__a_b__x", undefined],
  ["in-ner/x", undefined],
  ["*", undefined],
  ["*/push", undefined],
  ["g*/push", undefined],
  ["mcp__*", undefined],
  ["agent", undefined],
  ["skill__count", undefined],
  ["gti/push", 'permissions[0]: no server is called "gti"; did you mean "git"?'],
  ["mcp__tracker__x", 'permissions[0]: no server is called "tracker"'],
  ["a/b/c", 'permissions[0]: no server is called "a"'],
];
for (const [tool, warning] of table) {
  test(`a rule on ${tool} ${warning ? "is told to do nothing" : "may do something"}`, () => {
    expect(deadRules(skill(tool), flags)).toEqual(warning === undefined ? [] : [warning]);
  });
}

test("flags are held to it too", () => {
  expect(deadRules(skill(), { ...flags, deny: ["gti/*"] })).toEqual([
    '--deny gti/*: no server is called "gti"; did you mean "git"?',
  ]);
});
