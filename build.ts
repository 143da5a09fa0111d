// Builds dist/omega. The two --no-compile-autoload flags are a matter of security: without them a bunfig.toml or a .env in
// the current folder would act inside omega.

import { spawnSync } from "node:child_process";

const commit = spawnSync("git", ["rev-parse", "--short=12", "HEAD"], { encoding: "utf8" }).stdout?.trim() || "unknown";
const target = process.argv[2];
const build = { commit, target: target?.replace(/^bun-/, "") ?? `${process.platform}-${process.arch}` };

const { status } = spawnSync(
  process.execPath,
  [
    "build",
    "--compile",
    "--bytecode",
    "--minify",
    "--sourcemap",
    "--format=esm",
    "--no-compile-autoload-dotenv",
    "--no-compile-autoload-bunfig",
    `--define=OMEGA_BUILD=${JSON.stringify(build)}`,
    ...(target ? [`--target=${target}`] : []),
    "src/main.ts",
    `--outfile=dist/omega${target ? `-${build.target}` : ""}`,
  ],
  { stdio: "inherit" },
);
process.exitCode = status ?? 1;
