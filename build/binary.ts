// Builds dist/omega. The two --no-compile-autoload flags are a matter of security: without them a bunfig.toml or a .env in
// the current folder would act inside omega.

import { spawnSync } from "node:child_process";
import { readdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";

// Splitting is what makes a lazy import lazy: in one bundle every `node:` import of every command would load at start.
const flags = [
  "--compile",
  "--bytecode",
  "--minify",
  "--sourcemap",
  "--format=esm",
  "--splitting",
  "--no-compile-autoload-dotenv",
  "--no-compile-autoload-bunfig",
  // A run waits more than it works: compiling later saves a quarter of its CPU time and its memory, and costs long loops little.
  "--compile-jit-policy=50",
];

/** One source file → one executable. The benches build what they compare with through here, with the same flags. */
export function compile(entry: string, outfile: string, more: readonly string[] = []): number {
  const argv = ["build", ...flags, ...more, entry, `--outfile=${outfile}`];
  const { status } = spawnSync(process.execPath, argv, { stdio: ["ignore", "ignore", "inherit"] });
  removeMaps(dirname(outfile));
  return status ?? 1;
}

/** The executable holds its source maps; the copies that bun leaves beside it only clutter. */
function removeMaps(folder: string): void {
  for (const name of readdirSync(folder)) if (name.endsWith(".map")) rmSync(join(folder, name));
}

function buildOmega(target: string | undefined): number {
  const commit = spawnSync("git", ["rev-parse", "--short=12", "HEAD"], { encoding: "utf8" }).stdout?.trim();
  const build = {
    commit: commit || "unknown",
    target: target?.replace(/^bun-/, "") ?? `${process.platform}-${process.arch}`,
  };
  const outfile = `dist/omega${target ? `-${build.target}` : ""}`;
  const define = `--define=OMEGA_BUILD=${JSON.stringify(build)}`;
  const status = compile("src/main.ts", outfile, target ? [define, `--target=${target}`] : [define]);
  if (status === 0) console.log(`built ${outfile}`);
  return status;
}

if (import.meta.main) process.exitCode = buildOmega(process.argv[2]);
