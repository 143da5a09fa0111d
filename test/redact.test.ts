// A secret is gone from a text however a program has written it, and the rest of the text stays as it was.

import { expect, test } from "bun:test";
import { createSecrets, mapStrings, redactStream, type Secrets, withoutSecrets } from "../src/redact.ts";
import { seeded } from "./support/wire-server.ts";

const token = "sk-test_4f9aQx7LmZ2bW8";
const odd = `p/w+d "q"\\'<é>&=x~(1)!*`;
const pem = [
  "-----BEGIN PRIVATE KEY-----",
  "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj",
  "MzEfYyjiWA4R4/M2bS1GB4t7NXp98C3SC6dVMvDuictGeurT8jNbvJZHtCSuYEvu",
  "NMoSfm76oqFvAp8Gy0iz5sxjZmSn",
  "-----END PRIVATE KEY-----",
  "",
].join("\n");

function secretsOf(values: Record<string, string>): Secrets {
  const secrets = createSecrets();
  for (const [name, value] of Object.entries(values)) secrets.add({ name, value, source: "a test" });
  return secrets;
}

const base64 = (text: string, alphabet: "base64" | "base64url" = "base64") => Buffer.from(text).toString(alphabet);
const json = (text: string) => JSON.stringify(text).slice(1, -1);
const unicode = (char: string) => `\\u${char.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}`;
const percent = (text: string) => encodeURIComponent(text);
const lowerHex = (text: string) => text.replace(/%../g, (code) => code.toLowerCase());
const ascii = (text: string) =>
  text.replace(/[^\0-\x7f]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`);
const strict = (text: string) =>
  percent(text).replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);
const html = (text: string) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

const encodings: Record<string, (text: string) => string> = {
  "as it is": (text) => text,
  base64: (text) => base64(text),
  "base64 without padding": (text) => base64(text).replace(/=+$/, ""),
  base64url: (text) => base64(text, "base64url"),
  "base64 in a URL": (text) => percent(base64(text)),
  "base64 by PHP": (text) => base64(text).replaceAll("/", "\\/"),
  encodeURIComponent: percent,
  "encodeURIComponent in lower case": (text) => lowerHex(percent(text)),
  encodeURI: (text) => encodeURI(text),
  "a path": (text) => percent(text).replaceAll("%2F", "/"),
  "a form": (text) => new URLSearchParams({ a: text }).toString().slice(2),
  "a form in lower case": (text) => lowerHex(new URLSearchParams({ a: text }).toString().slice(2)),
  "RFC 3986": strict,
  "RFC 3986 in lower case": (text) => lowerHex(strict(text)),
  "Python's quote_plus": (text) => strict(text).replaceAll("%20", "+"),
  JSON: json,
  "JSON by Python": (text) => ascii(json(text)),
  "JSON by PHP": (text) => ascii(json(text)).replaceAll("/", "\\/"),
  "JSON by Go": (text) => json(text).replace(/[<>&]/g, (c) => `\\u00${c.charCodeAt(0).toString(16)}`),
  "JSON by .NET": (text) => text.replace(/[^ -~]|["&'+<>`]/g, unicode).replace(/\\(?!u)/g, "\\\\"),
  "JSON within JSON": (text) => json(json(text)),
  "JSON by Python within JSON": (text) => json(ascii(json(text))),
  hexadecimal: (text) => Buffer.from(text).toString("hex"),
  "hexadecimal in upper case": (text) => Buffer.from(text).toString("hex").toUpperCase(),
  HTML: (text) => html(text).replaceAll('"', "&quot;").replaceAll("'", "&#39;"),
  "HTML with numbers": (text) => html(text).replaceAll('"', "&quot;").replaceAll("'", "&#x27;"),
  "HTML by Go": (text) => html(text).replaceAll('"', "&#34;").replaceAll("'", "&#39;"),
};

