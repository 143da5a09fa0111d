// The journal: a file for each run that may have something to end or its end to tell, so that what lies here is alive or was
// killed. Its lines: `owner PID START BOOT TIME HOST`, then a `group PID START` for each child. They are only appended, and
// one without its line end is torn and does not count. START is the start time of /proc, BOOT and it are 0 where there is none.

import {
  accessSync,
  appendFileSync,
  constants,
  existsSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
} from "node:fs";
import { hostname, uptime } from "node:os";
import { join } from "node:path";
import { OmegaError, systemCode } from "../errors.ts";
import type { Journal } from "../processes/children.ts";
import { hasProc, isAlive, type ProcessId, startTimeOf } from "../processes/proc.ts";
import { omegaHome } from "./home.ts";
import { makeFolder, writeFile } from "./private-files.ts";

/** A file without an owner is being written just now, or its writer died at its first line, before it started anything. */
const UNWRITTEN_MS = 60_000;
const MAX_BYTES = 10_000_000;

type Owner = ProcessId & { boot: string; at: number; host: string };
export type Entry = { run: string; owner: Owner; groups: ProcessId[] };

/** Notes the run at once. Throws what the file system says. */
export function openJournal(run: string): Journal {
  const file = fileOf(run);
  const owner = `owner ${process.pid} ${startTimeOf(process.pid)} ${bootId()} ${Date.now()} ${hostId()}\n`;
  makeFolder(folder());
  try {
    writeFile(file, owner, "wx");
  } catch (error) {
    // On a full disk the file is there, and nothing in it.
    if (systemCode(error) !== "EEXIST") removeEntry(run);
    throw error;
  }
  return {
    note: (group) => appendFileSync(file, `group ${group.pid} ${group.startTime}\n`, { mode: 0o600 }),
    close: () => removeEntry(run),
  };
}

export function readEntry(run: string): Entry | undefined {
  const text = readFile(run);
  const [, pid, start, boot = "", at, host = ""] = /^owner (\d+) (\d+) (\S+) (\d+) (.+)\n/.exec(text) ?? [];
  if (pid === undefined) return undefined;
  const groups = [...text.matchAll(/^group (\d+) (\d+)\n/gm)];
  return {
    run,
    owner: { pid: Number(pid), startTime: Number(start), boot, at: Number(at), host },
    groups: groups.map(([, group, groupStart]) => ({ pid: Number(group), startTime: Number(groupStart) })),
  };
}

export function removeEntry(run: string): void {
  rmSync(fileOf(run), { force: true });
}

/** Alive, or not yet swept. */
export const hasEntry = (run: string) => existsSync(fileOf(run));

/** Runs of this machine whose omega is dead. Those of another host or container (a shared home) are not ours to judge. */
export function deadRuns(): Entry[] {
  return listRuns().flatMap((run) => {
    // What none of ours has written, or not for us to read, is not ours to judge.
    if (!isReadable(run)) return [];
    const entry = readEntry(run);
    if (!entry) forgetUnwritten(run);
    else if (!isOurHost(entry.owner)) return [];
    else if (isOfEarlierBoot(entry) || !isAlive(entry.owner)) return [entry];
    return [];
  });
}

export const isOurHost = ({ host }: Owner) => host === hostId();

/** Then nothing of it can be alive, and its numbers mean others by now. */
export function isOfEarlierBoot({ owner: { boot, at } }: Entry): boolean {
  return hasProc() ? boot !== bootId() : at < Date.now() - uptime() * 1000;
}

const bootId = () => fromProc(() => readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim());
/** A container shares the boot, and often the name, of its host, but its pids are others. */
const hostId = () => `${hostname()} ${fromProc(() => readlinkSync("/proc/self/ns/pid"))}`;

function fromProc(read: () => string): string {
  try {
    return read();
  } catch (error) {
    if (systemCode(error) === undefined) throw error;
    return "0";
  }
}

const folder = () => join(omegaHome(), "journal");
const fileOf = (run: string) => join(folder(), run);

function listRuns(): string[] {
  try {
    return readdirSync(folder());
  } catch (error) {
    if (systemCode(error) === "ENOENT") return [];
    throw new OmegaError("USAGE", `cannot read the journal: ${error}`, { hint: "check OMEGA_HOME", cause: error });
  }
}

/** To read a folder fails, to read a pipe waits for ever. */
function isReadable(run: string): boolean {
  try {
    accessSync(fileOf(run), constants.R_OK);
    const file = statSync(fileOf(run));
    return file.isFile() && file.size <= MAX_BYTES;
  } catch (error) {
    if (systemCode(error) === undefined) throw error;
    return false;
  }
}

function readFile(run: string): string {
  // Another omega may remove a file while we look.
  if (!existsSync(fileOf(run))) return "";
  if (!isReadable(run)) throw new OmegaError("USAGE", `${fileOf(run)} is no entry of the journal`);
  return readFileSync(fileOf(run), "utf8");
}

function forgetUnwritten(run: string): void {
  const written = statSync(fileOf(run), { throwIfNoEntry: false })?.mtimeMs;
  if (written !== undefined && Date.now() - written > UNWRITTEN_MS) removeEntry(run);
}
