// Numbers as people read them.

export function count(number: number, one: string, many = `${one}s`): string {
  return `${number} ${number === 1 ? one : many}`;
}

/** `12 ms`, `1.2 s`, `2 m 05 s`, `1 h 02 m`. */
export function duration(ms: number): string {
  if (ms < 999.5) return `${Math.round(ms)} ms`;
  return ms < 59_950 ? `${(ms / 1_000).toFixed(1)} s` : elapsed(ms);
}

/** For a clock that runs: in whole seconds, so that it is calm to look at. */
export function elapsed(ms: number): string {
  const seconds = Math.floor(ms / 1_000);
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} m ${twoDigits(seconds % 60)} s`;
  return `${Math.floor(minutes / 60)} h ${twoDigits(minutes % 60)} m`;
}

const twoDigits = (number: number) => String(number).padStart(2, "0");

export function size(bytes: number): string {
  return bytes < 1_000 ? `${bytes} B` : scaled(bytes, ["KB", "MB", "GB"], " ");
}

/** `940`, `12.4k`, `1.2M`. */
export function short(number: number): string {
  return number < 1_000 ? String(number) : scaled(number, ["k", "M", "G"], "");
}

/** One decimal, unless the number is long enough without. */
function scaled(number: number, units: readonly string[], space: string): string {
  const power = Math.min(Math.floor(Math.log10(number * 1.0005) / 3), units.length);
  const shown = number / 1_000 ** power;
  return `${shown < 99.95 ? shown.toFixed(1) : Math.round(shown)}${space}${units[power - 1]}`;
}

export const dollars = (cost: number) => `$${cost.toFixed(4)}`;
