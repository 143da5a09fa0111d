// Secrets that can be told from any text, one for each place where a skill may have one, and all that can be left of them.

/** Where a secret comes from: the word is part of it, so that a leak says which one it is. */
export const places = ["env", "literal", "file", "input", "args", "header", "key"] as const;
export type Place = (typeof places)[number];
export type Canaries = Record<Place, string>;

/** What an HTTP header can carry goes to the provider; the rest may have any shape. */
const shapes: Record<string, (word: string, isHeader: boolean) => string> = {
  plain: (word) => `cAnArY-${word}-x9QzR7wK`,
  odd: (word, isHeader) => (isHeader ? `cA "n'/+?&a=${word}\\<r>y%2F~!x9` : `cA "n'/+ä?&${word}\\<鳥🐦>\t%2F~!x9é`),
  pem: (word, isHeader) => {
    const lines = [`MIIEvQIBADANBgkq${word}hkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7`, `VJTUt9Us8cKB${word}wEGvK1yTaxkYd0m`];
    return isHeader
      ? lines.join("")
      : ["-----BEGIN PRIVATE KEY-----", ...lines, "-----END PRIVATE KEY-----", ""].join("\n");
  },
};

export const shapeNames = Object.keys(shapes);

export function canariesOf(shape: string): Canaries {
  const of = (place: Place) => shapes[shape]?.(place, place === "header" || place === "key") ?? "";
  return Object.fromEntries(places.map((place) => [place, of(place)])) as Canaries;
}

const base64 = (text: string) => Buffer.from(text).toString("base64");
const inJson = (text: string) => JSON.stringify(text).slice(1, -1);

/** Texts of which none may be found anywhere: the secret, its encodings, and what is left of it where something was cut. */
export function tracesOf(secret: string): string[] {
  const whole = secret.trim();
  const lines = whole.includes("\n") ? whole.split("\n").filter((line) => !line.startsWith("-----")) : [];
  const ends = whole.includes("\n") ? [] : [whole.slice(0, 11), whole.slice(-11)];
  const texts = [whole, ...lines, ...ends].flatMap((text) => [text, inJson(text), inJson(inJson(text))]);
  const within = [0, 1, 2].map((offset) => base64(`${"a".repeat(offset)}${whole}`).slice(4, -4));
  const urls = [encodeURIComponent(whole), new URLSearchParams({ q: whole }).toString().slice(2)];
  const hex = Buffer.from(whole).toString("hex");
  return [
    ...new Set([
      ...texts,
      ...within,
      ...within.map((text) => text.replaceAll("+", "-").replaceAll("/", "_")),
      ...urls,
      ...urls.map((url) => url.replace(/%../g, (code) => code.toLowerCase())),
      hex,
      hex.toUpperCase(),
    ]),
  ].filter((trace) => trace.length >= 8);
}

/** Each trace that a text holds, with what stands around it. */
export function leaksIn(where: string, text: string, secrets: readonly string[]): string[] {
  return [...new Set(secrets.flatMap(tracesOf))].flatMap((trace) => {
    const at = text.indexOf(trace);
    const around = text.slice(Math.max(0, at - 40), at + trace.length + 10);
    return at === -1 ? [] : [`${where}: ${trace} in ${JSON.stringify(around)}`];
  });
}
