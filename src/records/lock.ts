// At most one run of a manifest at a time: an exclusive transaction on a database of its own. The kernel ends it with the
// process, however that dies, and no child inherits it.

import { realpathSync } from "node:fs";
import { join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { openDatabase } from "./database.ts";
import { omegaHome } from "./home.ts";

const SQLITE_BUSY = 5;
/** Two that try at the same moment can stand in each other's way, and neither gets it. */
const TRIES = 4;
const PAUSE_MS = 20;

export type Lock = Disposable;

/** undefined: another holds it, in this process or in any other. Throws what the file system or SQLite says. */
export async function tryLock(file: string): Promise<Lock | undefined> {
  const db = await openDatabase(await lockOf(file));
  try {
    if (await isTaken(db)) return { [Symbol.dispose]: () => db.close() };
  } catch (error) {
    db.close();
    throw error;
  }
  db.close();
  return undefined;
}

async function lockOf(file: string): Promise<string> {
  // The global crypto: to load node:crypto takes milliseconds.
  const hash = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(realpathSync(file)));
  return join(omegaHome(), "locks", `${Buffer.from(hash).toString("hex").slice(0, 32)}.db`);
}

async function isTaken(db: DatabaseSync): Promise<boolean> {
  db.exec("PRAGMA busy_timeout = 0");
  for (let attempt = 1; ; attempt++) {
    try {
      db.exec("BEGIN EXCLUSIVE");
      return true;
    } catch (error) {
      if (!isBusy(error)) throw error;
      if (attempt === TRIES) return false;
      await new Promise((resolve) => setTimeout(resolve, Math.random() * PAUSE_MS));
    }
  }
}

/** Deno gives no number, only the text. */
function isBusy(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if ("errcode" in error && typeof error.errcode === "number") return error.errcode === SQLITE_BUSY;
  return error.message.includes("database is locked");
}
