// Who is alive, told by /proc alone: the tests do not trust omega's own word for it.

import { readdirSync, readFileSync } from "node:fs";

/** Pids of living processes (zombies do not count) whose environment holds this text, for example a marker of the test's own. */
export function aliveWith(text: string): number[] {
  return readdirSync("/proc")
    .map(Number)
    .filter(
      (pid) =>
        Number.isInteger(pid) && pid !== process.pid && isAlive(pid) && read(`/proc/${pid}/environ`).includes(text),
    );
}

export function isAlive(pid: number): boolean {
  const stat = read(`/proc/${pid}/stat`);
  return stat !== "" && !/^[ZX]/.test(stat.slice(stat.lastIndexOf(")") + 2));
}

/** Waits for a condition, at most `ms`. */
export async function until(condition: () => boolean, ms = 5_000): Promise<boolean> {
  for (const end = performance.now() + ms; performance.now() < end; await Bun.sleep(10)) if (condition()) return true;
  return condition();
}

function read(path: string): string {
  try {
    return readFileSync(path, "latin1");
  } catch {
    return "";
  }
}

/** Watches a process until it ends; gives back the most memory that it ever held, in MB. */
export function peakMemory(pid: number): () => number {
  let peak = 0;
  const timer = setInterval(() => {
    const kilobytes = Number(/^VmHWM:\s+(\d+)/m.exec(read(`/proc/${pid}/status`))?.[1] ?? 0);
    peak = Math.max(peak, Math.round(kilobytes / 1000));
  }, 20);
  return () => {
    clearInterval(timer);
    return peak;
  };
}
