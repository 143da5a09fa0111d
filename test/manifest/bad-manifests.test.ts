// Bad manifests, each with the place, the message and what helps. `|` in front of a row's text keeps its indentation.

import { expect, test } from "bun:test";
import { checkSkill } from "../../src/manifest/load.ts";
import { temporaryFolder } from "../support/temporary.ts";

const ok = "description: d\n";
const server = (text: string) => `${ok}servers:\n  a: ${text}\n`;

/** A manifest, the place of an error in it, and all that its message must say. */
const table: [string, string, ...string[]][] = [
  // the file as a whole
  ["", "1:1", "expected a manifest"],
  ["- a\n- b\n", "1:1", "expected a manifest"],
  ["just words\n", "1:1", "expected a manifest"],
  ["# only a comment\n", "1:1", "expected a manifest"],
  ["prompt: hi\n", "1:1", "description: this field is required"],
  ["{}\n", "1:1", "description: this field is required"],
  // syntax
  ["\tdescription: d\n", "1:1", "a tab cannot indent", "use spaces"],
  [`${ok}servers:\n\ta: 1\n`, "3:1", "a tab cannot indent"],
  [`${ok}description: e\n`, "2:1", "description is there twice; keep one"],
  [server("{ command: x, command: y }"), "3:20", "command is there twice"],
  ["description: @d\n", "1:14", "cannot begin with @ unless it is quoted", '"@d"'],
  ["description: `d`\n", "1:14", "cannot begin with ` unless it is quoted"],
  ["description: %d\n", "1:14", "cannot begin with % unless it is quoted"],
  ["description: a: b\n", "1:14", 'a text with ": " in it must be quoted'],
  ["description: 'd\n", "2:1", "missing closing quote '", "left open"],
  ["description: [d\nprompt: x\n", "2:1", "look for a quote or bracket left open"],
  [`${ok}---\nprompt: x\n`, "2:1", "one document"],
  ['description: "\\q"\n', "1:15", "invalid escape sequence", "backslash"],
  [server("{ command: x, tools: [*] }"), "3:28", 'a lone * must be quoted: "*"'],
  [server("{ command: x, tools: [*log] }"), "3:28", 'must be quoted: "*log"'],
  [`${ok}prompt: {{ inputs.x }} and more\n`, "2:24", "must be quoted", "{{ inputs.x }} and more"],
  [`${ok}prompt: {{ inputs.x }}\n`, "2:9", 'prompt: {{ … }} must be quoted: "{{ inputs.x }}"'],
  [`${ok}workdir: {{ skill.dir }}\n`, "2:10", "workdir: {{ … }} must be quoted"],
  [server("{ command: {{ workdir }} }"), "3:17", "must be quoted"],
  [`${ok}just a word\n`, "2:1", "name:"],
  [`${ok}<<: { prompt: x }\n`, "2:1", "merge keys are not read"],
  // names
  ["descripton: d\n", "1:1", 'unknown field; did you mean "description"?'],
  [`${ok}promt: x\n`, "2:1", 'promt: unknown field; did you mean "prompt"?'],
  [`${ok}Prompt: x\n`, "2:1", 'did you mean "prompt"?'],
  [`${ok}zzzzzzzz: x\n`, "2:1", "zzzzzzzz: unknown field"],
  [`${ok}__proto__: x\n`, "2:1", "__proto__: unknown field"],
  [`${ok}constructor: x\n`, "2:1", "constructor: unknown field"],
  [`${ok}mcp: {}\n`, "2:1", "mcp: unknown field"],
  [server("{ comand: x }"), "3:8", 'servers.a.comand: unknown field; did you mean "command"?'],
  [server("{ command: x, time: 3s }"), "3:20", "servers.a.time: unknown field"],
  [`${ok}limits: { turn: 3 }\n`, "2:11", 'did you mean "turns"?'],
  [`${ok}limits: { foo: 3 }\n`, "2:11", "known: turns, time"],
  [`${ok}inputs: { a: { typ: string } }\n`, "2:16", 'did you mean "type"?'],
  [`${ok}model: { name: a/b, fallback: [] }\n`, "2:21", 'did you mean "fallbacks"?'],
  [`${ok}model: { name: a/b, price: { in: 1, input: 1, output: 2 } }\n`, "2:30", "model.price.in: unknown field"],
  // text
  ["description: 12\n", "1:14", 'expected text, got 12; quote it: "12"'],
  [`${ok}version: 1.0\n`, "2:10", 'quote it: "1.0"'],
  [`${ok}license: true\n`, "2:10", 'quote it: "true"'],
  ["description:\n", "1:1", "description: expected text, got nothing"],
  ['description: " "\n', "1:14", "expected some text"],
  ["description: [a]\n", "1:14", "expected text, got a list"],
  [`${ok}prompt: [a]\n`, "2:9", "expected text, got a list"],
  [`${ok}name: Release Notes\n`, "2:7", 'a-z, 0-9 and -, got "Release Notes"'],
  [`${ok}name: ${"a".repeat(65)}\n`, "2:7", "at most 64"],
  [`${ok}metadata: x\n`, "2:11", "expected names and values"],
  [`${ok}trigger: 5\n`, "2:10", "expected text"],
  [`${ok}requires: banana\n`, "2:11", "semver range", "banana"],
  // model
  [`${ok}model: claude\n`, "2:8", "expected provider/name", 'got "claude"'],
  [`${ok}model: { fallbacks: [] }\n`, "2:8", "model.name: this field is required"],
  [`${ok}model: { name: a/b, fallbacks: c/d }\n`, "2:32", 'expected a list, got text; write ["c/d"]'],
  [`${ok}model: { name: a/b, temperature: warm }\n`, "2:34", "expected a number"],
  [`${ok}model: { name: a/b, maxTokens: 1.5 }\n`, "2:32", "expected a whole number"],
  [`${ok}model: { name: a/b, thinking: hihg }\n`, "2:31", 'did you mean "high"?'],
  [`${ok}model: { name: a/b, price: { input: 1 } }\n`, "2:28", "model.price.output: this field is required"],
  [`${ok}model: { name: a/b, price: { input: -1, output: 1 } }\n`, "2:37", "at least 0"],
  // servers
  [`${ok}servers: [a]\n`, "2:10", "expected names and values, got a list"],
  [server("{}"), "3:6", "servers.a: expected command (stdio), url (HTTP) or inherit: true"],
  [server("npx"), "3:6", "expected a map of fields"],
  [`${ok}servers:\n  a__b: { command: x }\n`, "3:3", "single _"],
  [`${ok}servers:\n  "a b": { command: x }\n`, "3:3", "a server's name"],
  [server("{ command: [npx] }"), "3:17", "expected text, got a list"],
  [server("{ command: x, args: -y }"), "3:26", 'expected a list, got text; write ["-y"]'],
  [server("{ command: x, args: [-p, 80] }"), "3:31", 'quote it: "80"'],
  [server("{ command: x, env: [A] }"), "3:25", "expected names and values"],
  [server("{ command: x, env: { A: 1 } }"), "3:30", "servers.a.env.A: expected text; quote it"],
  [server("{ command: x, tools: log }"), "3:27", "expected a list"],
  [server("{ command: x, required: yes }"), "3:30", 'got "yes"; did you mean true?'],
  [server("{ command: x, timeout: 30 }"), "3:29", "expected a duration", "did you mean 30s?"],
  [server('{ command: x, timeout: "30" }'), "3:29", "did you mean 30s?"],
  [server("{ command: x, timeout: 5 min }"), "3:29", "expected a duration", '"5 min"'],
  [server("{ command: x, maxMessage: 10 }"), "3:32", "expected a size", "did you mean 10KB?"],
  [server("{ command: x, maxMessage: 10mb }"), "3:32", "expected a size such as 100KB or 10MB"],
  [server("{ command: x, concurrency: 0 }"), "3:33", "at least 1"],
  [server("{ command: x, restart: always }"), "3:29", "one of never, on-failure"],
  [server("{ command: x, protocol: modren }"), "3:30", 'did you mean "modern"?'],
  [server("{ command: x, url: y }"), "3:20", "belongs to a server with url (HTTP)", "keep one"],
  [server("{ command: x, headers: {} }"), "3:20", "belongs to a server with url (HTTP)"],
  [server("{ command: x, inherit: true }"), "3:20", "belongs to a server with inherit"],
  [server("{ url: x, args: [] }"), "3:16", "belongs to a server with command (stdio)"],
  [server("{ inherit: false }"), "3:17", "expected true"],
  [server("{ inherit: true, env: {} }"), "3:23", "belongs to a server with command (stdio)"],
  // inputs
  [`${ok}inputs: [a]\n`, "2:9", "expected names and values"],
  [`${ok}inputs: { "a b": {} }\n`, "2:11", "a name of letters"],
  [`${ok}inputs: { a: { type: strng } }\n`, "2:22", 'did you mean "string"?'],
  [`${ok}inputs: { a: { type: integer, default: x } }\n`, "2:40", "expected a value of type integer"],
  [`${ok}inputs: { a: { enum: [b, c], default: d } }\n`, "2:39", "expected one of b, c"],
  [`${ok}inputs: { a: { type: number, enum: [b] } }\n`, "2:37", "expected a value of type number"],
  [`${ok}inputs: { a: { env: "A B" } }\n`, "2:21", "the name of an environment variable"],
  [`${ok}inputs: { a: { secret: 1 } }\n`, "2:24", "expected true or false"],
  // templates
  [`${ok}prompt: Hi {{ inputs.a }}\n`, "2:12", "nothing is called inputs.a here"],
  [`${ok}inputs: { repo: {} }\nprompt: Hi {{ inputs.rep }}\n`, "3:12", 'did you mean "inputs.repo"?'],
  [`${ok}prompt: Hi {{ tody }}\n`, "2:12", 'did you mean "today"?'],
  [`${ok}prompt: Hi {{ }}\n`, "2:12", "nothing is called that"],
  [`${ok}prompt: Hi {{ today\n`, "2:12", "{{ is not closed"],
  [`${ok}prompt: |\n  Hi\n  you {{ x }}\n`, "4:7", "nothing is called x here"],
  [`${ok}workdir: "{{ workdir }}"\n`, "2:11", "nothing is called workdir here"],
  [`${ok}inputs: { t: { secret: true } }\nprompt: Use {{ inputs.t }}\n`, "3:13", "secret", "a server's env"],
  [`${ok}inputs: { t: { secret: true } }\ninstructions: Use {{ inputs.t }}\n`, "3:19", "secret"],
  [server('{ command: x, args: ["${A B}"] }'), "3:28", "expected ${NAME}, ${NAME:-default} or ${file:/path}"],
  [server('{ command: "${A" }'), "3:18", "${ is not closed"],
  // limits and units
  [`${ok}limits: { turns: many }\n`, "2:18", "expected a whole number"],
  [`${ok}limits: { turns: 0 }\n`, "2:18", "at least 1"],
  [`${ok}limits: { time: 30 }\n`, "2:17", "did you mean 30s?"],
  [`${ok}limits: { time: 1000h }\n`, "2:17", "expected at most 596h"],
  [`${ok}limits: { tokens: lots }\n`, "2:19", "a count such as 500 or 500k"],
  [`${ok}limits: 5\n`, "2:9", "expected a map of fields"],
  // not built yet: refused by name, and their shape is still checked
  [`${ok}hooks: { always: [x] }\n`, "2:1", "hooks: not supported by this version"],
  [server("{ url: https://x }"), "3:8", "servers.a.url: not supported by this version"],
  [server("{ command: x, sampling: true }"), "3:20", "not supported by this version"],
  [`${ok}retry: { attempts: 2 }\n`, "2:1", "retry: not supported by this version"],
  [`${ok}permissions: [{ tool: a/b, action: alow }]\n`, "2:36", 'did you mean "allow"?'],
  [`${ok}escalate: x\n`, "2:1", "not supported by this version"],
  // permissions, expect
  [`${ok}permissions: [{ tool: push, action: deny }]\n`, "2:23", "permissions.0.tool: expected server/tool", '"push"'],
  [`${ok}permissions: [{ tool: a/b, action: forbid }]\n`, "2:36", "one of allow, deny, ask"],
  [`${ok}permissions: [{ tool: a/b }]\n`, "2:15", "permissions.0.action: this field is required"],
  [`${ok}permissions: [{ tool: a/b, args: { p: 5 }, action: deny }]\n`, "2:39", 'quote it: "5"'],
  [`${ok}expect: [{ tool: log }]\n`, "2:18", "expected server/tool"],
  [`${ok}expect: [{ command: [] }]\n`, "2:21", "expected a command, got an empty list"],
  [`${ok}expect: [{ file: a, when: never }]\n`, "2:27", "one of done, always"],
  [`${ok}expect: [{ file: "{{ inputs.x }}" }]\n`, "2:19", "nothing is called inputs.x"],
  [`${ok}expect: [{ file: 1 }]\n`, "2:18", "expected text"],
  [`${ok}expect: [{ tool: a, minimum: 1 }]\n`, "2:21", "expect.0.minimum: unknown field"],
  [`${ok}retry: { on: [failed] }\n`, "2:8", "retry.attempts: this field is required"],
  [`${ok}overlap: skp\n`, "2:10", 'did you mean "skip"?'],
  [`${ok}hooks: { sucess: [x] }\n`, "2:10", 'did you mean "success"?'],
  [`${ok}prompt: { server: a, name: b }\n`, "2:11", "not supported by this version"],
  [`${ok}audit: yes\n`, "2:8", 'expected "required"'],
];

