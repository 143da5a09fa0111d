import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { shippedSkillsModule } from "../../build/skills.ts";
import { root } from "../support/omega.ts";

test("omega holds every file of skills/ (npm run skills)", () => {
  const written = readFileSync(resolve(root, "src/cli/shipped-skills.ts"), "utf8");
  expect(written).toBe(shippedSkillsModule());
});
