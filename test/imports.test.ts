// The order of src/ (top to bottom): a file imports from its own folder and from anything below it, never from above.

import { expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";

const src = resolve(import.meta.dir, "../src");
const order = [
  "main.ts",
  "cli",
  "serve",
  "run",
  "report",
  "loop",
  "tools",
  "permissions",
  "servers",
  "providers",
  "cassette",
  "records",
  "manifest",
  "processes",
  "mcp",
];

const files = readdirSync(src, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".ts"));
const importLine = /(?:from|import)\s*\(?\s*"([^"]+)"/g;

/** Position of a file's part; files at the root of src/ (but main.ts) are words that all may use. */
function rank(file: string): number {
  const part = file.split("/")[0] ?? "";
  const position = order.indexOf(part);
  return position === -1 && !file.includes("/") ? order.length : position;
}

test("every folder of src/ has a place in the order", () => {
  expect(files.filter((file) => rank(file) === -1)).toEqual([]);
});

test("no file imports from a part above its own", () => {
  const upward: string[] = [];
  for (const file of files) {
    for (const [, target = ""] of readFileSync(join(src, file), "utf8").matchAll(importLine)) {
      if (!target.startsWith(".")) continue;
      const imported = relative(src, resolve(src, dirname(file), target));
      if (!imported.startsWith("..") && rank(imported) < rank(file)) upward.push(`${file} → ${imported}`);
    }
  }
  expect(upward).toEqual([]);
});

test("src/ uses node: built-ins, web standards and declared packages only", () => {
  const declared = Object.keys(JSON.parse(readFileSync(resolve(src, "../package.json"), "utf8")).dependencies);
  const foreign = files.flatMap((file) =>
    [...readFileSync(join(src, file), "utf8").matchAll(importLine)]
      .map(([, target = ""]) => target)
      .filter((target) => !target.startsWith(".") && !target.startsWith("node:"))
      .filter((target) => !declared.some((name) => target === name || target.startsWith(`${name}/`)))
      .map((target) => `${file} → ${target}`),
  );
  expect(foreign).toEqual([]);
  expect(files.filter((file) => /\bBun\./.test(readFileSync(join(src, file), "utf8")))).toEqual([]);
});
