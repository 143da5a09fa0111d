// docs/manifest.md: the rules by hand, the fields from the JSON Schema, so that it cannot say what omega does not do.

import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { isValues, type Values } from "../src/manifest/document.ts";
import { manifestJsonSchema } from "../src/manifest/json-schema.ts";
import { notSupported } from "../src/manifest/not-supported.ts";

const intro = readFileSync(resolve(import.meta.dirname, "manifest-intro.md"), "utf8");

export function manifestReference(): string {
  const rows = [...fieldsOf(manifestJsonSchema(), "")];
  return `${intro}| field | value | default | meaning |\n| --- | --- | --- | --- |\n${rows.join("\n")}\n`;
}

function* fieldsOf(schema: Values, path: string): Generator<string> {
  const required = Array.isArray(schema["required"]) ? schema["required"] : [];
  for (const [name, field] of Object.entries(isValues(schema["properties"]) ? schema["properties"] : {})) {
    if (!isValues(field)) continue;
    const at = path === "" ? name : `${path}.${name}`;
    yield row(at, field, required.includes(name));
    yield* within(field, at);
  }
}

/** The fields inside a field: of a map, of a map by name, of a list's items, of each of several shapes. */
function* within(field: Values, at: string): Generator<string> {
  const byName = field["additionalProperties"];
  const inner = [
    ...fieldsOf(field, at),
    ...(isValues(byName) ? within(byName, `${at}.<name>`) : []),
    ...(isValues(field["items"]) ? within(field["items"], `${at}[]`) : []),
    ...shapesOf(field).flatMap((shape) => [...within(shape, at)]),
  ];
  // Shapes share fields (all servers have `tools`); each is told once.
  yield* new Set(inner);
}

function row(at: string, field: Values, isRequired: boolean): string {
  const pattern = at.replace(/^servers\.<name>\./, "servers.*.");
  const mark = notSupported.some(
    (name) => pattern === name || pattern.startsWith(`${name}.`) || pattern.startsWith(`${name}[`),
  )
    ? " ✗"
    : "";
  const value = field["default"];
  const preset = isRequired
    ? "required"
    : value === undefined
      ? ""
      : code(typeof value === "string" ? value : JSON.stringify(value));
  return `| ${code(at)}${mark} | ${cell(kindOf(field))} | ${cell(preset)} | ${cell(String(field["description"] ?? ""))} |`;
}

function kindOf(field: Values): string {
  const { enum: words, const: only, type, pattern } = field;
  if (Array.isArray(words)) return words.map((word) => code(String(word))).join(" · ");
  if (only !== undefined) return code(String(only));
  const shapes = shapesOf(field);
  if (shapes.length > 0) return [...new Set(shapes.map(kindOf))].join(" or ");
  if (typeof pattern === "string" && pattern.includes("ms|s|m|h")) return "duration";
  if (typeof pattern === "string" && pattern.includes("KB|MB")) return "size";
  return (
    { string: "text", object: "map", array: "list", integer: "whole number", boolean: "true or false" }[String(type)] ??
    String(type ?? "anything")
  );
}

function shapesOf(field: Values): Values[] {
  return Array.isArray(field["anyOf"]) ? field["anyOf"].filter(isValues) : [];
}

const code = (text: string) => `\`${text}\``;
const cell = (text: string) => text.replaceAll("|", "\\|");
