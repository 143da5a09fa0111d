import { closeSync, existsSync } from "node:fs";
import { dirname } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { makeFolder, openToAppend } from "./private-files.ts";

/** SQLite gives its other files the mode of this one. Throws what the file system or SQLite says. */
export async function openDatabase(file: string): Promise<DatabaseSync> {
  const { DatabaseSync } = await import("node:sqlite");
  // Only where there is none: to close any descriptor of a file takes away the locks that this process has on it.
  if (!existsSync(file)) {
    makeFolder(dirname(file));
    closeSync(openToAppend(file));
  }
  return new DatabaseSync(file);
}
