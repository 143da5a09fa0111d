// A home on a disk that is full, or becomes so while a run goes on: a tmpfs of its own in a private mount namespace (needs
// root). The work is done all the same, and what could not be kept is said once.

import { expect, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { modelServer, type Script } from "../support/model-server.ts";
import { omega } from "../support/omega.ts";
import { aliveWith } from "../support/processes.ts";
import { fixtureServer, manifest } from "../support/skills.ts";
import { temporaryFolder } from "../support/temporary.ts";

type Setting = {
  kilobytes: number;
  /** Of them, how many are taken before the run. */
  filled?: number;
  skill?: object;
};

/** After the run, still inside: what is left in the home, and whether it is whole. */
const inside = `
mount -t tmpfs -o size=$1k,mode=700 omega "$2" || exit 99
[ "$3" = 0 ] || dd if=/dev/zero of="$2/filler" bs=1k count="$3" 2>/dev/null
out="$4"
shift 4
"$@"
code=$?
ls -A "$OMEGA_HOME/journal" > "$out/journal" 2>/dev/null
find "$OMEGA_HOME" -type f | sort > "$out/files"
for each in "$OMEGA_HOME"/runs/*/result.json; do [ -e "$each" ] && cp "$each" "$out/result.json"; done
for each in "$OMEGA_HOME"/runs/*/events.jsonl; do [ -e "$each" ] && cp "$each" "$out/events.jsonl"; done
exit $code`;

async function play(script: Script, { kilobytes, filled = 0, skill }: Setting) {
  const model = await modelServer(script);
  const mark = crypto.randomUUID();
  const folder = temporaryFolder();
  const home = folder.file("home");
  for (const name of [home, folder.file("out")]) mkdirSync(name);
  const server = fixtureServer("good.mjs", { env: { MARK: mark } });
  await Bun.write(folder.file("skill/skill.yaml"), manifest({ s: server }, skill));
  const under = ["unshare", "-m", "sh", "-c", inside, "sh", `${kilobytes}`, home, `${filled}`, folder.file("out")];
  const result = await omega(["run", folder.file("skill"), "--json", "--model", "openai-chat/m"], {
    env: { OPENAI_BASE_URL: model.url, OMEGA_HOME: home },
    under,
    timeoutMs: 60_000,
  });
  const out = (name: string) =>
    existsSync(folder.file(`out/${name}`)) ? readFileSync(folder.file(`out/${name}`), "utf8") : undefined;
  const played = {
    ...result,
    envelope: JSON.parse(result.stdout),
    journal: out("journal"),
    files: out("files"),
    result: out("result.json"),
    events: out("events.jsonl") ?? "",
    requests: model.requests.length,
    results: model.requests
      .at(-1)
      ?.messages.filter(({ role }: any) => role === "tool")
      .map(({ content }: any) => content),
    left: aliveWith(`MARK=${mark}`),
  };
  folder[Symbol.dispose]();
  await model[Symbol.asyncDispose]();
  return played;
}

type Played = Awaited<ReturnType<typeof play>>;

const echo = (text: string) => ({ name: "mcp__s__echo", arguments: { text } });
const turns =
  (count: number, text: string): Script =>
  (index) =>
    index < count ? { calls: [echo(`${index} ${text}`)] } : { text: "Done." };

/** The work is done, and one warning says that nothing is kept of it. */
function expectDoneWithoutRecord({ code, envelope, stderr, journal, files, result, left }: Played): void {
  expect({ code, outcome: envelope.outcome, record: envelope.record }, stderr).toEqual({
    ...{ code: 0, outcome: "done", record: null },
  });
  expect(envelope.text).toBe("Done.");
  expect(envelope.warnings).toEqual([
    expect.stringMatching(/^cannot write to .*home \(ENOSPC\): .*no record.*; free space/),
  ]);
  expect(stderr.match(/^warning: /gm)).toHaveLength(1);
  expect(stderr).not.toMatch(/^\s+at .*:\d+/m);
  expect(journal?.trim() ?? "").toBe("");
  expect(files).not.toMatch(/result\.json\.\d+$/m);
  expect(result).toBeUndefined();
  expect(left).toEqual([]);
  expect(envelope.children.survivors).toEqual([]);
}

/** All lines but perhaps the last. */
function expectReadable(events: string): void {
  for (const line of events.split("\n").slice(0, -1)) JSON.parse(line);
}

test("a disk that is full before the run: done, one warning, nothing left", async () => {
  const played = await play(turns(2, "x"), { kilobytes: 128, filled: 1_000 });
  expectDoneWithoutRecord(played);
  expect(played.requests).toBe(3);
});

for (const kilobytes of [64, 128, 256]) {
  test(`a disk of ${kilobytes} KB that large outputs fill: done, one warning, and the model learns that the rest is lost`, async () => {
    const played = await play(turns(4, "é".repeat(90_000)), { kilobytes });
    expectDoneWithoutRecord(played);
    expect(played.results.at(-1)).toContain("the rest could not be kept");
    expectReadable(played.events);
  });
}

test("a disk that many small events fill: done, one warning", async () => {
  const played = await play(turns(40, "y".repeat(5_000)), { kilobytes: 200 });
  expectDoneWithoutRecord(played);
  expectReadable(played.events);
});

/** From hardly any room to enough: wherever it ends, it is one or the other. */
test("a disk that is full at any moment of a run: a whole record, or none and one warning", async () => {
  const ends = { whole: 0, unlisted: 0, none: 0 };
  for (let filled = 0; filled <= 124; filled += 4) {
    const played = await play(turns(2, "z".repeat(2_000)), { kilobytes: 128, filled });
    const { envelope, result, journal, stderr } = played;
    if (envelope.record === null) {
      ends.none++;
      expectDoneWithoutRecord(played);
      continue;
    }
    expect(envelope.outcome, stderr).toBe("done");
    expect(JSON.parse(result ?? "")).toMatchObject({ run: envelope.run, outcome: "done" });
    expect(journal?.trim()).toBe("");
    expect(envelope.warnings.length).toBeLessThanOrEqual(1);
    if (envelope.warnings.length === 0) ends.whole++;
    else {
      ends.unlisted++;
      expect(envelope.warnings[0]).toMatch(/^cannot write to .*history\.db .*this run is not listed/);
    }
  }
  console.log(`      ${JSON.stringify(ends)}`);
  expect(ends.whole).toBeGreaterThan(0);
  expect(ends.none).toBeGreaterThan(0);
});

test("audit: required on a full disk is storage, and no call reaches a server", async () => {
  const skill = { audit: "required" };
  const full = await play(turns(2, "x"), { kilobytes: 64, filled: 1_000, skill });
  expect({ code: full.code, outcome: full.envelope.outcome }, full.stderr).toEqual({ code: 74, outcome: "storage" });
  expect(full.left).toEqual([]);
  expect(full.envelope).toMatchObject({ code: "audit", toolCalls: 0 });
  expect(full.requests).toBe(0);
});

test("audit: required on a disk that fills up ends the run as storage at the call that could not be noted", async () => {
  const played = await play(turns(40, "é".repeat(20_000)), { kilobytes: 200, skill: { audit: "required" } });
  expect({ code: played.code, outcome: played.envelope.outcome }, played.stderr).toEqual({
    code: 74,
    outcome: "storage",
  });
  expect(played.left).toEqual([]);
  expect(played.requests).toBeLessThan(40);
});
