import { describe, expect, test } from "bun:test";
import { createCheck, createStrictCheck } from "../../src/tools/check.ts";
import { surelyFits } from "../../src/tools/quick-check.ts";
import { isSafePattern } from "../../src/tools/safe-pattern.ts";

async function check(schema: object, value: unknown): Promise<{ wrong: string[]; warnings: string[]; ms: number }> {
  const warnings: string[] = [];
  const started = performance.now();
  const wrong = await createCheck(schema as Record<string, unknown>, "it", (message) => warnings.push(message))(value);
  return { wrong, warnings, ms: performance.now() - started };
}

const table: [string, object, unknown, string[]][] = [
  ["what fits", { type: "object", properties: { a: { type: "string" } } }, { a: "x" }, []],
  ["a missing property", { type: "object", required: ["a"] }, {}, ["/: must have required properties a"]],
  ["a missing toString", { type: "object", required: ["toString"] }, {}, ["/: must have required properties toString"]],
  [
    "a wrong type deep inside",
    { properties: { l: { items: { type: "boolean" } } } },
    { l: [true, 1] },
    ["/l/1: must be boolean"],
  ],
  ["a property too many", { additionalProperties: false }, { q: 1 }, ["/: must not have additional properties: q"]],
  ["a format, which only annotates", { properties: { a: { format: "email" } } }, { a: "x" }, []],
  ["a pattern", { properties: { a: { pattern: "^a$" } } }, { a: "b" }, ['/a: must match pattern "^a$"']],
  [
    "a property named pattern",
    { properties: { pattern: { type: "string" } } },
    { pattern: 1 },
    ["/pattern: must be string"],
  ],
  [
    "a reference",
    { $defs: { n: { type: "number" } }, properties: { a: { $ref: "#/$defs/n" } } },
    { a: "x" },
    ["/a: must be number"],
  ],
  [
    "a schema that holds itself",
    { type: "object", properties: { a: { $ref: "#" } } },
    { a: { a: 1 } },
    ["/a/a: must be object"],
  ],
  [
    "draft-07",
    {
      $schema: "http://json-schema.org/draft-07/schema#",
      definitions: { n: { type: "number" } },
      properties: { a: { $ref: "#/definitions/n" } },
      dependencies: { a: ["b"] },
    },
    { a: 1 },
    ["/: must have properties b when property a is present"],
  ],
];
for (const [what, schema, value, wrong] of table) {
  test(`${what}: ${wrong[0] ?? "fits"}`, async () => {
    expect(await check(schema, value)).toMatchObject({ wrong, warnings: [] });
  });
}

const nested = (levels: number, wrap: (inner: object) => object) => {
  let schema: object = { type: "object" };
  for (let level = 0; level < levels; level++) schema = wrap(schema);
  return schema;
};
const laughs = Object.fromEntries(
  [...Array(40).keys()].map((n) => [
    `l${n}`,
    n === 0 ? {} : { anyOf: [{ $ref: `#/$defs/l${n - 1}` }, { $ref: `#/$defs/l${n - 1}` }] },
  ]),
);
const unchecked: [string, object][] = [
  ["a type that does not exist", { type: "strin" }],
  ["a reference to a URL", { $ref: "http://127.0.0.1:9/x" }],
  ["a reference to a file", { $ref: "file:///etc/passwd" }],
  ["a reference to nothing", { properties: { a: { $ref: "#/$defs/none" } } }],
  [
    "references in a circle",
    { $defs: { a: { $ref: "#/$defs/b" }, b: { $ref: "#/$defs/a" } }, properties: { a: { $ref: "#/$defs/a" } } },
  ],
  ["a pattern that does not parse", { properties: { a: { pattern: "^(?<" } } }],
  ["five thousand levels", nested(5_000, (inner) => ({ properties: { a: inner }, minProperties: 0 }))],
  ["references that double forty times", { $defs: laughs, properties: { a: { $ref: "#/$defs/l39" } } }],
];
for (const [what, schema] of unchecked) {
  test(`a schema with ${what} is told once and lets everything through`, async () => {
    const { wrong, ms, warnings } = await check(schema, { a: "x" });
    expect(wrong).toEqual([]);
    expect(warnings).toEqual([expect.stringMatching(/^it cannot be checked: /)]);
    expect(ms).toBeLessThan(3_000);
  });
}

test("a schema that doubles the work with each level of a value is not followed all the way", async () => {
  let value: object = {};
  for (let level = 0; level < 40; level++) value = { a: value };
  const { wrong, ms } = await check(
    { type: "object", properties: { a: { anyOf: [{ $ref: "#" }, { $ref: "#" }] } } },
    value,
  );
  expect(wrong).toEqual([]);
  expect(ms).toBeLessThan(3_000);
});