for (const [name, encode] of Object.entries(encodings)) {
  test(`found and replaced as a whole: ${name}`, () => {
    for (const value of [token, odd, `${token}=`, `${odd}日本\u{1f600}`, "12345678"]) {
      const { redact } = secretsOf({ KEY: value });
      expect(redact(`[ ${encode(value)} ]`), value).toBe("[ ‹KEY› ]");
      expect(redact(encode(value)), value).toBe("‹KEY›");
    }
  });
}

test("what nobody sees does not hide a secret that stands around it", () => {
  const { redact } = secretsOf({ KEY: token });
  const [begin, end] = [token.slice(0, 6), token.slice(6)];
  for (const hidden of ["\x1b[31m", "\x1b]0;title\x07", "\x9b1m", "\0", "\r", "\u200b", "\ufeff", "\u202e"]) {
    expect(redact(`a ${begin}${hidden}${end} z`), JSON.stringify(hidden)).toBe("a ‹KEY› z");
    expect(redact(`a ${hidden}b z`)).toBe(`a ${hidden}b z`);
  }
});

test("a secret with a character that is taken out of texts is found without it", () => {
  const { redact } = secretsOf({ KEY: `\ufeff${token}\r\nsecond` });
  expect(redact(`[${token}\nsecond]`)).toBe("[‹KEY›]");
});

test("within larger encoded data a secret is found at each of the three places of a group", () => {
  for (const value of [token, odd, "12345678", "123456789", "1234567890"]) {
    const { redact } = secretsOf({ KEY: value });
    for (const alphabet of ["base64", "base64url"] as const) {
      for (const before of ["", "a", "ab", "abc", "user:"]) {
        for (const after of ["", "z", "zz", "zzz"]) {
          const told = redact(base64(before + value + after, alphabet));
          const [begin = "", end = ""] = told.split("‹KEY›");
          expect(told, `${before}|${value}|${after}`).toContain("‹KEY›");
          // Only what a character shares with its neighbours may be left.
          expect(Buffer.from(begin, "base64").toString("latin1")).toBe(
            before.slice(0, Math.floor(begin.length * 0.75)),
          );
          expect(end.replace(/=+$/, "").length, told).toBeLessThanOrEqual(Math.ceil((after.length * 4) / 3) + 1);
        }
      }
    }
  }
});

test("base64 that a program broke into lines shows at most the last few characters", () => {
  const value = token.repeat(6);
  const { redact } = secretsOf({ KEY: value });
  for (const length of [64, 76]) {
    const told = redact(base64(value).replace(new RegExp(`.{${length}}`, "g"), "$&\n"));
    expect(told.replaceAll("‹KEY›", "").replace(/\s/g, "").length).toBeLessThan(16);
  }
});

test("of a secret with several lines each line is one, wherever its breaks went", () => {
  const { redact } = secretsOf({ KEY: pem });
  const lines = pem.split("\n").filter((line) => line !== "" && !line.startsWith("-----"));
  const printed = [
    pem,
    pem.trim(),
    pem.replaceAll("\n", "\r\n"),
    pem.replaceAll("\n", "\\n"),
    pem.replaceAll("\n", " "),
  ];
  printed.push(JSON.stringify({ pem }), JSON.stringify(JSON.stringify({ pem })), base64(pem), lines.join("\n  | "));
  printed.push(lines.map(json).join("\n"), JSON.stringify(pem).replaceAll("/", "\\/"), lines.map(percent).join("&"));
  for (const text of printed) {
    const told = redact(text);
    for (const line of lines) {
      for (let at = 0; at + 12 <= line.length; at++) expect(told, text).not.toContain(line.slice(at, at + 12));
    }
  }
  expect(redact(`key: ${pem.trim()}.`)).toBe("key: ‹KEY›.");
  const oneLine = pem.trim().replaceAll("\n", "\\n");
  expect(secretsOf({ KEY: oneLine }).redact(pem)).not.toContain(lines[1]!);
});

