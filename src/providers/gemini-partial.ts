// Arguments that come in pieces, each with the path of its place: `{jsonPath: "$.trip.stops[0].city", stringValue: "Bos"}`.
// Pieces of one string follow each other and are joined.

import { type Fields, fields, text } from "./loose.ts";

const MAX_INDEX = 10_000;

export function assemble(pieces: readonly unknown[]): Fields {
  const root: Fields = {};
  for (const piece of pieces.map(fields)) put(root, steps(text(piece["jsonPath"])), piece);
  return root;
}

/** `$.a[0]['b c']` → "a", 0, "b c". */
function steps(path: string): (string | number)[] {
  const found = path.matchAll(/\.([^.[\]]+)|\[(\d+)\]|\[['"](.*?)['"]\]/g);
  return [...found].map(([, name, index, quoted]) => (index === undefined ? (name ?? quoted ?? "") : Number(index)));
}

function put(root: Fields, path: readonly (string | number)[], piece: Fields): void {
  let place: object = root;
  for (const [depth, step] of path.entries()) {
    if (typeof step === "number" && step > MAX_INDEX) return;
    const known: unknown = Object.hasOwn(place, step) ? Reflect.get(place, step) : undefined;
    if (depth === path.length - 1) define(place, step, pieceValue(piece, known));
    else if (typeof known === "object" && known !== null) place = known;
    else {
      const next = typeof path[depth + 1] === "number" ? [] : {};
      define(place, step, next);
      place = next;
    }
  }
}

/** Not an assignment: a name such as `__proto__` is a name like any other. */
function define(place: object, step: string | number, value: unknown): void {
  Object.defineProperty(place, step, { value, writable: true, enumerable: true, configurable: true });
}

function pieceValue(piece: Fields, known: unknown): unknown {
  if ("stringValue" in piece) return text(known) + text(piece["stringValue"]);
  if ("numberValue" in piece) return piece["numberValue"];
  if ("boolValue" in piece) return piece["boolValue"];
  return "nullValue" in piece ? null : known;
}
