// How a run went, in a few rows: the outcome and what it took; why; what was refused; what was checked; where the record is.

import { totalOf } from "../loop/budget.ts";
import { plain } from "../terminal.ts";
import { type Ended, refusals } from "./ended.ts";
import { bad, dim, good, odd, refused } from "./marks.ts";
import { blank, type Row, type Span, type Style } from "./rows.ts";
import { count, dollars, duration, short } from "./units.ts";

/** A person can mend these; the others are failures. */
const mild = ["denied", "limit", "interrupted", "skipped", "nothing-to-do"];

export function summaryRows(ended: Ended): Row[] {
  const { outcome, exitCode, reason, hint, turns, checks, children, record } = ended;
  const style: Style = exitCode === 0 ? "good" : mild.includes(outcome) ? "odd" : "bad";
  const mark = exitCode === 0 ? good : mild.includes(outcome) ? refused : bad;
  const held = checks.filter(({ ok }) => ok).length;
  const { started, survivors } = children;
  return [
    blank,
    { head: [mark], body: [{ text: outcome, style }, dim(took(ended))] },
    ...(reason === null ? [] : [{ head: [indent], text: plain(reason) }]),
    ...(hint === null ? [] : [{ head: [indent], text: plain(hint), style: "dim" as const }]),
    ...(turns === 0 ? [] : [labelled("spent", spent(ended))]),
    ...refusals(ended).map((text) => labelled("refused", text)),
    ...(checks.length === 0 ? [] : [labelled("checks", `${held} of ${checks.length} hold`)]),
    ...(started > 0 && survivors.length === 0 ? [labelled("children", `${started} started, none left`)] : []),
    ...survivors.map((pid): Row => ({ head: [indent, odd], text: `process ${pid} could not be ended`, style: "bad" })),
    ...(record === null ? [] : [{ head: label("record"), whole: plain(record) }]),
  ];
}

const indent: Span = { text: "  " };
const label = (word: string): Span[] => [indent, dim(word.padEnd(10))];
const labelled = (word: string, text: string): Row => ({ head: label(word), text });

function took({ exitCode, startedAt, endedAt }: Ended): string {
  const time = duration(Date.parse(endedAt) - Date.parse(startedAt));
  return `  ${time}${exitCode === 0 ? "" : ` · exit ${exitCode}`}`;
}

function spent({ turns, toolCalls, usage, cost }: Ended): string {
  const tokens = totalOf(usage);
  const items = [count(turns, "turn"), count(toolCalls, "call"), ...(tokens > 0 ? [`${short(tokens)} tokens`] : [])];
  return [...items, ...(cost ? [dollars(cost)] : [])].join(" · ");
}
