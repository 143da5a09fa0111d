// The same call again and again, turn after turn: a model that runs in a circle.

import type { Call } from "../conversation.ts";
import { OmegaError } from "../errors.ts";

export type Repeats = {
  /** A call of this turn: why it must not be made again, or undefined. */
  see(call: Call, turn: number): OmegaError | undefined;
};

export function watchRepeats(limit: number): Repeats {
  let turn = 0;
  let before = new Map<string, number>();
  let now = new Map<string, number>();
  return {
    see(call, current) {
      if (current !== turn) {
        before = now;
        now = new Map();
        turn = current;
      }
      const key = `${call.name} ${call.arguments}`;
      const times = (before.get(key) ?? 0) + 1;
      now.set(key, times);
      if (times <= limit) return undefined;
      return new OmegaError("LIMIT_REPEAT", `the same call of ${call.name} came ${times} turns in a row`, {
        hint: "raise limits.repeat if the work needs it",
      });
    },
  };
}
