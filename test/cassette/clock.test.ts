// What a run says of the time is what it said when it was recorded, wherever and whenever it is played.

import { expect, test } from "bun:test";
import { omega } from "../support/omega.ts";
import { manifest } from "../support/skills.ts";
import { temporaryFolder } from "../support/temporary.ts";

const prompt = "It is {{ now }}, so today is {{ today }}.";

test("a run with the time in its prompt, and in its sub-skill's, plays in every time zone", async () => {
  const outer = manifest({}, { name: "outer", prompt, model: "replay/turns.yaml", skills: ["./inner"] });
  const turns = [{ calls: [{ tool: "skill__inner" }] }, { text: "done" }];
  using folder = temporaryFolder({
    "skill/skill.yaml": outer,
    "skill/turns.yaml": JSON.stringify({ turns }),
    "skill/inner/skill.yaml": manifest({}, { name: "inner", prompt, model: "replay/turns.yaml" }),
    "skill/inner/turns.yaml": JSON.stringify({ turns: [{ text: "inner is done" }] }),
  });
  const tape = folder.file("skill/tests/a.jsonl");
  await Bun.write(tape, "");
  const recorded = await omega(["run", folder.file("skill"), "--cassette", tape], { env: { TZ: "Europe/Oslo" } });
  expect(recorded.code, recorded.stderr).toBe(0);
  const text = await Bun.file(tape).text();
  expect(text.match(/It is (\d{4}-\d\d-\d\d)T[\d:]+\+0[12]:00, so today is \1\./g)).toHaveLength(2);
  // The next second at the earliest.
  await Bun.sleep(1_000);
  for (const zone of ["Europe/Oslo", "Pacific/Kiritimati", "Pacific/Pago_Pago", "UTC"]) {
    const { stdout } = await omega(["test", folder.file("skill")], { env: { TZ: zone } });
    expect(stdout, zone).toContain("1 passed, 0 failed");
  }
});
