// Records the cassettes of the shipped skills again, all of them or those of the skills that are named:
// bun test/skills/record.ts [skill…]

import { readFileSync, writeFileSync } from "node:fs";
import { cassetteOf, perform } from "./scene.ts";
import { scenes } from "./scenes.ts";

const names = process.argv.slice(2);
for (const scene of scenes.filter(({ skill }) => names.length === 0 || names.includes(skill))) {
  const file = cassetteOf(scene);
  using played = await perform(scene, ["--cassette", file]);
  nameFolders(file, scene.skill);
  const { outcome, reason } = played.envelope;
  console.log(`${file}: ${outcome}${reason ? `, ${reason}` : ""}`);
  if (outcome !== scene.outcome) process.exitCode = 1;
}

/** The folders of the machine that records are nobody's business; what stands for their names is free. */
function nameFolders(file: string, skill: string): void {
  const [head = "", ...lines] = readFileSync(file, "utf8").split("\n");
  const folders = { workdir: "/work", "skill.dir": `/skills/${skill}` };
  writeFileSync(file, [JSON.stringify({ ...JSON.parse(head), folders }), ...lines].join("\n"));
}
