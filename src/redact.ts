// The secrets of a run, all in one place: what must never be written, printed or shown to a model. A secret is found as it
// is and in the encodings in which programs hand text on; each of these spellings is a *form*.

import { spellingsOf } from "./encodings.ts";
import { createSearch, type Search } from "./search.ts";
import { visible } from "./terminal.ts";

/** Shorter ones are too common as words to be taken out of a text. */
export const SHORTEST_SECRET = 8;
/** What `oneLine` leaves where it cuts a text, perhaps within a secret. */
const CUT = "…";
const NAMELESS = "‹secret›";

export type Secret = { name: string; value: string; source: string };

export type Secrets = {
  add(secret: Secret): void;
  /** The same array until one is added. */
  list(): readonly Secret[];
  /** The text with every secret as ‹NAME›. */
  redact(text: string): string;
};

export function createSecrets(): Secrets {
  const values = new Set<string>();
  let listed: readonly Secret[] = [];
  return {
    add(secret) {
      if (secret.value === "" || values.has(secret.value)) return;
      values.add(secret.value);
      listed = [...listed, secret];
    },
    list: () => listed,
    redact: (text) => withoutSecrets(text, listed),
  };
}

/**
 * With every secret as ‹NAME›. The list is compiled once; it must not change afterwards. Where a colour or an invisible
 * character stands within a secret, it hides it from us, but from nobody else: then the text loses all of these.
 */
export function withoutSecrets(text: string, secrets: readonly Secret[]): string {
  const matcher = matcherOf(secrets);
  if (!matcher) return text;
  const { told } = replace(text, matcher, text.length);
  const seen = visible(told);
  if (seen === told) return told;
  const hidden = replace(seen, matcher, seen.length).told;
  return hidden === seen ? told : hidden;
}

/** For text that comes in pieces: holds back an end that may be the beginning of a secret. */
export function redactStream(secrets: Secrets): { push(piece: string): string; flush(): string } {
  let held = "";
  return {
    push(piece) {
      const text = held + piece;
      const matcher = matcherOf(secrets.list());
      const { told, rest } = matcher ? replace(text, matcher) : { told: text, rest: "" };
      held = rest;
      return told;
    },
    flush() {
      const rest = secrets.redact(held);
      held = "";
      return rest;
    },
  };
}

/**
 * Every string in a value, keys included, changed; the same object if nothing changes. Any depth and circles are fine;
 * what is neither an array nor a plain object stays as it is.
 */
export function mapStrings<T>(value: T, change: (text: string) => string): T {
  const changes = someString(value, (text) => change(text) !== text);
  // A copy has the shape of its original, which no type can tell.
  return changes ? (changedCopy(value, change) as T) : value;
}

function someString(value: unknown, isWanted: (text: string) => boolean): boolean {
  const seen = new Set<object>();
  const open = [value];
  while (open.length > 0) {
    const next = open.pop();
    if (typeof next === "string" && isWanted(next)) return true;
    if (!isTree(next) || seen.has(next)) continue;
    seen.add(next);
    if (!Array.isArray(next) && Object.keys(next).some(isWanted)) return true;
    for (const item of Object.values(next)) open.push(item);
  }
  return false;
}

/** Each object is made before what it holds, for it may hold itself. */
function changedCopy(value: unknown, change: (text: string) => string): unknown {
  const copies = new Map<object, object>();
  const open: { from: object; to: object }[] = [];
  const copyOf = (item: unknown): unknown => {
    if (typeof item === "string") return change(item);
    if (!isTree(item)) return item;
    const known = copies.get(item);
    if (known) return known;
    const to = Array.isArray(item) ? [] : {};
    copies.set(item, to);
    open.push({ from: item, to });
    return to;
  };
  const copy = copyOf(value);
  for (let next = open.pop(); next; next = open.pop()) {
    const { from, to } = next;
    for (const [key, item] of Object.entries(from)) {
      // Not by assignment: a key may be __proto__.
      Object.defineProperty(to, Array.isArray(from) ? key : change(key), {
        value: copyOf(item),
        writable: true,
        enumerable: true,
        configurable: true,
      });
    }
  }
  return copy;
}

function isTree(value: unknown): value is object {
  if (typeof value !== "object" || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return Array.isArray(value) || prototype === Object.prototype || prototype === null;
}

type Matcher = { search: Search; shown(form: string): string };

/** `rest` is what nothing can be said of before more text comes; none if all is said to be `settled`. */
function replace(text: string, { search, shown }: Matcher, settled?: number): { told: string; rest: string } {
  const settledFrom = (from: number) => settled ?? search.findBegun(text, from)?.at ?? text.length;
  let told = "";
  let from = 0;
  let end = settledFrom(0);
  for (let hit = search.find(text, 0); hit && hit.at < end; hit = search.find(text, from)) {
    told += replaceCut(text.slice(from, hit.at), { search, shown }) + shown(hit.word);
    from = hit.at + hit.word.length;
    if (from > end) end = settledFrom(from);
  }
  return { told: told + replaceCut(text.slice(from, end), { search, shown }), rest: text.slice(end) };
}

/** A form of which only the beginning was left. */
function replaceCut(text: string, { search, shown }: Matcher): string {
  let told = "";
  let from = 0;
  let after = 0;
  for (let cut = text.indexOf(CUT); cut !== -1; cut = text.indexOf(CUT, after)) {
    const hit = cut - after < SHORTEST_SECRET ? undefined : search.findBegun(text.slice(after, cut), 0);
    if (hit && cut - after - hit.at >= SHORTEST_SECRET) {
      told += text.slice(from, after + hit.at) + shown(hit.word);
      from = cut;
    }
    after = cut + 1;
  }
  return told + text.slice(from);
}

const matchers = new WeakMap<readonly Secret[], { matcher: Matcher | undefined }>();

function matcherOf(secrets: readonly Secret[]): Matcher | undefined {
  const known = matchers.get(secrets);
  if (known) return known.matcher;
  const matcher = compile(secrets);
  matchers.set(secrets, { matcher });
  return matcher;
}

/** Where two secrets share a form, the first one names it. */
function compile(secrets: readonly Secret[]): Matcher | undefined {
  const names = new Map<string, string>();
  for (const { name, value } of secrets) {
    if (value.length < SHORTEST_SECRET) continue;
    for (const form of new Set([value, visible(value)].flatMap((each) => [...spellingsOf(each)]))) {
      if (form.length >= SHORTEST_SECRET && !names.has(form)) names.set(form, name);
    }
  }
  if (names.size === 0) return undefined;
  const forms = [...names.keys()];
  const placeholders = new Map(secrets.map(({ name }) => [name, placeholder(name, forms)]));
  return { search: createSearch(forms), shown: (form) => placeholders.get(names.get(form) ?? "") ?? NAMELESS };
}

/** Safe within JSON, HTML and a line; and it tells no secret, whatever that one is called. */
function placeholder(name: string, forms: readonly string[]): string {
  const safe = name.replace(/[\p{C}\p{Zl}\p{Zp}"'`\\<>&‹›]/gu, "");
  const shown = `‹${safe}›`;
  return safe === "" || forms.some((form) => shown.includes(form)) ? NAMELESS : shown;
}
