import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import Ajv from "ajv/dist/2020";
import { parse } from "yaml";
import { manifestReference } from "../../build/manifest-reference.ts";
import { manifestJsonSchema } from "../../src/manifest/json-schema.ts";
import { checkSkill } from "../../src/manifest/load.ts";
import { root } from "../support/omega.ts";
import { temporaryFolder } from "../support/temporary.ts";

const reference = readFileSync(resolve(root, "docs/manifest.md"), "utf8");
const examples = [...reference.matchAll(/```yaml\n(.*?)```/gs)].map(([, text = ""]) => text);

test("docs/manifest.md is what the schema says today (bun build/reference.ts writes it)", () => {
  expect(reference).toBe(manifestReference());
});

test("the JSON Schema holds against its meta-schema and refuses what omega refuses", () => {
  const ajv = new Ajv({ strict: true, allowUnionTypes: true });
  const schema = manifestJsonSchema();
  expect(ajv.validateSchema(schema)).toBe(true);
  const validate = ajv.compile(schema);
  expect(validate({ description: "x" })).toBe(true);
  expect(validate({ descripton: "x" })).toBe(false);
  expect(validate({ description: "x", limits: { time: "30" } })).toBe(false);
  expect(validate({ description: "x", servers: { a: { command: "x", url: "y" } } })).toBe(false);
  expect(validate({ description: "x", servers: { a__b: { command: "x" } } })).toBe(false);
});

test("every example in the docs is valid, for the JSON Schema and for omega", async () => {
  const validate = new Ajv({ strict: true, allowUnionTypes: true }).compile(manifestJsonSchema());
  expect(examples.length).toBeGreaterThanOrEqual(2);
  for (const example of examples) {
    expect(validate(parse(example)), JSON.stringify(validate.errors)).toBe(true);
    using folder = temporaryFolder({ "skill.yaml": example });
    expect((await checkSkill(folder.path)).manifest.description).not.toBe("");
  }
});
