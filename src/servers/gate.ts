/** Lets so many through at once; the others wait their turn, in the order of asking. Who entered must leave. */
export type Gate = { enter(): Promise<void> | undefined; leave(): void };

export function createGate(size: number): Gate {
  const waiting: (() => void)[] = [];
  let free = size;
  return {
    enter() {
      if (free === 0) return new Promise((resolve) => waiting.push(resolve));
      free--;
      return undefined;
    },
    leave() {
      const next = waiting.shift();
      if (next) next();
      else free++;
    },
  };
}
