/** Lets so many through at once; the others wait their turn, in the order of asking. */
export type Gate = <T>(work: () => Promise<T>) => Promise<T>;

export function createGate(size: number): Gate {
  const waiting: (() => void)[] = [];
  let free = size;
  return async (work) => {
    if (free > 0) free--;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else free++;
    }
  };
}
