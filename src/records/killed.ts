// The end of a run that could not tell it itself: told by whoever sweeps it, from what its events say.

import { closeSync, existsSync, fstatSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { noUsage, type Usage } from "../conversation.ts";
import { FINISH } from "../events.ts";
import { isObject } from "../mcp/json-rpc.ts";
import type { ChildrenSummary } from "../processes/children.ts";
import { addRun } from "./history.ts";
import { isRunId, runsFolder } from "./home.ts";
import { readBytes, replaceFile } from "./private-files.ts";
import { type RecordedEnvelope, rowOf } from "./result.ts";

/** Of events that is; what lies beyond is not counted. */
const MAX_BYTES = 32_000_000;
const MAX_WARNINGS = 100;

export type Death = { run: string; children: ChildrenSummary; reason: string };

/**
 * Writes the result of a dead run, unless it is there, and its row. Gives back its folder; null if it has none. Two may do
 * it at once. Throws what the file system or SQLite says.
 */
export async function writeEnd(death: Death): Promise<string | null> {
  const record = join(runsFolder(), death.run);
  if (!isRunId(death.run) || !existsSync(record)) return null;
  const file = join(record, "result.json");
  const told = readTold(join(record, "events.jsonl"));
  const result = readResult(file) ?? writeKilled(file, killedEnvelope(death, told, record));
  // Another version of omega may have written it in another form.
  if (isObject(result.usage)) await addRun(rowOf(result, { file: told.file, record }));
  return record;
}

function writeKilled<T extends RecordedEnvelope>(file: string, envelope: T): T {
  replaceFile(file, `${JSON.stringify(envelope, null, 2)}\n`);
  return envelope;
}

/** One that a power cut has left empty is none. */
function readResult(file: string): RecordedEnvelope | undefined {
  if (!existsSync(file)) return undefined;
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return undefined;
  }
}

type Told = Pick<RecordedEnvelope, "skill" | "model" | "usage" | "cost" | "turns" | "toolCalls"> & {
  file: string | null;
  startedAt: string | undefined;
  warnings: string[];
};

function killedEnvelope({ run, children, reason }: Death, told: Told, record: string) {
  const { skill, model, usage, cost, turns, toolCalls, warnings } = told;
  return {
    version: 1,
    run,
    skill,
    model,
    outcome: "killed",
    exitCode: null,
    code: null,
    reason,
    hint: "what it had done by then is in events.jsonl beside this; where memory is short (exit code 137), give it more",
    retryable: true,
    retryAfterMs: null,
    text: null,
    output: null,
    usage,
    cost,
    turns,
    toolCalls,
    attempts: [],
    denials: [],
    undecided: [],
    checks: [],
    servers: [],
    children,
    hooks: [],
    warnings,
    startedAt: told.startedAt ?? startOf(run),
    endedAt: new Date().toISOString(),
    record,
  };
}

/** `20260901-060000-…` → ISO. */
function startOf(run: string): string {
  return run.replace(/^(\d{4})(\d\d)(\d\d)-(\d\d)(\d\d)(\d\d)-.*$/, "$1-$2-$3T$4:$5:$6.000Z");
}

function readTold(file: string): Told {
  const told: Told = {
    ...{ skill: null, file: null, model: null, startedAt: undefined },
    ...{ usage: noUsage, cost: 0, turns: 0, toolCalls: 0, warnings: [] },
  };
  for (const line of readLines(file)) take(line, told);
  return told;
}

/** Counted as a run counts that tells its own end: with its sub-agents and sub-skills. */
function take(line: string, told: Told): void {
  const event = parse(line);
  if (!isObject(event)) return;
  const { type, agent } = event;
  if (type === "turn") told.turns++;
  else if (type === "call" && event["tool"] !== FINISH) told.toolCalls++;
  else if (type === "usage") {
    told.usage = addKnown(told.usage, event["usage"]);
    told.cost = told.cost === null || typeof event["cost"] !== "number" ? null : told.cost + event["cost"];
  } else if (agent !== undefined) return;
  else if (type === "start") {
    told.skill = text(event["skill"]);
    told.file = text(event["file"]);
    told.model = text(event["model"]);
    if (typeof event["at"] === "number") told.startedAt = new Date(event["at"]).toISOString();
  } else if (type === "fallback") told.model = text(event["model"]) ?? told.model;
  else if (type === "warning" && typeof event["message"] === "string" && told.warnings.length < MAX_WARNINGS) {
    told.warnings.push(event["message"]);
  }
}

function addKnown(sum: Usage, usage: unknown): Usage {
  const { input, output, cacheRead, cacheWrite, reasoning } = isObject(usage) ? usage : {};
  const count = (value: unknown) => (typeof value === "number" ? value : 0);
  return {
    input: sum.input + count(input),
    output: sum.output + count(output),
    cacheRead: sum.cacheRead + count(cacheRead),
    cacheWrite: sum.cacheWrite + count(cacheWrite),
    reasoning: sum.reasoning + count(reasoning),
  };
}

const text = (value: unknown) => (typeof value === "string" ? value : null);

/** The last one is empty, or torn. */
function readLines(file: string): string[] {
  if (!existsSync(file)) return [];
  const fd = openSync(file, "r");
  try {
    const bytes = readBytes(fd, 0, Math.min(fstatSync(fd).size, MAX_BYTES));
    return bytes.toString("utf8").split("\n").slice(0, -1);
  } finally {
    closeSync(fd);
  }
}

function parse(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return undefined;
  }
}