test("a hostile pattern cannot hang the check", async () => {
  for (const pattern of ["^(a+)+$", "^(a|a)*$", "(a*)*b", `${"a?".repeat(30)}${"a".repeat(30)}`, ".*.*.*.*x"]) {
    expect(isSafePattern(pattern)).toBe(false);
    const { wrong, ms } = await check({ properties: { a: { pattern } } }, { a: `${"a".repeat(40)}!` });
    expect(wrong).toEqual([]);
    expect(ms).toBeLessThan(3_000);
  }
});

test("usual patterns are taken as safe", () => {
  for (const pattern of [
    "^[a-z]+$",
    "^\\d{4}-\\d{2}-\\d{2}$",
    "^[^@\\s]+@[^@\\s]+\\.[^@\\s]+$",
    "^(?:yes|no)$",
    "[0-9a-f]{8}",
  ])
    expect(isSafePattern(pattern)).toBe(true);
});

test("a long text is checked without its patterns", async () => {
  const schema = { properties: { a: { pattern: "^b" }, n: { type: "number" } } };
  expect((await check(schema, { a: "a".repeat(10_000), n: "x" })).wrong).toEqual(["/n: must be number"]);
});

describe("the manifest's own schema is checked in full:", () => {
  const long = "z".repeat(400);
  for (const [what, schema, value, wrong] of [
    [
      "a pattern, on a long text too",
      { properties: { a: { pattern: "^a+$" } } },
      { a: long },
      "/a: must match pattern",
    ],
    ["a pattern, which fits", { properties: { a: { pattern: "^z+$" } } }, { a: long }, undefined],
    [
      "a pattern that takes too long",
      { pattern: "^a.*b.*c$" },
      "z".repeat(6_000),
      "/: is too long to be matched with the pattern",
    ],
    ["a pattern, which means texts", { pattern: "^a$" }, 5, undefined],
    ["a format", { properties: { a: { format: "date" } } }, { a: "31.12.2026" }, '/a: must match format "date"'],
    ["a format that nobody knows", { format: "colour" }, "x", undefined],
    ["a text that is too large", { type: "string" }, "z".repeat(2_100_000), "/: is too large"],
    ["references in a circle", { $ref: "#" }, {}, "/: cannot be checked"],
    ["no property named toString", { required: ["toString"] }, {}, "/: must have required properties toString"],
  ] as const) {
    test(`${what} ${wrong === undefined ? "fits" : "is told"}`, async () => {
      const [told] = await createStrictCheck(schema)(value);
      if (wrong === undefined) expect(told).toBeUndefined();
      else expect(told).toStartWith(wrong);
    });
  }

  for (const [what, schema, why] of [
    ["a pattern that does not parse", { properties: { a: { pattern: "(" } } }, "the pattern ( is wrong"],
    ["a pattern that could run for hours", { pattern: "^(a+)+$" }, "could take too long"],
    ["a minimum that is a text", { items: { minimum: "5" } }, 'minimum must be a number, not "5"'],
    ["a name in the place of names", { required: "a" }, 'required must be a list of names, not "a"'],
    ["a reference to a URL", { $ref: "http://127.0.0.1:9/x" }, "it refers to"],
  ] as const) {
    test(`${what} is refused before any value`, () => {
      expect(() => createStrictCheck(schema)).toThrow(why);
    });
  }

  test("what a property is called is no keyword", () => {
    expect(() =>
      createStrictCheck({ properties: { minimum: { type: "string" } }, default: { required: 1 } }),
    ).not.toThrow();
  });
});

test("seeded: what the quick check takes for sure, the real checker takes too", async () => {
  const { Errors } = await import("typebox/schema");
  let state = 20261118;
  const random = (below: number): number => {
    state = (state * 1103515245 + 12345) % 2147483648;
    return Math.floor((state / 2147483648) * below);
  };
  const types = ["object", "array", "string", "number", "integer", "boolean", "null", "strng", ["string", "null"]];
  const schema = (depth: number): any => ({
    ...(random(4) > 0 && { type: types[random(types.length)] }),
    ...(random(3) === 0 && depth > 0 && { properties: { a: schema(depth - 1), b: schema(depth - 1) } }),
    ...(random(4) === 0 && { required: random(9) ? ["a"] : "a" }),
    ...(random(4) === 0 && { additionalProperties: [true, false, {}][random(3)] }),
    ...(random(5) === 0 && depth > 0 && { items: schema(depth - 1) }),
    ...(random(6) === 0 && { enum: ["x", 1, null] }),
    ...(random(8) === 0 && { minLength: 2 }),
    ...(random(5) === 0 && { description: "d" }),
  });
  const value = (depth: number): unknown => {
    const one = ["x", "", 1, 1.5, true, null][random(6)];
    if (depth === 0) return one;
    return [one, { a: value(depth - 1) }, { a: value(depth - 1), c: one }, [value(depth - 1)], {}, []][random(6)];
  };
  let sure = 0;
  for (let round = 0; round < 20_000; round++) {
    const [s, v] = [schema(3), value(3)];
    if (!surelyFits(s, v)) continue;
    sure++;
    expect(Errors(s, v)[1], JSON.stringify([s, v])).toEqual([]);
  }
  expect(sure).toBeGreaterThan(2_000);
});
