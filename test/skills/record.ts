// Records the cassettes of the shipped skills again, all of them or those of the skills that are named:
// bun test/skills/record.ts [skill…]

import { cassetteOf, perform } from "./scene.ts";
import { scenes } from "./scenes.ts";

const names = process.argv.slice(2);
for (const scene of scenes.filter(({ skill }) => names.length === 0 || names.includes(skill))) {
  const file = cassetteOf(scene);
  using played = await perform(scene, ["--cassette", file]);
  const { outcome, reason } = played.envelope;
  console.log(`${file}: ${outcome}${reason ? `, ${reason}` : ""}`);
  if (outcome !== scene.outcome) process.exitCode = 1;
}
