// Which servers turned out to be modern, so that the next start asks them in their own era first. Only a hint: a wrong one
// costs a second start, a missing one a round trip, and where nothing can be written omega goes without.

import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { systemCode } from "../errors.ts";
import type { Server } from "../manifest/skill.ts";
import { isObject } from "../mcp/json-rpc.ts";

const MAX_REMEMBERED = 500;
const MAX_BYTES = 1_000_000;

export function isKnownAsModern(server: Server): boolean {
  return read().includes(keyOf(server));
}

export function remember(server: Server, isModern: boolean): void {
  const known = read();
  const key = keyOf(server);
  if (known.includes(key) === isModern) return;
  const others = known.filter((other) => other !== key);
  write(isModern ? [...others, key].slice(-MAX_REMEMBERED) : others);
}

/** Names of variables, not their values: those are secrets, and change nothing here. */
function keyOf({ command, args, cwd, env }: Server): string {
  const configuration = JSON.stringify([command, args, cwd, Object.keys(env).sort()]);
  return createHash("sha256").update(configuration).digest("hex").slice(0, 32);
}

function folder(): string | undefined {
  const { OMEGA_HOME, XDG_STATE_HOME, HOME } = process.env;
  if (OMEGA_HOME) return OMEGA_HOME;
  if (XDG_STATE_HOME) return join(XDG_STATE_HOME, "omega");
  return HOME ? join(HOME, ".local/state/omega") : undefined;
}

function read(): string[] {
  const home = folder();
  if (home === undefined) return [];
  try {
    const text = readFileSync(join(home, "eras.json"), "utf8");
    const stored: unknown = text.length > MAX_BYTES ? undefined : JSON.parse(text);
    const modern = isObject(stored) ? stored["modern"] : undefined;
    return Array.isArray(modern) ? modern.filter((key) => typeof key === "string") : [];
  } catch (error) {
    if (error instanceof SyntaxError || systemCode(error) !== undefined) return [];
    throw error;
  }
}

function write(modern: readonly string[]): void {
  const home = folder();
  if (home === undefined) return;
  const file = join(home, "eras.json");
  const fresh = `${file}.${process.pid}`;
  try {
    mkdirSync(home, { recursive: true, mode: 0o700 });
    writeFileSync(fresh, JSON.stringify({ modern }), { mode: 0o600 });
    renameSync(fresh, file);
  } catch (error) {
    if (systemCode(error) === undefined) throw error;
  }
}
