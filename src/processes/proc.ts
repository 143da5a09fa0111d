// What /proc says of the processes on this machine. Where there is no /proc (macOS, Windows) the list is empty.

import { readdirSync, readFileSync } from "node:fs";
import { systemCode } from "../errors.ts";

export type Process = { pid: number; isZombie: boolean; group: number; startTime: string };

export function listProcesses(): Process[] {
  return readPids().flatMap((pid) => readProcess(pid) ?? []);
}

export function readProcess(pid: number): Process | undefined {
  const file = read(`/proc/${pid}/stat`);
  if (typeof file === "string") return undefined;
  // "pid (name) state ppid pgrp …": the name may hold spaces and parentheses, so count from its end.
  const fields = file.text.slice(file.text.lastIndexOf(")") + 2).split(" ");
  return {
    pid,
    isZombie: fields[0] === "Z" || fields[0] === "X",
    group: Number(fields[2]),
    startTime: fields[19] ?? "",
  };
}

/** Whether a process carries this variable; "unseen" if it may not be read (another user's). */
export function carries(pid: number, variable: string): boolean | "unseen" {
  const file = read(`/proc/${pid}/environ`);
  if (typeof file === "string") return file === "forbidden" ? "unseen" : false;
  return `\0${file.text}`.includes(`\0${variable}\0`);
}

function readPids(): number[] {
  try {
    return readdirSync("/proc").map(Number).filter(Number.isInteger);
  } catch (error) {
    if (systemCode(error) === "ENOENT") return [];
    throw error;
  }
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
