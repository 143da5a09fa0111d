// What one run is told of its tools: offered or not, refused or not, who is asked and how often, and when it is enough.

import { expect, test } from "bun:test";
import {
  type AskPerson,
  openPermits,
  type PermitOptions,
  type Permits,
  type Question,
  type Reply,
} from "../../src/permissions/permits.ts";
import type { Action, Rule, ToolName } from "../../src/permissions/rules.ts";

type Short = [tool: string, action: Action, args?: Record<string, string>];

const rulesOf = (rules: readonly Short[]): Rule[] =>
  rules.map(([tool, action, args], index) => ({ tool, action, args, by: `rule ${index}` }));

const open = (rules: readonly Short[], more: Partial<PermitOptions> = {}): Permits =>
  openPermits({ rules: rulesOf(rules), explicit: rulesOf(rules), unattended: "deny", ...more });

const { signal } = new AbortController();
const x: ToolName = { server: "t", tool: "x" };
const y: ToolName = { server: "t", tool: "y" };
const agent: ToolName = { server: undefined, tool: "agent" };

/** A person who says these in turn, and remembers what was asked. */
function person(...replies: Reply[]) {
  const asked: Question[] = [];
  const ask: AskPerson = async (question) => replies[asked.push(question) - 1] ?? "no";
  return { ask, asked };
}

const offers: [why: string, rules: Short[], unattended: string, attended: string][] = [
  ["nobody has decided on", [], "undecided by no rule", "offered"],
  ["a rule allows", [["t/x", "allow"]], "offered", "offered"],
  ["a rule denies", [["t/*", "deny"]], "denied", "denied"],
  ["a rule asks for", [["t/x", "ask"]], "undecided by rule 0", "offered"],
  ["a rule allows for some arguments", [["t/x", "allow", { a: "1" }]], "offered", "offered"],
  ["a rule denies for some arguments", [["t/x", "deny", { a: "1" }]], "undecided by no rule", "offered"],
  [
    "a rule denies for some arguments and another allows",
    [
      ["t/x", "deny", { a: "1" }],
      ["*", "allow"],
    ],
    "offered",
    "offered",
  ],
  [
    "a rule asks for with some arguments and another denies",
    [
      ["t/x", "ask", { a: "1" }],
      ["*", "deny"],
    ],
    "undecided by rule 0",
    "offered",
  ],
];
const told = (permits: Permits, name = x) => {
  const offer = permits.offer(name);
  return offer.kind === "undecided" ? `undecided by ${offer.by}` : offer.kind;
};
for (const [why, rules, unattended, attended] of offers) {
  test(`a tool that ${why} is ${unattended} where nobody can be asked, else ${attended}`, () => {
    expect(told(open(rules))).toBe(unattended);
    expect(told(open(rules, person()))).toBe(attended);
  });
}

test("an allowed call is no denial and asks nobody", async () => {
  const { ask, asked } = person();
  const permits = open([["t/x", "allow"]], { ask });
  expect(await permits.refusal(x, { a: 1 }, signal)).toBeUndefined();
  expect([asked, permits.denials, permits.halt()]).toEqual([[], [], undefined]);
});

test("a denied call says which rule, and is listed with its arguments; a person is not asked", async () => {
  const { ask, asked } = person("run");
  const permits = open([["t/x", "deny"]], { ask });
  expect(await permits.refusal(x, { a: [1] }, signal)).toBe("refused by rule 0: this call of t/x is not allowed");
  expect(permits.denials).toEqual([{ tool: "t/x", by: "rule 0", arguments: '{"a":[1]}' }]);
  expect(asked).toEqual([]);
});

test("where nobody can be asked, asking is a refusal", async () => {
  const permits = open([["t/y", "ask"]]);
  expect(await permits.refusal(x, {}, signal)).toContain("no rule allows it");
  expect(await permits.refusal(y, {}, signal)).toContain("by rule 0");
  expect(permits.denials.map(({ tool, by }) => [tool, by])).toEqual([
    ["t/x", "no rule"],
    ["t/y", "rule 0"],
  ]);
  expect(permits.isAttended).toBe(false);
});

