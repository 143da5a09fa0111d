// audit/<date>.jsonl: a line before each MCP request that acts or reads, and one when it has ended, whatever the command. It
// says who did what and when, not the data: strings are cut, and no argument is too large to be told.

import { closeSync, rmSync } from "node:fs";
import { join } from "node:path";
import { OmegaError, systemCode } from "../errors.ts";
import { isObject } from "../mcp/json-rpc.ts";
import { auditFolder } from "./home.ts";
import { makeFolder, openToAppend, write, writeFile } from "./private-files.ts";
import type { Clean, Store } from "./store.ts";

const LONGEST_STRING = 50;
/** Names and reasons must be told apart. */
const LONGEST_NAME = 200;
/** As much of a string is cleaned before it is cut: a secret that begins in what is kept may go on beyond it. */
const LOOKED_AT = 64 * 1024;
const DEPTH = 6;
const BREADTH = 50;
const VALUES = 500;
const CUT = "…";
/** Bytes: enough for the lines of a call. */
const ROOM = 16 * 1024;

export type AuditEntry = { server: string; method: string; params: unknown };
export type AuditEnd = (how: "answered" | "tool-error" | "failed", reason?: string) => void;

export type Audit = {
  /** Before a request is sent. Throws an OmegaError only where the audit is required and cannot be written. */
  begin(entry: AuditEntry): AuditEnd;
  close(): void;
};

export type AuditOptions = { clean: Clean; store: Store; required: boolean; skill: string | null };

export function openAudit(run: string, { clean, store, required, skill }: AuditOptions): Audit {
  let file: { date: string; fd: number } | undefined;
  let count = 0;

  function fileOf(now: Date): number {
    const date = localDate(now);
    if (file?.date === date) return file.fd;
    close();
    makeFolder(auditFolder());
    file = { date, fd: openToAppend(join(auditFolder(), `${date}.jsonl`)) };
    return file.fd;
  }

  function close(): void {
    if (file) closeSync(file.fd);
    file = undefined;
  }

  function tell(line: object): void {
    const now = new Date();
    const text = `${JSON.stringify({ at: now.toISOString(), run, ...line })}\n`;
    guarded(() => write(fileOf(now), text));
  }

  function guarded(action: () => void): void {
    if (required) orThrow(action);
    else store.attempt(action);
  }

  // Before anything is started for which there would be no line. On a full disk a file can be opened, and not written.
  if (required) {
    orThrow(() => {
      fileOf(new Date());
      findRoom(join(auditFolder(), `.room.${process.pid}`));
    });
  }

  return {
    begin({ server, method, params }) {
      const started = performance.now();
      const short = (text: string) => cut(text, LONGEST_NAME, clean);
      const name = short(nameIn(params));
      const about = { skill: skill && short(skill), id: ++count, server: short(server), method, name };
      const args = isObject(params) ? params["arguments"] : undefined;
      tell({ phase: "begin", ...about, arguments: excerpt(args, clean) });
      return (how, reason) => {
        const ms = Math.round(performance.now() - started);
        tell({ phase: "end", ...about, ms, how, ...(reason !== undefined && { reason: short(reason) }) });
      };
    },
    close,
  };
}

function findRoom(file: string): void {
  try {
    writeFile(file, " ".repeat(ROOM));
  } finally {
    rmSync(file, { force: true });
  }
}

function orThrow(action: () => void): void {
  try {
    action();
  } catch (error) {
    const code = systemCode(error);
    if (code === undefined) throw error;
    throw new OmegaError("STORAGE_AUDIT", `the audit cannot be written to ${auditFolder()} (${code})`, {
      hint: "the skill says `audit: required`: free space there, or give OMEGA_HOME a writable folder",
      cause: error,
    });
  }
}

function nameIn(params: unknown): string {
  const { name, uri } = isObject(params) ? params : {};
  if (typeof name === "string") return name;
  return typeof uri === "string" ? uri : "";
}

/** A copy of no more than a person would read. */
function excerpt(value: unknown, clean: Clean): unknown {
  let left = VALUES;
  const short = (text: string) => cut(text, LONGEST_STRING, clean);

  function copy(value: unknown, depth: number): unknown {
    if (--left < 0) return CUT;
    if (typeof value === "string") return short(value);
    if (typeof value === "number") return cleanNumber(value, clean);
    if (typeof value !== "object" || value === null) return value ?? null;
    if (depth === DEPTH) return CUT;
    return Array.isArray(value) ? copyItems(value, depth) : copyFields(value, depth);
  }

  function copyItems(items: readonly unknown[], depth: number): unknown[] {
    const copies = items.slice(0, BREADTH).map((item) => copy(item, depth + 1));
    return items.length > BREADTH ? [...copies, CUT] : copies;
  }

  function copyFields(fields: object, depth: number): object {
    const entries = Object.entries(fields);
    const copies = entries
      .slice(0, BREADTH)
      .map(([key, item]): [string, unknown] => [short(key), copy(item, depth + 1)]);
    return Object.fromEntries(entries.length > BREADTH ? [...copies, [CUT, CUT]] : copies);
  }

  return copy(value, 0);
}

function cut(text: string, longest: number, clean: Clean): string {
  const safe = clean(text.slice(0, LOOKED_AT));
  return safe.length <= longest && text.length <= LOOKED_AT ? safe : `${safe.slice(0, longest)}${CUT}`.toWellFormed();
}

/** A secret may be a number, and where a model repeats it, it is no string any more. */
function cleanNumber(value: number, clean: Clean): number | string {
  const text = String(value);
  const safe = clean(text);
  return safe === text ? value : safe;
}

function localDate(now: Date): string {
  const part = (value: number) => String(value).padStart(2, "0");
  return `${now.getFullYear()}-${part(now.getMonth() + 1)}-${part(now.getDate())}`;
}
