// A text → the spellings in which programs hand it on: encoded, escaped, line by line. Many are the same for most texts.

/** Shorter lines may stand in any text. */
const SHORTEST_LINE = 16;

export function spellingsOf(text: string): Set<string> {
  const wholes = [...new Set([text, text.trim()])];
  const oneLine = text.replace(/\s+/g, " ").trim();
  // A key that was put into one line has its breaks as \n.
  const lines = text
    .split(/\r?\n|\\n/)
    .map((line) => line.trim())
    .filter((line) => line.length >= SHORTEST_LINE);
  const bytes = wholes.map((whole) => Buffer.from(whole));
  return new Set([
    ...[...wholes, oneLine, ...lines].flatMap(asText),
    ...bytes.flatMap(asBase64),
    ...bytes.flatMap(asHex),
  ]);
}

/** Most keys are made of characters that nobody escapes. */
function asText(text: string): string[] {
  return /^[\w.-]*$/.test(text) ? [text] : [text, ...inJson(text), ...inUrls(text), ...inHtml(text)];
}

/** As those who write JSON do it: most, Python, Go, .NET, PHP with its \/; and JSON as a text within JSON. */
function inJson(text: string): string[] {
  const quoted = (raw: string) => JSON.stringify(raw).slice(1, -1);
  const hex = (char: string) => char.charCodeAt(0).toString(16).padStart(4, "0");
  const lower = (char: string) => `\\u${hex(char)}`;
  const upper = (char: string) => `\\u${hex(char).toUpperCase()}`;
  const json = quoted(text);
  const once = [
    json,
    json.replace(/[^\0-\x7f]/g, lower),
    json.replace(/[^\0-\x7f]/g, upper),
    json.replace(/[<>&]/g, lower),
    json.replaceAll('\\"', '"').replace(/[^\0-\x7e]|["&'+<>`]/g, upper),
  ].flatMap((spelling) => [spelling, spelling.replaceAll("/", "\\/")]);
  return [...once, ...once.map(quoted)];
}

/** encodeURIComponent, RFC 3986, forms, encodeURI; a space may be +, a slash may stay, and %2F may be %2f. */
function inUrls(text: string): string[] {
  const wellFormed = text.toWellFormed();
  const component = encodeURIComponent(wellFormed);
  const strict = component.replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);
  const form = new URLSearchParams([["", text]]).toString().slice(1);
  return [component, strict, form, encodeURI(wellFormed)]
    .flatMap((url) => [url, url.replaceAll("%20", "+"), url.replaceAll("%2F", "/")])
    .flatMap((url) => [url, url.replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase())]);
}

function inHtml(text: string): string[] {
  const tags = text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
  const quotes = [
    ["&quot;", "&#39;"],
    ["&quot;", "&#x27;"],
    ["&quot;", "&apos;"],
    ["&#34;", "&#39;"],
  ] as const;
  return [tags, ...quotes.map(([double, single]) => tags.replaceAll('"', double).replaceAll("'", single))];
}

function asHex(bytes: Buffer): string[] {
  const hex = bytes.toString("hex");
  return [hex, hex.toUpperCase()];
}

/** By itself, in lines of 76 or 64 characters, and as a part of something larger; with the alphabet of URLs, or within one. */
function asBase64(bytes: Buffer): string[] {
  const whole = bytes.toString("base64");
  const lines = [76, 64].flatMap((length) => whole.match(new RegExp(`.{${SHORTEST_LINE},${length}}`, "g")) ?? []);
  return [...lines, ...[0, 1, 2].flatMap((offset) => base64Within(bytes, offset))].flatMap((text) => [
    text,
    text.replaceAll("+", "-").replaceAll("/", "_"),
    text.replaceAll("/", "\\/"),
    text.replaceAll("+", "%2B").replaceAll("/", "%2F").replaceAll("=", "%3D"),
    text.replaceAll("+", "%2b").replaceAll("/", "%2f").replaceAll("=", "%3d"),
  ]);
}

/** A larger text's encoding has it at one of three places within a group; its first and last character may be mixed. */
function base64Within(bytes: Buffer, offset: number): string[] {
  const padded = Buffer.concat([Buffer.alloc(offset), bytes])
    .toString("base64")
    .slice(Math.ceil((offset * 4) / 3));
  const mixed = Math.ceil((offset * 4) / 3);
  const stable = padded.slice(0, Math.floor(((offset + bytes.length) * 4) / 3) - mixed);
  // Nothing follows: the last character is known too, and there may be padding.
  return [stable, padded, padded.replace(/=+$/, "")];
}
