// The night shift: omega through twelve bad nights, a row for each. At the end the last of them, which failed, becomes a
// test that plays without servers, key or network. Ends with 1 if a row is not as it must be.

import { omega } from "../support/omega.ts";
import { type Night, type Past, spend, type Told } from "./night.ts";
import { nights } from "./nights.ts";

const AT_ONCE = 4;
const headings = ["what happened", "outcome", "exit", "seconds", "tokens", "processes", "left"];
/** Words stand left, numbers right. */
const widths = [-46, -22, 7, 7, 6, 9, 4];

async function shift(): Promise<boolean> {
  const wrong: string[] = [];
  console.log(row(headings));
  for (const [index, spent] of inTurn(nights, AT_ONCE).entries()) {
    using past = await spent;
    const night = nights[index]!;
    const faults = faultsOf(past.told, night);
    console.log(`${rowOf(past.told, night)}${faults.length > 0 ? "  ✗" : ""}`);
    if (faults.length > 0) wrong.push(`${night.what}: ${faults.join("; ")}\n${past.told.said}`);
    if (index === nights.length - 1) wrong.push(...(await makeTest(past)));
  }
  for (const story of wrong) console.log(`\n✗ ${story}`);
  return wrong.length === 0;
}

/** Begun in order, so many at a time. */
function inTurn(nights: readonly Night[], atOnce: number): Promise<Past>[] {
  const spent: Promise<Past>[] = [];
  for (const [index, night] of nights.entries()) {
    const before = spent[index - atOnce];
    spent.push(before ? before.then(() => spend(night)) : spend(night));
  }
  return spent;
}

function rowOf({ outcome, exit, seconds, tokens, alive, left }: Told, { what }: Night): string {
  return row([what, outcome, exit, seconds.toFixed(1), `${tokens}`, `${alive}`, `${left}`]);
}

function row(cells: readonly string[]): string {
  const padded = cells.map((cell, index) => {
    const width = widths[index]!;
    return width < 0 ? cell.padEnd(-width) : cell.padStart(width);
  });
  return padded.join(" ");
}

function faultsOf(told: Told, { must }: Night): string[] {
  const { alive = 0, ...exactly } = { ...must, left: 0 };
  const wrong = (["outcome", "exit", "tokens", "left"] as const)
    .filter((field) => told[field] !== exactly[field])
    .map((field) => `${field} is ${told[field]}, and must be ${exactly[field]}`);
  return told.alive < alive ? [...wrong, `only ${told.alive} of ${alive} processes were ever seen`] : wrong;
}

/** The model is gone, and without a PATH no server could be started. */
async function makeTest({ told, skill, home }: Past): Promise<string[]> {
  const offline = { env: { OMEGA_HOME: home, PATH: "/nowhere" } };
  const made = await omega(["test", "--from", told.run], offline);
  console.log(`\n$ omega test --from ${told.run}\n${made.stdout.replaceAll(`${skill}/`, "").trimEnd()}`);
  const again = await omega(["test", skill], offline);
  const passes = [made, again].every(({ code, stdout }) => code === 0 && stdout.endsWith("1 passed, 0 failed\n"));
  return passes ? [] : [`the failed run became no test that passes:\n${made.stderr}${again.stdout}${again.stderr}`];
}

const started = performance.now();
const isGood = await shift();
const seconds = Math.round((performance.now() - started) / 1000);
console.log(`\n${isGood ? "all as it must be" : "not as it must be"}, ${seconds} s`);
process.exitCode = isGood ? 0 : 1;
