// A shipped skill with its real servers is what its cassette says.

import { expect, test } from "bun:test";
import { readTape } from "../../src/run/deck.ts";
import { cassetteOf, perform, type Scene } from "./scene.ts";

export function testLive(scene: Scene): void {
  const { skill, name, needs } = scene;
  test.if(needs?.isThere() ?? true)(
    `${skill} works with its real servers as ${name} tells, and leaves nothing`,
    async () => {
      using played = await perform(scene);
      const { result, envelope } = played;
      expect(envelope.outcome, result.stderr).toBe(scene.outcome);
      const { outcome, code, text, output, turns, toolCalls, usage } = envelope;
      expect({ outcome, code, text, output, turns, toolCalls, usage }).toEqual(
        readTape(cassetteOf(scene)).tape.end!.value.end as any,
      );
      expect(envelope.children.survivors).toEqual([]);
    },
  );
}