test("a secret that our own oneLine has cut is gone too, but not a word that only begins like one", () => {
  const { redact } = secretsOf({ KEY: token });
  expect(redact(`a ${token.slice(0, 12)}… and ${token.slice(0, 4)}… ${token.slice(0, -1)}…`)).toBe(
    `a ‹KEY›… and ${token.slice(0, 4)}… ‹KEY›…`,
  );
  expect(redact(token.slice(0, 12))).toBe(token.slice(0, 12));
});

test("short secrets are listed and left in the text, an empty one is none, the first name of a value counts", () => {
  const secrets = secretsOf({ PIN: "1234567", EMPTY: "", A: token, B: token });
  expect(secrets.list().map(({ name }) => name)).toEqual(["PIN", "A"]);
  expect(secrets.redact(`1234567 ${token}`)).toBe("1234567 ‹A›");
  expect(createSecrets().redact("nothing")).toBe("nothing");
});

test("the longest wins where one secret is part of another", () => {
  const { redact } = secretsOf({ PASS: "hunter2hunter2", DSN: "pg://me:hunter2hunter2@db/x" });
  expect(redact("pg://me:hunter2hunter2@db/x pg://me:hunter2hunter2@db/y")).toBe("‹DSN› pg://me:‹PASS›@db/y");
});

test("a secret that is added later is known from then on", () => {
  const secrets = secretsOf({ A: token });
  expect(secrets.redact("another-secret")).toBe("another-secret");
  secrets.add({ name: "B", value: "another-secret", source: "later" });
  expect(secrets.redact("another-secret")).toBe("‹B›");
  expect(withoutSecrets(`${token}, another-secret`, secrets.list())).toBe("‹A›, ‹B›");
});

test("a redacted JSON text stays JSON, whatever the secret is called", () => {
  const name = 'a"b\\c\nd\u2028e\0f\x9bg‹h›\ud800<script>';
  const { redact } = secretsOf({ [name]: odd });
  const text = redact(JSON.stringify({ [odd]: [odd, `x${odd}y`, 1] }));
  expect(JSON.parse(text)).toEqual({ "‹abcdefghscript›": ["‹abcdefghscript›", "x‹abcdefghscript›y", 1] });
  expect(secretsOf({ "\n": token }).redact(token)).toBe("‹secret›");
});

test("a name that holds a secret is not shown", () => {
  const { redact } = secretsOf({ [`file ${token}`]: odd, OTHER: token });
  expect(redact(`${odd} ${token}`)).toBe("‹secret› ‹OTHER›");
});

// Texts made of secrets, parts of them, their encodings and what stands between: all that could be confused.
const many = secretsOf({
  A: token,
  B: token.slice(0, 9),
  C: `${token}${token}`,
  D: "aaaaaaaa",
  E: "aaaaaaaaaaab",
  F: odd,
  G: pem,
  H: "‹not-a-name›",
});
const random = seeded(7);
const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]!;
const values = many.list().map(({ value }) => value);

function confusing(): string {
  const pieces = Array.from({ length: 1 + Math.floor(random() * 8) }, () => {
    const text = pick(Object.values(encodings))(pick(values));
    return pick([
      () => text,
      () => text.slice(0, Math.floor(random() * text.length)),
      () => text.slice(Math.floor(random() * text.length)),
      () => `${text.slice(0, Math.floor(random() * text.length))}…`,
      () => pick([" ", "a", "aaaa", "‹A›", "é", "\n", "\ud83d", ""]),
    ])();
  });
  return pieces.join("");
}

test("a second time changes nothing more, and no form of a secret is left", () => {
  for (let round = 0; round < 3_000; round++) {
    const text = confusing();
    const once = many.redact(text);
    expect(many.redact(once)).toBe(once);
    for (const value of values) {
      for (const encode of Object.values(encodings)) expect(once).not.toContain(encode(value));
    }
  }
});

