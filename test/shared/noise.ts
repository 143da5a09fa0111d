// Servers that print what is no message, from ../shared: they work all the same.

import { expect, test } from "bun:test";
import { resolve } from "node:path";
import { omega, root } from "../support/omega.ts";
import { manifest } from "../support/skills.ts";
import { temporaryFolder } from "../support/temporary.ts";

const hostile = resolve(root, "../shared/hostile/hostile_stdio.py");

for (const behaviour of ["banner", "noise", "ansi-stdout", "bom", "crlf", "blank-lines", "tiny-writes"]) {
  test(`a server with ${behaviour} works`, async () => {
    using folder = temporaryFolder({
      "skill.yaml": manifest(
        { odd: { command: "python3", args: [hostile, behaviour] } },
        { model: "replay/turns.yaml" },
      ),
      "turns.yaml": "turns: [{ calls: [{ id: a, tool: odd/echo, arguments: { text: hi } }] }, { text: 'got {{ a }}' }]",
    });
    const { code, stdout, stderr } = await omega(["run", folder.path]);
    expect({ code, stdout: stdout.slice(0, 4) }, stderr).toEqual({ code: 0, stdout: "got " });
    expect(stderr).not.toContain("\x1b");
  });
}
