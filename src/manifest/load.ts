// A path → a checked Skill. All that is wrong with a manifest is told at once, each with file, line and column.

import { readFile, stat } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import * as v from "valibot";
import { type Document, LineCounter, parseDocument } from "yaml";
import { OmegaError, systemCode } from "../errors.ts";
import { didYouMean } from "../nearest.ts";
import { Manifest, notSupportedYet, type Skill } from "./skill.ts";

const MAX_BYTES = 1_000_000;
const fileNames = ["skill.yaml", "skill.yml", "skill.json"];

export async function loadSkill(path: string): Promise<Skill> {
  const file = await findManifest(path);
  const manifest = parseManifest(await readManifest(file), file);
  const dir = dirname(resolve(file));
  return {
    ...manifest,
    name: manifest.name ?? defaultName(file),
    servers: Object.entries(manifest.servers).map(([name, server]) => ({ ...server, name })),
    dir,
  };
}

async function findManifest(path: string): Promise<string> {
  const found = await stat(path).catch((error: unknown) => {
    if (systemCode(error) === "ENOENT") throw invalid(`no such skill: ${path}`, "give a manifest or its folder");
    throw invalid(`cannot read ${path} (${systemCode(error)})`);
  });
  if (!found.isDirectory()) return path;
  for (const name of fileNames) {
    const file = join(path, name);
    if (await stat(file).catch(() => undefined)) return file;
  }
  throw invalid(`no manifest in ${path}`, `a skill's folder holds one of ${fileNames.join(", ")}`);
}

async function readManifest(file: string): Promise<string> {
  const bytes = await readFile(file).catch((error: unknown) => {
    throw invalid(`cannot read ${file} (${systemCode(error)})`);
  });
  if (bytes.length > MAX_BYTES) throw invalid(`${file} is larger than ${MAX_BYTES} bytes`);
  return bytes.toString("utf8");
}

export function parseManifest(source: string, file: string): Manifest {
  const lines = new LineCounter();
  const document = parseDocument(source, { lineCounter: lines, prettyErrors: false });
  const place = (offset: number) => {
    const { line, col } = lines.linePos(offset);
    return `${file}:${line}:${col}`;
  };
  if (document.errors.length > 0) {
    throw invalid(document.errors.map((error) => `${place(error.pos[0])}: ${error.message}`).join("\n"));
  }
  const result = v.safeParse(Manifest, document.toJS({ maxAliasCount: 100 }));
  if (result.success) return result.output;
  const messages = result.issues.map((issue) => `${place(offsetOf(document, issue))}: ${explain(issue)}`);
  throw invalid(messages.join("\n"));
}

/** Where the faulty value stands; for an unknown or missing key, the key or the map that should hold it. */
function offsetOf(document: Document, issue: v.BaseIssue<unknown>): number {
  const path = issue.path?.map((item) => item.key) ?? [];
  for (let length = path.length; length >= 0; length--) {
    const parent: unknown = length === 0 ? document.contents : document.getIn(path.slice(0, length - 1), true);
    const offset = length === 0 ? rangeStart(parent) : keyOrValueStart(parent, path[length - 1], issue);
    if (offset !== undefined) return offset;
  }
  return 0;
}

function keyOrValueStart(parent: unknown, key: unknown, issue: v.BaseIssue<unknown>): number | undefined {
  if (typeof parent !== "object" || parent === null || !("items" in parent) || !Array.isArray(parent.items)) return;
  const item: unknown = parent.items.find((pair) => pair?.key?.value === key) ?? parent.items[Number(key)];
  if (typeof item !== "object" || item === null) return undefined;
  const { key: keyNode, value } = item as { key?: unknown; value?: unknown };
  return issue.type === "strict_object"
    ? rangeStart(keyNode)
    : (rangeStart(value) ?? rangeStart(keyNode) ?? rangeStart(item));
}

function rangeStart(node: unknown): number | undefined {
  if (typeof node !== "object" || node === null || !("range" in node) || !Array.isArray(node.range)) return undefined;
  return node.range[0];
}

function explain(issue: v.BaseIssue<unknown>): string {
  const path = (issue.path ?? []).map((item) => String(item.key));
  const at = path.join(".");
  if (issue.type !== "strict_object")
    return at === "" ? "expected a manifest: a map of fields" : `${at}: ${issue.message}`;
  const field = path.at(-1) ?? "";
  if (issue.expected !== "never") return `${at}: this field is required`;
  const parent = path
    .slice(0, -1)
    .join(".")
    .replace(/^servers\.[^.]+$/, "servers.*");
  if (notSupportedYet[parent]?.includes(field)) return `${at}: not supported by this version`;
  return `${at}: unknown field${didYouMean(field, knownFields(parent))}`;
}

function knownFields(parent: string): string[] {
  const schema = parent === "" ? Manifest : parent === "limits" ? Manifest.entries.limits.wrapped : undefined;
  const server = Manifest.entries.servers.wrapped.value;
  return Object.keys((parent === "servers.*" ? server : schema)?.entries ?? {});
}

function defaultName(file: string): string {
  const base = basename(file).replace(/\.[^.]+$/, "");
  const name = base === "skill" ? basename(dirname(resolve(file))) : base;
  return (
    name
      .toLowerCase()
      .replace(/[^a-z0-9-]+/g, "-")
      .slice(0, 64) || "skill"
  );
}

function invalid(message: string, hint?: string): OmegaError {
  return new OmegaError("MANIFEST_INVALID", message, hint === undefined ? {} : { hint });
}
