// What all benches share: interleaved rounds, medians, and a table of ratios. A figure is worth something only beside
// another one of the same run on the same machine.

import { mkdirSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { compile } from "../../build/binary.ts";
import { root } from "../support/omega.ts";

export const omegaBinary = resolve(root, "dist/omega");

/** A source file compiled with omega's own flags. */
export function compiled(name: string, source: string | { file: string }): string {
  const folder = resolve(root, "dist/bench");
  mkdirSync(folder, { recursive: true });
  const entry = typeof source === "string" ? resolve(folder, `${name}.ts`) : source.file;
  if (typeof source === "string") writeFileSync(entry, source);
  const outfile = resolve(folder, name);
  if (compile(entry, outfile) !== 0) throw new Error(`${name} did not compile`);
  return outfile;
}

export type Sample = Record<string, number>;

/** Each contender once per round, in turn, so that a busy moment of the machine meets them all. The first round warms up. */
export async function interleave(
  rounds: number,
  contenders: Record<string, () => Promise<Sample>>,
): Promise<Record<string, Sample[]>> {
  const samples: Record<string, Sample[]> = Object.fromEntries(Object.keys(contenders).map((name) => [name, []]));
  for (let round = 0; round <= rounds; round++) {
    for (const [name, measure] of Object.entries(contenders)) {
      const sample = await measure();
      if (round > 0) samples[name]?.push(sample);
    }
  }
  return samples;
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

/** One line per measure: the median of each contender, and how it stands to the last one, the yardstick. */
export function printTable(title: string, samples: Record<string, Sample[]>): void {
  const names = Object.keys(samples);
  const yardstick = names.at(-1) ?? "";
  console.log(`\n${title} (medians of ${samples[yardstick]?.length} interleaved rounds)`);
  for (const measure of Object.keys(samples[yardstick]?.[0] ?? {})) {
    const medians = names.map((name) => median((samples[name] ?? []).map((sample) => sample[measure] ?? Number.NaN)));
    const base = medians.at(-1) ?? Number.NaN;
    const cells = names.map((name, index) => {
      const value = medians[index] ?? Number.NaN;
      return `${name} ${value.toFixed(2)}${name === yardstick ? "" : ` (${(value / base).toFixed(2)}×)`}`;
    });
    console.log(`  ${measure.padEnd(28)} ${cells.join("   ")}`);
  }
}
