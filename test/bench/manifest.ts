// What loading and checking a 200-line manifest costs over `omega --version`: runs interleaved, medians. Goal: 15 ms.

import { spawnSync } from "node:child_process";
import { root } from "../support/omega.ts";
import { temporaryFolder } from "../support/temporary.ts";

const ROUNDS = 41;
const servers = Array.from(
  { length: 24 },
  (_, n) =>
    `  server-${n}:\n    command: node\n    args: [server.mjs, "{{ inputs.repo }}"]\n    env: { N: "${n}" }\n    tools:\n      - read_${n}\n      - "list_*"\n    timeout: 30s\n`,
);
const manifest = `description: a bench\ninputs:\n  repo: { default: . }\nservers:\n${servers.join("")}prompt: Work in {{ inputs.repo }}.\n`;
using folder = temporaryFolder({ "skill.yaml": manifest });

const commands = { version: ["--version"], validate: ["validate", folder.path], plan: ["plan", folder.path] };
const times: Record<string, number[]> = { version: [], validate: [], plan: [] };
for (let round = 0; round < ROUNDS; round++) {
  for (const [name, words] of Object.entries(commands)) {
    const start = performance.now();
    const { status } = spawnSync(`${root}/dist/omega`, words);
    if (status !== 0) throw new Error(`omega ${name} exited with ${status}`);
    times[name]?.push(performance.now() - start);
  }
}
const median = (name: string) => times[name]?.sort((a, b) => a - b)[Math.floor(ROUNDS / 2)] ?? Number.NaN;
console.log(`manifest of ${manifest.split("\n").length} lines, ${ROUNDS} interleaved rounds, medians`);
console.log(`  --version ${median("version").toFixed(1)} ms`);
for (const name of ["validate", "plan"]) {
  console.log(`  ${name} ${median(name).toFixed(1)} ms: +${(median(name) - median("version")).toFixed(1)} ms`);
}
