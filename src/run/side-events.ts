// Events that do not come from the story itself: warnings of a server, the life of a sub-agent that works while the
// conversation waits for it. They are told between the story's own, as soon as they come.

import type { RunEvent } from "../events.ts";

export type SideEvents = {
  emit(event: RunEvent): void;
  /** The events of the story, and those emitted meanwhile. Whoever stops reading stops the story. */
  along<T>(story: AsyncGenerator<RunEvent, T>): AsyncGenerator<RunEvent, T>;
  /** Those emitted after the story. */
  rest(): RunEvent[];
};

export function openSideEvents(): SideEvents {
  const waiting: RunEvent[] = [];
  let wake = () => {};
  return {
    emit(event) {
      waiting.push(event);
      wake();
    },
    rest: () => waiting.splice(0),
    async *along<T>(story: AsyncGenerator<RunEvent, T>) {
      type Step = { result: IteratorResult<RunEvent, T> } | { error: unknown };
      let step: Step | undefined;
      const advance = () => {
        step = undefined;
        story.next().then(
          (result) => {
            step = { result };
            wake();
          },
          (error: unknown) => {
            step = { error };
            wake();
          },
        );
      };
      // Told apart from `step` itself, which the compiler believes to be undefined for ever.
      const taken = (): Step | undefined => step;
      try {
        advance();
        while (true) {
          if (waiting.length === 0 && !taken()) {
            await new Promise<void>((resolve) => {
              wake = resolve;
            });
          }
          yield* waiting.splice(0);
          const now = taken();
          if (!now) continue;
          if ("error" in now) throw now.error;
          if (now.result.done) return now.result.value;
          yield now.result.value;
          advance();
        }
      } finally {
        await story.return(undefined as T);
      }
    },
  };
}
