// Tool schemas fitted to an API: what is changed, what is said in words instead, and what stays untouched.

import { describe, expect, test } from "bun:test";
import { fitRoot, toOpenApi } from "../../src/providers/schemas.ts";
import { collect, open, question } from "../support/ask.ts";
import { wireServer } from "../support/wire-server.ts";

const plain = {
  type: "object",
  properties: { a: { type: "array", items: { type: "string" } }, b: { anyOf: [{ type: "string" }, { type: "null" }] } },
  required: ["a"],
  additionalProperties: false,
  $schema: "x",
};

describe("for most APIs", () => {
  test("a schema that fits is untouched", () => {
    expect(fitRoot(plain)).toEqual({ schema: plain, changes: [] });
  });

  test("an array without items gets them, wherever it stands, and it is told", () => {
    const { schema, changes } = fitRoot({
      type: "object",
      properties: {
        list: { type: "array" },
        deep: { anyOf: [{ type: "object", properties: { x: { type: "array" } } }] },
      },
    });
    expect(schema).toMatchObject({
      properties: { list: { items: {} }, deep: { anyOf: [{ properties: { x: { items: {} } } }] } },
    });
    expect(changes).toEqual([
      "items added at /properties/list",
      "items added at /properties/deep/anyOf/0/properties/x",
    ]);
  });

  test("a property that is called items or anyOf is a property", () => {
    const schema = { type: "object", properties: { items: { type: "string" }, anyOf: { type: "number" } } };
    expect(fitRoot(schema)).toEqual({ schema, changes: [] });
  });

  test("alternatives at the root become properties and words", () => {
    const options = [
      { properties: { id: { type: "string" } }, required: ["id"] },
      { properties: { name: { type: "string" } }, required: ["name"] },
    ];
    const { schema, changes } = fitRoot({ type: "object", description: "Finds.", oneOf: options });
    expect(schema).toEqual({
      type: "object",
      description: `Finds.\nThe arguments must also match ${JSON.stringify({ oneOf: options })}`,
      properties: { id: { type: "string" }, name: { type: "string" } },
    });
    expect(changes).toEqual(["oneOf at the root became words"]);
  });

  test("a root without a type, or with another one, is an object", () => {
    expect(fitRoot({})).toMatchObject({
      schema: { type: "object", properties: {} },
      changes: [expect.stringContaining("type at the root")],
    });
    expect(fitRoot({ type: ["object", "null"] }).schema).toMatchObject({ type: "object" });
  });

  test("the given schema itself is not changed", () => {
    const schema = { type: "object", properties: { list: { type: "array" } }, anyOf: [{}] };
    const before = JSON.stringify(schema);
    fitRoot(schema);
    expect(JSON.stringify(schema)).toBe(before);
  });
});

describe("for a server that knows only OpenAPI's schemas", () => {
  const cases: [string, object, object][] = [
    ["types are in capitals and null is a flag", { type: ["string", "null"] }, { type: "STRING", nullable: true }],
    [
      "several types are alternatives",
      { type: ["string", "number"] },
      { anyOf: [{ type: "STRING" }, { type: "NUMBER" }] },
    ],
    [
      "an alternative with null is nullable",
      { anyOf: [{ type: "integer", minimum: 1 }, { type: "null" }] },
      { type: "INTEGER", minimum: 1, nullable: true },
    ],
    ["a constant is a list of one", { const: "x" }, { type: "STRING", format: "enum", enum: ["x"] }],
    [
      "what cannot be listed is said",
      { type: "integer", enum: [1, 2] },
      { type: "INTEGER", description: 'Must also match {"enum":[1,2]}' },
    ],
    [
      "unknown words are said",
      { type: "string", description: "A.", not: { const: "x" } },
      { type: "STRING", description: 'A.\nMust also match {"not":{"const":"x"}}' },
    ],
    [
      "references are resolved",
      { type: "object", properties: { p: { $ref: "#/$defs/P" } }, $defs: { P: { type: "string" } } },
      { type: "OBJECT", properties: { p: { type: "STRING" } } },
    ],
    [
      "allOf is merged",
      { allOf: [{ type: "object" }, { properties: { a: { type: "string" } } }] },
      { type: "OBJECT", properties: { a: { type: "STRING" } } },
    ],
    ["an array has items", { type: "array" }, { type: "ARRAY", items: { type: "STRING" } }],
  ];
  for (const [what, schema, expected] of cases) test(what, () => expect(toOpenApi(schema)).toEqual(expected));

  test("a schema that contains itself ends", () => {
    const tree = { type: "object", properties: { child: { $ref: "#/$defs/T" } } };
    expect(JSON.stringify(toOpenApi({ ...tree, $defs: { T: tree } }))).toContain("nested further");
  });
});

test("Google gets JSON Schema first, and OpenAPI's once it has refused that", async () => {
  const refuses = {
    status: 400,
    body: JSON.stringify({
      error: { code: 400, message: 'Unknown name "parametersJsonSchema" at tools[0]', status: "INVALID_ARGUMENT" },
    }),
  };
  await using server = await wireServer([refuses, { body: 'data: {"candidates":[{"finishReason":"STOP"}]}\n\n' }]);
  const model = await open("google/m", server.url);
  const tools = [
    { name: "f", origin: "s/f", description: "F", inputSchema: plain },
    { name: "g", origin: "s/g", description: "G", inputSchema: { type: "object", properties: {} } },
  ];
  const { error } = await collect(model.stream({ ...question, tools }, new AbortController().signal));
  expect(error).toBeUndefined();
  const [first, second] = server.requests.map(({ body }) => body.tools[0].functionDeclarations);
  expect(first).toEqual([
    { name: "f", description: "F", parametersJsonSchema: plain },
    { name: "g", description: "G" },
  ]);
  expect(second[0].parameters).toMatchObject({ type: "OBJECT", properties: { b: { type: "STRING", nullable: true } } });
});

test("what was changed in a schema is told once, not with every turn", async () => {
  await using server = await wireServer(() => ({
    body: 'data: {"choices":[{"delta":{},"finish_reason":"stop"}]}\n\n',
  }));
  const model = await open("openai-chat/m", server.url);
  const tools = [
    {
      name: "f",
      origin: "s/f",
      description: "",
      inputSchema: { type: "object", properties: { l: { type: "array" } } },
    },
  ];
  const debug = async () =>
    (await collect(model.stream({ ...question, tools }, new AbortController().signal))).events.filter(
      ({ type }) => type === "debug",
    );
  expect(await debug()).toEqual([
    { type: "debug", message: "schema of s/f for openai-chat/m: items added at /properties/l" },
  ]);
  expect(await debug()).toEqual([]);
});
