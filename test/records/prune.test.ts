// What goes when there is too much, and what stays whatever its age.

import { expect, test } from "bun:test";
import { mkdirSync, symlinkSync } from "node:fs";
import { prune } from "../../src/records/prune.ts";
import { runId, temporaryHome } from "../support/homes.ts";

test("runs of more than 30 days go, the run itself and those of the journal stay", () => {
  const [old, listed, own, young] = [runId(40), runId(40), runId(40), runId(29)];
  using home = temporaryHome({ [`journal/${listed}`]: "owner …" });
  for (const run of [old, listed, own, young]) home.write(`runs/${run}/outputs/1.txt`, "x");
  prune(own);
  expect(home.names("runs")).toEqual([listed, own, young].sort());
});

test("of too many runs the oldest go, some at a time", () => {
  using home = temporaryHome();
  const runs = Array.from({ length: 1_150 }, (_, index) => runId(20 - index / 1_000)).sort();
  for (const run of runs) mkdirSync(home.file(`runs/${run}`), { recursive: true });
  prune(runId());
  expect(home.names("runs")).toEqual(runs.slice(100));
  prune(runId());
  prune(runId());
  expect(home.names("runs")).toEqual(runs.slice(150));
});

test("what is no run and no day of the audit is not touched", () => {
  using home = temporaryHome({
    "runs/20200101-000000-0000000g/x": "",
    "runs/notes/x": "",
    "runs/20200101": "",
    "audit/2020-01-01.jsonl": "",
    "audit/2020-01-01.jsonl.gz": "",
    "audit/notes.jsonl": "",
    "precious/x": "",
  });
  symlinkSync(home.file("precious"), home.file(`runs/${runId(40)}`));
  home.write(`audit/${new Date().toISOString().slice(0, 10)}.jsonl`, "");
  prune(runId());
  expect(home.names("runs")).toEqual(["20200101", "20200101-000000-0000000g", "notes"]);
  expect(home.names("precious")).toEqual(["x"]);
  expect(home.names("audit")).toHaveLength(3);
  expect(home.names("audit")).not.toContain("2020-01-01.jsonl");
});

test("a home without folders, or with files in their place, is no trouble", () => {
  using _ = temporaryHome({ runs: "a file" });
  prune(runId());
});