test("long arguments of a denial are cut, and say so", async () => {
  const permits = open([["t/x", "deny"]]);
  await permits.refusal(x, { text: "ä".repeat(10_000) }, signal);
  expect(permits.denials[0]?.arguments).toMatch(/^\{"text":"ä+…$/);
  expect(permits.denials[0]?.arguments).toHaveLength(500);
});

test("the third turn with a refusal of one tool is enough; those of others do not count", async () => {
  const permits = open([["*", "deny"]]);
  for (const name of [x, y, agent, x, y]) {
    await permits.refusal(name, {}, signal);
    expect(permits.halt()).toBeUndefined();
  }
  await permits.refusal(x, {}, signal);
  const halt = permits.halt();
  expect(halt).toMatchObject({ outcome: "denied", word: "refused" });
  expect(halt?.message).toBe("the run was ended: t/x was refused in 3 turns (by rule 0)");
  expect(halt?.hint).toContain('before all other rules, under permissions:\n  - { tool: "t/x", action: allow }');
  await permits.refusal(y, {}, signal);
  expect(permits.halt()).toBe(halt);
});

test("refusals of one turn are one: the model could not know", async () => {
  const permits = open([["*", "deny"]]);
  for (let turn = 1; turn <= 3; turn++) {
    for (let call = 0; call < 5; call++) await permits.refusal(x, {}, signal);
    expect(permits.halt() !== undefined).toBe(turn === 3);
  }
  expect(permits.denials).toHaveLength(15);
});

test("unattended: fail is enough at the first refusal", async () => {
  const permits = open([], { unattended: "fail" });
  await permits.refusal(x, {}, signal);
  expect(permits.halt()?.message).toBe("the run was ended: t/x was refused once (no rule allows it)");
});

test("unattended: fail says nothing of a run that somebody attends", async () => {
  const permits = open([], { unattended: "fail", ...person() });
  await permits.refusal(x, {}, signal);
  expect(permits.halt()).toBeUndefined();
});

test("a tool that --deny refuses is not to be had by a line in the manifest", async () => {
  const rules: Rule[] = [{ tool: "t/*", action: "deny", by: "--deny t/*" }];
  const permits = openPermits({ rules, explicit: rules, unattended: "fail" });
  await permits.refusal(x, {}, signal);
  expect(permits.halt()?.hint).toBe("if the skill needs it, run it without --deny t/*");
});

test("a person is asked each time after once, and never again after for this run", async () => {
  const { ask, asked } = person("once", "run", "no", "no", "no");
  const permits = open([], { ask });
  for (let call = 0; call < 5; call++) expect(await permits.refusal(x, { call }, signal)).toBeUndefined();
  expect(asked.map((question) => question.arguments)).toEqual([{ call: 0 }, { call: 1 }]);
  expect(await permits.refusal(y, {}, signal)).toBe("a person refused this call of t/y");
  expect(asked[2]).toEqual({ tool: "t/y", arguments: {}, by: "no rule" });
  expect(permits.denials).toEqual([{ tool: "t/y", by: "a person", arguments: "{}" }]);
});

test("for this run is said to one rule: what another one asks of the same tool is asked", async () => {
  const { ask, asked } = person("run", "no");
  const permits = open(
    [
      ["t/x", "ask", { force: "true" }],
      ["t/x", "ask"],
    ],
    { ask },
  );
  expect(await permits.refusal(x, { force: false }, signal)).toBeUndefined();
  expect(await permits.refusal(x, { force: true }, signal)).toBe("a person refused this call of t/x");
  expect(await permits.refusal(x, { force: false }, signal)).toBeUndefined();
  expect(asked.map(({ by }) => by)).toEqual(["rule 1", "rule 0"]);
});

test("calls that come together are asked for one by one, in their order", async () => {
  const waiting: ((reply: Reply) => void)[] = [];
  const asked: unknown[] = [];
  const permits = open([], {
    ask: (question) => {
      asked.push(question.arguments);
      return new Promise((resolve) => waiting.push(resolve));
    },
  });
  const answers = [1, 2, 3].map((n) => permits.refusal(x, { n }, signal));
  await settled();
  expect(asked).toEqual([{ n: 1 }]);
  waiting[0]?.("no");
  await settled();
  expect(asked).toEqual([{ n: 1 }, { n: 2 }]);
  waiting[1]?.("run");
  await settled();
  // The third has its answer by the second's.
  expect(asked).toEqual([{ n: 1 }, { n: 2 }]);
  expect(await Promise.all(answers)).toEqual(["a person refused this call of t/x", undefined, undefined]);
});

test("a question that breaks off is that call's end, not the next one's", async () => {
  const broken = new Error("no terminal");
  let asked = 0;
  const permits = open([], { ask: () => (++asked === 1 ? Promise.reject(broken) : Promise.resolve("once")) });
  const [first, second] = [permits.refusal(x, {}, signal), permits.refusal(x, {}, signal)];
  expect(await first.catch((error: unknown) => error)).toBe(broken);
  expect(await second).toBeUndefined();
});

test("a call that is given up while it waits its turn is not asked for", async () => {
  const stop = new AbortController();
  const reason = new Error("time is up");
  const asked: unknown[] = [];
  const ask: AskPerson = (question, { aborted }) => {
    asked.push(question.arguments);
    expect(aborted).toBe(false);
    return new Promise((_, reject) => stop.signal.addEventListener("abort", () => reject(reason)));
  };
  const permits = open([], { ask });
  const answers = [1, 2].map((n) => permits.refusal(x, { n }, stop.signal).catch((error: unknown) => error));
  await settled();
  stop.abort(reason);
  expect(await Promise.all(answers)).toEqual([reason, reason]);
  expect(asked).toEqual([{ n: 1 }]);
  expect(permits.denials).toEqual([]);
});

const layers: [why: string, outer: Short[], own: Short[], offer: string, refusedBy: string | undefined][] = [
  ["its own rules allow, and those above say nothing", [["t/y", "deny"]], [["t/*", "allow"]], "offered", undefined],
  ["the rules above deny", [["t/x", "deny"]], [["*", "allow"]], "denied", "rule 0"],
  ["the rules above ask for", [["t/x", "ask"]], [["*", "allow"]], "undecided by rule 0", "rule 0"],
  ["its own rules deny, and those above allow", [["*", "allow"]], [["t/x", "deny"]], "denied", "rule 0"],
  ["its own rules do not name, and those above allow", [["*", "allow"]], [], "undecided by no rule", "no rule"],
  ["its own rules ask for, and those above deny", [["*", "deny"]], [["*", "ask"]], "denied", "rule 0"],
  ["the rules above deny for other arguments", [["t/x", "deny", { a: "2" }]], [["*", "allow"]], "offered", undefined],
  ["the rules above deny for these arguments", [["t/x", "deny", { a: "1" }]], [["*", "allow"]], "offered", "rule 0"],
  [
    "its own rules deny for these arguments",
    [["*", "allow"]],
    [["t/x", "deny", { a: "1" }]],
    "undecided by no rule",
    "rule 0",
  ],
];
for (const [why, outer, own, offer, refusedBy] of layers) {
  test(`in a sub-skill, a tool that ${why} is ${offer}`, async () => {
    const inner = open(outer).within(rulesOf(own), rulesOf(own));
    expect(told(inner)).toBe(offer);
    await inner.refusal(x, { a: "1" }, signal);
    expect(inner.denials.map(({ by }) => by)).toEqual(refusedBy === undefined ? [] : [refusedBy]);
  });
}

test("what allows a skill its own tools restricts no sub-skill", async () => {
  const rules = rulesOf([["t/y", "allow"]]);
  const inner = openPermits({ rules, explicit: [], unattended: "deny" }).within(rulesOf([["t/x", "allow"]]), []);
  expect(told(inner)).toBe("offered");
  expect(await inner.refusal(x, {}, signal)).toBeUndefined();
});

test("three skills deep, every rule on the way holds", async () => {
  const deep = open([["t/x", "deny"]])
    .within(rulesOf([["*", "allow"]]), rulesOf([["t/y", "ask"]]))
    .within(rulesOf([["*", "allow"]]), []);
  expect([told(deep), told(deep, y), told(deep, agent)]).toEqual(["denied", "undecided by rule 0", "offered"]);
});

test("a skill and its sub-skills have one list of denials, one count and one person", async () => {
  const { ask, asked } = person("run");
  const outer = open(
    [
      ["t/x", "deny"],
      ["t/y", "ask"],
    ],
    { ask },
  );
  const inner = outer.within(rulesOf([["*", "allow"]]), []);
  for (const permits of [outer, inner, inner]) {
    expect(outer.halt()).toBeUndefined();
    await permits.refusal(x, {}, signal);
  }
  expect(outer.denials).toHaveLength(3);
  expect(inner.denials).toBe(outer.denials);
  expect(outer.halt()).toMatchObject({ word: "refused" });
  expect(inner.halt()).toBe(outer.halt());
  expect([await outer.refusal(y, {}, signal), await inner.refusal(y, {}, signal)]).toEqual([undefined, undefined]);
  expect(asked).toHaveLength(1);
});

/** All that can happen without anything from outside has happened. */
const settled = () => new Promise((resolve) => setImmediate(resolve));
