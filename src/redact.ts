// The secrets of a run, all in one place: what must never be written, printed or shown to a model.

/** Shorter ones are too common as words to be taken out of a text. */
export const SHORTEST_SECRET = 8;

export type Secret = { name: string; value: string; source: string };

export type Secrets = {
  add(secret: Secret): void;
  list(): readonly Secret[];
};

export function createSecrets(): Secrets {
  const known = new Map<string, Secret>();
  return {
    add(secret) {
      if (secret.value !== "" && !known.has(secret.value)) known.set(secret.value, secret);
    },
    list: () => [...known.values()],
  };
}

/** With every secret as `‹NAME›`. Long ones first, for one may be part of another. */
export function withoutSecrets(text: string, secrets: readonly Secret[]): string {
  const sorted = [...secrets].sort((a, b) => b.value.length - a.value.length);
  if (sorted.length === 0) return text;
  const escaped = sorted.map(({ value }) => value.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  const names = new Map(sorted.map(({ name, value }) => [value, name]));
  return text.replace(new RegExp(escaped.join("|"), "g"), (value) => `‹${names.get(value)}›`);
}
