// What /proc says of the processes on this machine. Where there is none (macOS, Windows) the lists are empty.

import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { systemCode } from "../errors.ts";

/** `startTime` counts from the boot: with it a pid names one process for ever, without it a number that is used again. */
export type ProcessId = { pid: number; startTime: number };
export type Process = ProcessId & { isZombie: boolean; group: number; session: number };

/** A /proc of another pid namespace would name other processes than `kill` does: as good as none. */
export function hasProc(): boolean {
  try {
    return readlinkSync("/proc/self") === String(process.pid);
  } catch (error) {
    if (systemCode(error) === undefined) throw error;
    return false;
  }
}

/** Whether we were started by nohup, or by another that wants us to outlive its terminal. */
export function ignoresHangup(): boolean {
  const file = read("/proc/self/status");
  const mask = typeof file === "string" ? undefined : /^SigIgn:\t.*([0-9a-f])$/m.exec(file.text)?.[1];
  return mask !== undefined && (Number.parseInt(mask, 16) & 1) === 1;
}

export function listPids(): number[] {
  return hasProc() ? readdirSync("/proc").map(Number).filter(Number.isInteger) : [];
}

export function readProcess(pid: number): Process | undefined {
  const file = read(`/proc/${pid}/stat`);
  if (typeof file === "string") return undefined;
  // "pid (name) state ppid pgrp session …": the name may hold spaces and parentheses, so count from its end.
  const fields = file.text.slice(file.text.lastIndexOf(")") + 2).split(" ");
  // A dead first thread with living others is a living process.
  const isZombie = (fields[0] === "Z" || fields[0] === "X") && Number(fields[17]) <= 1;
  return { pid, isZombie, group: Number(fields[2]), session: Number(fields[3]), startTime: Number(fields[19]) };
}

/** 0 where there is no /proc, or no such process. */
export function startTimeOf(pid: number): number {
  return hasProc() ? (readProcess(pid)?.startTime ?? 0) : 0;
}

/** Whether this very process is alive. Without /proc a pid is all there is to go by. */
export function isAlive({ pid, startTime }: ProcessId): boolean {
  if (!hasProc()) return exists(pid);
  const process = readProcess(pid);
  return process !== undefined && !process.isZombie && process.startTime === startTime;
}

/** For a process or, with a negative number, a group. One that we may not signal exists as well. */
export function exists(target: number): boolean {
  try {
    process.kill(target, 0);
    return true;
  } catch (error) {
    return systemCode(error) === "EPERM";
  }
}

/**
 * Whether a process carries this variable. "unseen": it may not be read (another user's). "empty": it has no environment,
 * or is in the middle of becoming another program.
 */
export function carries(pid: number, variable: string): boolean | "unseen" | "empty" {
  const file = read(`/proc/${pid}/environ`);
  if (typeof file === "string") return file === "forbidden" ? "unseen" : false;
  return file.text === "" ? "empty" : `\0${file.text}`.includes(`\0${variable}\0`);
}

function read(path: string): { text: string } | "gone" | "forbidden" {
  try {
    return { text: readFileSync(path, "latin1") };
  } catch (error) {
    const code = systemCode(error);
    if (code === "ENOENT" || code === "ESRCH") return "gone";
    if (code === "EACCES" || code === "EPERM") return "forbidden";
    throw error;
  }
}