test("the table has at least 80 bad manifests", () => {
  expect(table.length).toBeGreaterThanOrEqual(80);
});

for (const [source, place, ...says] of table) {
  test(`${JSON.stringify(source.length > 90 ? `${source.slice(0, 90)}…` : source)} is refused at ${place}: ${says[0]}`, async () => {
    using folder = temporaryFolder({ "skill.yaml": source });
    const message = await refusal(folder.path);
    const line = message
      .split("\n")
      .find(
        (text) =>
          text.startsWith(`${folder.file("skill.yaml")}:${place}: `) && says.every((word) => text.includes(word)),
      );
    expect(line, message).toBeDefined();
  });
}

async function refusal(path: string): Promise<string> {
  return checkSkill(path).then(
    () => "it was accepted",
    (error: Error & { code?: string }) => (error.code === "MANIFEST_INVALID" ? error.message : String(error.stack)),
  );
}

test("a sub-skill that is not there, lies outside, or has another's name is refused", async () => {
  using folder = temporaryFolder({
    "a/SKILL.md": "---\nname: twin\ndescription: d\n---\n",
    "b/SKILL.md": "---\nname: twin\ndescription: d\n---\n",
  });
  const table = [
    ["[./there-is-none]", "cannot read ./there-is-none"],
    ["[..]", "leads out of the skill's folder"],
    ["[a, b]", 'two sub-skills are called "twin"'],
  ];
  for (const [skills, words] of table) {
    await Bun.write(folder.file("skill.yaml"), `${ok}skills: ${skills}\n`);
    expect(await refusal(folder.path)).toContain(words!);
  }
});

