// The text of a manifest → its value, and where each part of it stands. JSON is YAML too.

import {
  type Document,
  isAlias,
  isMap,
  isNode,
  isScalar,
  isSeq,
  type Node,
  type Pair,
  parseDocument,
  visit,
  type YAMLMap,
} from "yaml";
import { invalid, mayHoldSecret, type Place, type Problem, type Source } from "./problem.ts";
import { explainSyntax } from "./syntax.ts";

/** Aliases may save typing; more than this is a bomb. */
const MAX_ALIASES = 100;

/** Brackets left open at one place. */
const MAX_DEPTH = 500;

export type Path = readonly PropertyKey[];
export type Values = Record<string, unknown>;

/** The fields of a manifest, from one file or merged from two. */
export type Fields = {
  values: Values;
  /** Where a field's value (or its key) stands; for one that is missing, the map that should hold it. */
  locate(path: Path, at?: "key" | "value"): Place;
};

export function parseFields(source: Source, end = source.text.length): Fields {
  const document = parseYaml(source, end);
  const offsetOf = locator(document);
  const locate: Fields["locate"] = (path, at = "value") => ({ source, offset: offsetOf(path, at) });
  const value = toValue(document, source);
  if (!isValues(value)) {
    throw invalid([{ ...locate([]), message: `expected a manifest, a map of fields such as "description: …"` }]);
  }
  return { values: value, locate };
}

/** The values of these fields are never shown; of an input, `env` is the name of a variable. */
export function isOfSecrets(path: Path): boolean {
  return path[0] !== "inputs" && path.some((key) => ["headers", "apiKey", "auth", "env"].includes(String(key)));
}

export function isValues(value: unknown): value is Values {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function parseYaml(source: Source, end: number): Document {
  const text = source.text.slice(0, end);
  // The parser takes time that grows with the square of the depth.
  if (depthOf(text) > MAX_DEPTH) throw invalid([{ source, offset: 0, message: "nested too deeply to be a manifest" }]);
  let document: Document;
  try {
    // The parser looks for duplicate keys in time that grows with the square of their number: duplicateKeys does it below.
    document = parseDocument(text, { prettyErrors: false, logLevel: "error", stringKeys: false, uniqueKeys: false });
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw invalid([{ source, offset: 0, message: "nested too deeply to be a manifest" }]);
  }
  const errors: Problem[] = document.errors.map((error) => {
    const place = { source, offset: error.pos[0] };
    // Made when it is shown: of a flood of errors few are.
    return { ...place, message: () => explainSyntax(error, text, mayHoldSecret(place)) };
  });
  const problems = [...errors, ...duplicateKeys(document, source)];
  if (problems.length > 0) throw invalid(firstOfEachLine(problems));
  return document;
}

function duplicateKeys(document: Document, source: Source): Problem[] {
  const problems: Problem[] = [];
  visit(document, {
    Map(_, map) {
      const seen = new Set<string>();
      for (const { key } of map.items) {
        if (!isScalar(key)) continue;
        const name = String(key.value);
        if (seen.has(name))
          problems.push({ source, offset: startOf(key) ?? 0, message: `${name} is there twice; keep one` });
        seen.add(name);
      }
    },
  });
  return problems;
}

function depthOf(text: string): number {
  let depth = 0;
  let deepest = 0;
  for (const [bracket] of text.matchAll(/[[\]{}]/g)) {
    depth = bracket === "[" || bracket === "{" ? depth + 1 : Math.max(0, depth - 1);
    deepest = Math.max(deepest, depth);
  }
  return deepest;
}

/** One slip leads to many complaints of a parser; the first of each line is the one that helps. */
function firstOfEachLine(problems: readonly Problem[]): Problem[] {
  const seen = new Set<number>();
  return problems.filter(({ source, offset }) => {
    const lineStart = source.text.lastIndexOf("\n", offset - 1);
    return !seen.has(lineStart) && seen.add(lineStart);
  });
}

function toValue(document: Document, source: Source): unknown {
  try {
    return document.toJS({ maxAliasCount: MAX_ALIASES });
  } catch (error) {
    if (!(error instanceof ReferenceError || error instanceof RangeError)) throw error;
    const lost = lostAliases(document, source);
    if (lost.length > 0) throw invalid(firstOfEachLine(lost));
    const message = `its aliases grow too large: more than ${MAX_ALIASES} copies`;
    throw invalid([{ source, offset: 0, message }]);
  }
}

function lostAliases(document: Document, source: Source): Problem[] {
  const problems: Problem[] = [];
  visit(document, {
    Alias(_, alias) {
      if (alias.resolve(document)) return;
      const place = { source, offset: alias.range?.[0] ?? 0 };
      const text = mayHoldSecret(place) ? "*…" : `*${alias.source}`;
      const message = `${text} points to an anchor that is not there; a text that begins with * must be quoted: "${text}"`;
      problems.push({ ...place, message });
    },
  });
  return problems;
}

function locator(document: Document): (path: Path, at: "key" | "value") => number {
  const pairsOf = new Map<YAMLMap, Map<string, Pair>>();
  return (path, at) => {
    let node: unknown = document.contents;
    let offset = startOf(node) ?? 0;
    for (const [depth, key] of path.entries()) {
      const step = child(resolved(node, document), key);
      if (!step) return offset;
      const isLast = depth === path.length - 1;
      offset = (isLast && at === "key" ? startOf(step.key) : startOf(step.value)) ?? startOf(step.key) ?? offset;
      node = step.value;
    }
    return offset;
  };

  function child(node: unknown, key: PropertyKey): { key: unknown; value: unknown } | undefined {
    if (isSeq(node)) return { key: undefined, value: node.items[Number(key)] };
    if (!isMap(node)) return undefined;
    const pairs = pairsOf.get(node) ?? pairsByName(node);
    pairsOf.set(node, pairs);
    return pairs.get(String(key));
  }
}

function pairsByName({ items }: YAMLMap): Map<string, Pair> {
  return new Map(items.flatMap((pair) => (isScalar(pair.key) ? [[String(pair.key.value), pair] as const] : [])));
}

function resolved(node: unknown, document: Document): unknown {
  return isAlias(node) ? node.resolve(document) : node;
}

/** An empty value has a range of its own after its key, where nothing is to be seen: the key stands for it. */
function startOf(node: unknown): number | undefined {
  if (!isNode(node) || isEmptyScalar(node)) return undefined;
  return node.range?.[0];
}

function isEmptyScalar(node: Node): boolean {
  return isScalar(node) && node.value === null && node.range?.[0] === node.range?.[1];
}
