// Many words looked for in one pass over a text, however many they are (after Wu and Manber): a window as wide as the shortest
// word goes over the text, and its last two characters tell how far it may go on without missing a word. Most characters of
// a text are never looked at.

export type Hit = { at: number; word: string };

export type Search = {
  /** The first word at or after `from`; the longest, where several begin. */
  find(text: string, from: number): Hit | undefined;
  /** The first place at or after `from` from which on the text is the beginning of a word, and ends before it. */
  findBegun(text: string, from: number): Hit | undefined;
};

/** A wider window goes on further, but more blocks of more words hold it up. */
const WIDEST = 16;
const BLOCKS = 1 << 14;
/** Any two characters of ASCII have a number of their own. */
const blockOf = (first: number, second: number) => ((first << 7) ^ second) & (BLOCKS - 1);

/** For words of at least two characters. */
export function createSearch(unsorted: Iterable<string>): Search {
  const words = [...unsorted].sort((a, b) => b.length - a.length);
  const longest = words[0]?.length ?? 0;
  const width = Math.min(words.at(-1)?.length ?? 0, WIDEST);
  const steps = new Uint8Array(BLOCKS).fill(width - 1);
  const byEnd = new Map<number, string[]>();
  const byBeginning = new Map<number, string[]>();
  const byFirst = new Map<number, string[]>();
  for (const word of words) {
    const blockAt = (end: number) => blockOf(word.charCodeAt(end - 1), word.charCodeAt(end));
    for (let end = 1; end < width; end++) {
      const block = blockAt(end);
      steps[block] = Math.min(steps[block] ?? 0, width - 1 - end);
    }
    append(byEnd, blockAt(width - 1), word);
    append(byBeginning, blockAt(1), word);
    append(byFirst, word.charCodeAt(0), word);
  }

  return {
    find(text, from) {
      let end = from + width - 1;
      while (end < text.length) {
        const block = blockOf(text.charCodeAt(end - 1), text.charCodeAt(end));
        const step = steps[block] ?? 1;
        if (step === 0) {
          const at = end - width + 1;
          const word = byEnd.get(block)?.find((word) => text.startsWith(word, at));
          if (word !== undefined) return { at, word };
        }
        end += step || 1;
      }
      return undefined;
    },
    findBegun(text, from) {
      const last = text.length - 1;
      for (let at = Math.max(from, text.length - longest + 1); at <= last; at++) {
        const first = text.charCodeAt(at);
        const candidates = at === last ? byFirst.get(first) : byBeginning.get(blockOf(first, text.charCodeAt(at + 1)));
        if (!candidates) continue;
        const end = text.slice(at);
        const word = candidates.find((word) => word.length > end.length && word.startsWith(end));
        if (word !== undefined) return { at, word };
      }
      return undefined;
    },
  };
}

function append(map: Map<number, string[]>, key: number, word: string): void {
  const list = map.get(key);
  if (list) list.push(word);
  else map.set(key, [word]);
}