test("an error shows its line and a caret beneath the fault", async () => {
  using folder = temporaryFolder({ "skill.yaml": `${ok}limits: { turns: many }\n` });
  expect(await refusal(folder.path)).toBe(
    `${folder.file("skill.yaml")}:2:18: limits.turns: expected a whole number, got "many"\n    limits: { turns: many }\n                     ^`,
  );
});

test("all errors are told at once, in the order of the file, and a flood of them is cut with a count", async () => {
  using folder = temporaryFolder({ "skill.yaml": `a1: 1\nb1: 2\n${ok}c1: 3\n` });
  expect([...(await refusal(folder.path)).matchAll(/:(\d+):1: \w1: unknown/g)].map(([, line]) => line)).toEqual([
    "1",
    "2",
    "4",
  ]);
  const flood = Array.from({ length: 200 }, (_, index) => `unknown${index}: 1\n`).join("");
  using big = temporaryFolder({ "skill.yaml": ok + flood });
  const message = await refusal(big.path);
  expect(message).toContain("… and 150 more");
  expect(message.split("\n").length).toBeLessThan(160);
});

/** Each has a fault in or beside a field of secrets; what stands there must not be told. */
const withSecrets = [
  `${ok}model: { name: a/b, headers: { key: 12345678 } }\n`,
  `${ok}model: { name: a/b, headers: 12345678 }\n`,
  `${ok}model: { name: a/b, apiKey: [12345678] }\n`,
  `${ok}model: { name: a/b, apiKey: "k12345678", tmperature: 1 }\n`,
  `${ok}model:\n  name: a/b\n  headers:\n    one: k12345678 {{ nothing }}\n`,
  `${ok}model:\n  name: a/b\n  headers:\n    one: @k12345678\n`,
  `${ok}model:\n  name: a/b\n  headers:\n    one: {{ k12345678 }}\n`,
  `${ok}model:\n  name: a/b\n  headers:\n    one: *k12345678\n`,
  `${ok}model:\n  name: a/b\n  headers:\n    one: 'k12345678\n`,
  `${ok}model:\n  name: a/b\n  headers:\n    one: x\n    one: k12345678\n`,
  `${ok}model: { name: a/b, apiKey: "k12345678 \${A B}" }\n`,
  server("{ command: x, env: { A: 12345678 } }"),
  server('{ command: x, env: { A: "k12345678 ${A B}" } }'),
  server("{ comand: x, env: { A: k12345678 } }"),
  server("{ command: x, env: { A: k12345678 }, args: [3] }"),
  server("{ url: x, auth: { clientSecrt: k12345678 } }"),
  server("{ url: x, auth: { clientSecret: 12345678 } }"),
  `{\n "description": "d",\n "model": { "name": "a/b",\n  "headers": {\n   "one": 12345678\n  }\n }\n}\n`,
  `{"description":"d","model":{"name":"a/b","headers":{"one":"k12345678"}},"promt":1}\n`,
  `${ok}inputs: { t: { type: integer, secret: true, default: k12345678 } }\n`,
  `${ok}inputs: { t: { secret: true, default: k12345678, typ: x } }\n`,
  `${ok}inputs: { t: { secret: true, default: {{ k12345678 }} } }\n`,
  `${ok}inputs: { t: { secret: true, enum: [k12345678], default: x } }\n`,
  `${ok}inputs: { t: { secret: true, enum: k12345678 } }\n`,
  `${ok}inputs:\n  t:\n    secret: true\n    default: x\n    default: k12345678\n`,
  `${ok}inputs:\n  t:\n    default: @k12345678\n    secret: true\n`,
  `${ok}inputs:\n  t:\n    secret: true\n    default:\n      \tk12345678: 'x\n`,
  `${ok}model:\n  name: a/b\n  apikey: k12345678\n`,
  `${ok}model:\n  name: a/b\n  header: { one: k12345678 }\n`,
  `${ok}model: { name: a/b,\n  apiKey:\n  k12345678, foo: 1 }\n`,
  `${ok}model:\r\n  name: a/b\r\n  headers:\r\n    one: @k12345678\r\n`,
  `\uFEFF${ok}model:\n  name: a/b\n  headers:\n    one: @k12345678\n`,
  `${ok}model:\n  name: a/b\n  headers:\n\tone: k12345678\n`,
  server("\n    command: x\n    env:\n      A: k12345678\n      B: ${file:}\n      A: k12345678"),
];
for (const source of withSecrets) {
  test(`the value in ${JSON.stringify(source.slice(ok.length))} is not told with the error`, async () => {
    using folder = temporaryFolder({ "skill.yaml": source });
    const message = await refusal(folder.path);
    expect(message).toContain("skill.yaml:");
    expect(message).not.toContain("12345678");
  });
}

