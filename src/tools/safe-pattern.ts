// Whether a foreign regular expression surely ends soon on every string of so many characters. Careful rather
// than clever: what it does not understand is not safe, and a pattern that is not checked costs a round trip at most.

export const MAX_MATCHED = 300;
const MAX_PATTERN = 500;
const MAX_STEPS = 3e7;

/** `length`: of the longest string it will meet. */
export function isSafePattern(pattern: string, length = MAX_MATCHED): boolean {
  if (pattern.length > MAX_PATTERN) return false;
  const plain = pattern.replace(/\\[^1-9k]/g, "x").replace(/\[[^\]]*\]/g, "x");
  const looksAroundOrBack = /\\|\(\?<?[=!]/.test(plain);
  return !looksAroundOrBack && steps(plain.replaceAll(/\(\?(?:<\w+>|:)/g, "("), length) <= MAX_STEPS;
}

/** The worst number of steps: every open repeat tries every length, every choice every branch. */
function steps(plain: string, length: number): number {
  const groups = [{ branches: 1, repeats: false }];
  let open = plain.startsWith("^") ? 0 : 1;
  let choices = 1;
  for (let index = 0; index < plain.length; index++) {
    const inner = groups.at(-1);
    const character = plain[index] ?? "";
    const isOpenRepeat = /^(?:[*+]|\{\d+,)/.test(plain.slice(index, index + 12));
    if (!inner) return Number.POSITIVE_INFINITY;
    if (character === "(") groups.push({ branches: 1, repeats: false });
    else if (character === "|") inner.branches++;
    else if (character === "?" && !/[*+}?]/.test(plain[index - 1] ?? "")) choices *= 2;
    else if (isOpenRepeat) open++;
    if (isOpenRepeat || /[{?|]/.test(character)) for (const group of groups) group.repeats = true;
    if (character !== ")") continue;
    groups.pop();
    choices *= inner.branches;
    // A repeat of what itself repeats or chooses is where exponential time comes from.
    if (inner.repeats && /[*+{]/.test(plain[index + 1] ?? "")) return Number.POSITIVE_INFINITY;
  }
  return choices * (groups[0]?.branches ?? 1) * length ** open;
}
