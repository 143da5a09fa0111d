// Tool schemas fitted to what an API takes. What has to go from the schema is said in words in its description, so that the
// model still knows it, and every change is told. Arguments are checked against the server's own schema all the same.

import { type Fields, fields, list, text } from "./loose.ts";

export type Fitted = { schema: object; changes: string[] };

const alternatives = ["anyOf", "oneOf", "allOf"] as const;

/** Most APIs want an object at the root, without alternatives there, and every array with its items. */
export function fitRoot(schema: object): Fitted {
  const changes: string[] = [];
  const root = completed({ ...schema }, "", changes);
  const chosen = alternatives.flatMap((word) => list(root[word]).map(fields));
  if (chosen.length > 0) {
    const rules = Object.fromEntries(alternatives.filter((word) => word in root).map((word) => [word, root[word]]));
    for (const word of alternatives) delete root[word];
    root["properties"] = Object.assign({}, ...chosen.map((each) => fields(each["properties"])), root["properties"]);
    root["description"] = [text(root["description"]), `The arguments must also match ${JSON.stringify(rules)}`]
      .filter(Boolean)
      .join("\n");
    changes.push(`${Object.keys(rules).join(", ")} at the root became words`);
  }
  if (root["type"] !== "object") {
    changes.push(`type at the root: ${JSON.stringify(root["type"])} became "object"`);
    root["type"] = "object";
  }
  root["properties"] ??= {};
  return { schema: root, changes };
}

/** The same schema, with `items` where an array has none. */
function completed(schema: Fields, path: string, changes: string[]): Fields {
  const copy: Fields = {};
  for (const [key, value] of Object.entries(schema))
    copy[key] = eachSchema(key, value, (inner, step) => completed(inner, `${path}/${step}`, changes));
  if (copy["type"] === "array" && copy["items"] === undefined && copy["prefixItems"] === undefined) {
    copy["items"] = {};
    changes.push(`items added at ${path || "/"}`);
  }
  return copy;
}

const single = new Set(["items", "additionalProperties", "not", "contains", "if", "then", "else", "propertyNames"]);
const many = new Set(["anyOf", "oneOf", "allOf", "prefixItems"]);
const named = new Set(["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"]);

/** Applies `change` to the schemas that stand under one key of a schema; anything else stays as it is. */
function eachSchema(key: string, value: unknown, change: (schema: Fields, step: string) => Fields): unknown {
  const one = (inner: unknown, step: string) => (isSchema(inner) ? change(inner, step) : inner);
  if (single.has(key)) return one(value, key);
  if (many.has(key) && Array.isArray(value)) return value.map((inner, index) => one(inner, `${key}/${index}`));
  if (named.has(key) && isSchema(value)) {
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, one(inner, `${key}/${name}`)]));
  }
  return value;
}

const isSchema = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The keys of OpenAPI 3.0's schema that Gemini's older `parameters` field knows. */
const openApiKeys = new Set(
  "title description format nullable default minItems maxItems minProperties maxProperties minLength maxLength minimum maximum pattern required".split(
    " ",
  ),
);
const MAX_DEPTH = 16;

/** JSON Schema → the OpenAPI 3.0 subset, for servers that refuse the first. */
export function toOpenApi(schema: object): object {
  const defs = { ...fields(fields(schema)["definitions"]), ...fields(fields(schema)["$defs"]) };
  return convert(fields(schema), defs, 0);
}

function convert(given: Fields, defs: Fields, depth: number): Fields {
  if (depth > MAX_DEPTH) return { type: "OBJECT", description: "nested further, in the same way" };
  const schema = resolved(given, defs);
  const inner = (value: unknown) => convert(fields(value), defs, depth + 1);
  const result: Fields = {};
  const lost: Fields = {};
  for (const [key, value] of Object.entries(schema)) {
    if (openApiKeys.has(key)) result[key] = value;
    else if (key === "properties") result[key] = mapValues(fields(value), inner);
    else if (key === "items") result[key] = inner(value);
    else if (key === "anyOf" || key === "oneOf") Object.assign(result, union(list(value), inner));
    else if (key === "type") Object.assign(result, typeOf(value, inner));
    else if (key === "enum" || key === "const")
      Object.assign(result, enumeration(key === "enum" ? list(value) : [value], lost));
    else if (!["$schema", "$id", "$defs", "definitions", "$ref", "examples"].includes(key)) lost[key] = value;
  }
  if (result["type"] === "ARRAY") result["items"] ??= { type: "STRING" };
  if (Object.keys(lost).length > 0) {
    result["description"] = [text(result["description"]), `Must also match ${JSON.stringify(lost)}`]
      .filter(Boolean)
      .join("\n");
  }
  return result;
}

function resolved(schema: Fields, defs: Fields): Fields {
  const name = /^#\/(?:\$defs|definitions)\/(.+)$/.exec(text(schema["$ref"]))?.[1];
  const target = name === undefined ? {} : fields(defs[name]);
  const merged = Object.assign(
    {},
    target,
    ...list(schema["allOf"]).map((part) => resolved(fields(part), defs)),
    schema,
  );
  delete merged["allOf"];
  return merged;
}

/** `["string", "null"]` is a nullable string. */
function typeOf(value: unknown, inner: (value: unknown) => Fields): Fields {
  const types = (Array.isArray(value) ? value : [value]).map(text).filter(Boolean);
  const real = types.filter((type) => type !== "null");
  const nullable = real.length < types.length && { nullable: true };
  if (real.length > 1) return { anyOf: real.map((type) => inner({ type })), ...nullable };
  return { type: (real[0] ?? "null").toUpperCase(), ...nullable };
}

function union(members: readonly unknown[], inner: (value: unknown) => Fields): Fields {
  const real = members.filter((member) => fields(member)["type"] !== "null");
  const nullable = real.length < members.length && { nullable: true };
  return real.length === 1 ? { ...inner(real[0]), ...nullable } : { anyOf: real.map(inner), ...nullable };
}

/** Only strings can be listed. */
function enumeration(values: readonly unknown[], lost: Fields): Fields {
  if (values.every((value) => typeof value === "string")) return { type: "STRING", format: "enum", enum: values };
  lost["enum"] = values;
  return {};
}

function mapValues(object: Fields, change: (value: unknown) => Fields): Fields {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, change(value)]));
}