/** 30,000 lines, each with the same fault: time that grew with the square of them would be minutes. */
const floods: [string, (line: number) => string][] = [
  [ok, (n) => `a${n}: @x\n`],
  [ok, (n) => `a${n}: 1\n`],
  [ok, () => "prompt: x\n"],
  [`${ok}servers:\n`, (n) => `  a${n}: {{ x }}\n`],
  [`${ok}prompt: |\n`, () => "  {{ x }}\n"],
];
for (const [head, line] of floods) {
  test(`30,000 lines like ${JSON.stringify(line(1))} are refused within seconds, with a count`, async () => {
    using folder = temporaryFolder({ "skill.yaml": head + Array.from({ length: 30_000 }, (_, n) => line(n)).join("") });
    expect(await refusal(folder.path)).toMatch(/… and \d{5} more$/);
  }, 20_000);
}

test("CRLF, a byte order mark, JSON with tabs, and anchors are fine", async () => {
  const fine = [
    "\uFEFFdescription: d\r\nprompt: hi\r\n",
    '{\n\t"description": "d",\n\t"prompt": "hi"\n}\n',
    "description: &d d\nprompt: *d\n",
  ];
  for (const source of fine) {
    using folder = temporaryFolder({ "skill.yaml": source });
    expect((await checkSkill(folder.path)).manifest.description).toBe("d");
  }
});

test("an alias bomb, a file over 1 MB, deep nesting, UTF-16 and bytes that are no text are each refused in a sentence", async () => {
  const bomb = `a: &a [x,x]\n${["b", "c", "d", "e", "f", "g", "h"].map((name, index) => `${name}: &${name} [${Array(9).fill(`*${"abcdefg"[index]}`)}]`).join("\n")}\n`;
  const files: [string | Uint8Array, string][] = [
    [bomb, "aliases"],
    [`${ok}prompt: ${"x".repeat(1_000_001)}\n`, "larger than 1 MB"],
    ["[".repeat(200_000), "skill.yaml"],
    [`${ok}prompt: ${"{a: ".repeat(100_000)}`, "skill.yaml"],
    [Buffer.from(`\uFEFF${ok}`, "utf16le"), "UTF-16"],
    [Uint8Array.of(0x64, 0x3a, 0xff, 0x20), "not UTF-8"],
  ];
  for (const [content, says] of files) {
    using folder = temporaryFolder();
    await Bun.write(folder.file("skill.yaml"), content);
    const message = await refusal(folder.path);
    expect(message).toContain(says);
    expect(message.length).toBeLessThan(20_000);
    expect(message).not.toContain("    at ");
  }
}, 60_000);
