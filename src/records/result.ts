// result.json, as far as the records themselves read it: the rest of the envelope is written as it comes.

import type { Usage } from "../conversation.ts";
import type { RunRow } from "./history.ts";

export type RecordedEnvelope = {
  run: string;
  skill: string | null;
  model: string | null;
  outcome: string;
  exitCode: number | null;
  code: string | null;
  reason: string | null;
  usage: Usage;
  cost: number | null;
  turns: number;
  toolCalls: number;
  startedAt: string;
  endedAt: string;
};

/** `file` is a name that the file system gave, and must be found again: it stays as it is. */
export function rowOf(envelope: RecordedEnvelope, { file, record }: { file: string | null; record: string }): RunRow {
  const { run, skill, model, outcome, code, reason, exitCode, startedAt, endedAt, turns, toolCalls, cost } = envelope;
  const { input, output, cacheRead, cacheWrite } = envelope.usage;
  return {
    id: run,
    ...{ skill, file, model, outcome, code, reason, exitCode, startedAt, endedAt, turns, toolCalls },
    ...{ input, output, cacheRead, cacheWrite, cost, record },
  };
}