test("a stream says the same as the whole, however it is cut", () => {
  for (let round = 0; round < 3_000; round++) {
    const text = confusing();
    const stream = redactStream(many);
    const most = pick([1, 3, 10, 100, 10_000]);
    let told = "";
    for (let at = 0; at < text.length; ) {
      const length = Math.ceil(random() * most);
      told += stream.push(text.slice(at, at + length));
      at += length;
    }
    expect(told + stream.flush(), JSON.stringify(text)).toBe(many.redact(text));
  }
});

test("a stream holds back no more than what may be a beginning, and tells it as soon as it is none", () => {
  const stream = redactStream(secretsOf({ KEY: token }));
  expect(stream.push("hello ")).toBe("hello ");
  expect(stream.push(`see ${token.slice(0, 5)}`)).toBe("see ");
  expect(stream.push("!")).toBe(`${token.slice(0, 5)}!`);
  expect([stream.push(token.slice(0, 5)), stream.push(token.slice(5)), stream.push(".")].join("")).toBe("‹KEY›.");
  expect([stream.push(token.slice(0, 5)), stream.flush(), stream.flush()]).toEqual(["", token.slice(0, 5), ""]);
  expect(redactStream(createSecrets()).push(token)).toBe(token);
});

test("every string of a value is changed, keys too; a value without any is given back itself", () => {
  const { redact } = secretsOf({ KEY: token });
  const value = { [token]: [1, null, true, `a ${token}`, { deep: token }], __proto__: null, other: "x" };
  const changed: unknown = { "‹KEY›": [1, null, true, "a ‹KEY›", { deep: "‹KEY›" }], other: "x" };
  expect(mapStrings({ ...value }, redact)).toEqual(changed as typeof value);
  expect(value[token]).toEqual([1, null, true, `a ${token}`, { deep: token }]);
  const clean = { a: ["b", { c: 1 }] };
  expect(mapStrings(clean, redact)).toBe(clean);
  expect(mapStrings(token, redact)).toBe("‹KEY›");
  expect(mapStrings(undefined, redact)).toBeUndefined();
});

test("a key __proto__ stays a key, a date a date", () => {
  const value = JSON.parse(`{"__proto__":{"x":"${token}"}}`);
  expect(JSON.stringify(mapStrings(value, secretsOf({ KEY: token }).redact))).toBe('{"__proto__":{"x":"‹KEY›"}}');
  const when = { at: new Date(0), token };
  expect(mapStrings(when, secretsOf({ KEY: token }).redact).at).toBe(when.at);
});

test("circles and great depth are no danger to it", () => {
  const { redact } = secretsOf({ KEY: token });
  const circle: any = { token, list: [] };
  circle.list.push(circle, circle.list);
  const changed = mapStrings(circle, redact);
  expect(changed.token).toBe("‹KEY›");
  expect(changed.list[0]).toBe(changed);
  expect(changed.list[1]).toBe(changed.list);
  let deep: unknown = token;
  for (let depth = 0; depth < 100_000; depth++) deep = depth % 2 ? [deep] : { deep };
  let bottom: any = mapStrings(deep, redact);
  while (typeof bottom === "object") bottom = Array.isArray(bottom) ? bottom[0] : bottom.deep;
  expect(bottom).toBe("‹KEY›");
});

test("10 MB are looked through in a moment, and a small piece of a stream in less", () => {
  const secrets = secretsOf({ A: token, B: odd, C: pem, D: "hunter2hunter2", E: base64(token + odd) });
  const text = JSON.stringify(
    Array.from({ length: 150_000 }, (_, id) => ({ id, text: `some words, ${id * 7919}, é` })),
  );
  secrets.redact("");
  const begin = performance.now();
  expect(secrets.redact(text)).toBe(text);
  // Measured: 4 ms for ASCII, 10 for this. The rest is for a busy machine.
  expect(((performance.now() - begin) * 10_000_000) / text.length).toBeLessThan(300);
  const stream = redactStream(secrets);
  const start = performance.now();
  for (let piece = 0; piece < 100_000; piece++) stream.push(" word");
  expect((performance.now() - start) / 100).toBeLessThan(20);
});
