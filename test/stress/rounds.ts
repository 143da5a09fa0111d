// Long loops, for `npm run stress`.

import { expect, test } from "bun:test";
import { startOmega } from "../support/omega.ts";
import { aliveWith } from "../support/processes.ts";
import { fixtureServer, manifest } from "../support/skills.ts";
import { temporaryFolder } from "../support/temporary.ts";

const signals = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;

test("200 runs ended by a signal at a random moment leave no process", async () => {
  const mark = crypto.randomUUID();
  using folder = temporaryFolder({
    "skill.yaml": manifest(
      { good: fixtureServer("good.mjs", { env: { MARK: mark } }) },
      { model: "replay/turns.yaml" },
    ),
    "turns.yaml": "turns: [{ calls: [{ id: a, tool: good/echo, arguments: { text: hi } }] }, { text: 'got {{ a }}' }]",
  });
  for (let round = 0; round < 200; round++) {
    const [signal, expected] = Object.entries(signals)[round % 3] as [keyof typeof signals, number];
    const { child, result } = startOmega(["run", folder.path]);
    await Bun.sleep(15 + ((round * 7919) % 90));
    child.kill(signal);
    const { code } = await result;
    expect([0, expected], `round ${round}`).toContain(code as number);
    expect(aliveWith(mark)).toEqual([]);
  }
});
