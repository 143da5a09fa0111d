// The manifest's limits → what a budget needs. A limit of cost wants a price for every model that may be asked, and one for
// the day wants the history.

import { OmegaError } from "../errors.ts";
import type { Limits as BudgetLimits } from "../loop/budget.ts";
import type { Limits } from "../manifest/schema.ts";
import type { ModelChoice } from "../manifest/skill.ts";
import { findPrice } from "../providers/prices.ts";
import { spentSince } from "../records/history.ts";

/** `isRecorded`: what this run will have spent can be kept for the next one. */
export type Ledger = {
  file: string;
  isRecorded: boolean;
  /** Where a run is played: what it cost then stands on the tape, and what the day had left. */
  played?: { leftOfDay?: number | undefined } | undefined;
};

export async function budgetLimits(limits: Limits, model: ModelChoice, ledger: Ledger): Promise<BudgetLimits> {
  const { turns, tokens, toolCalls, cost, costPerDay } = limits;
  if (cost === undefined && costPerDay === undefined) return { turns, tokens, toolCalls };
  const { played } = ledger;
  if (!played) await requirePrices(model);
  const left =
    costPerDay === undefined
      ? Number.POSITIVE_INFINITY
      : played
        ? (played.leftOfDay ?? costPerDay)
        : await leftOfDay(costPerDay, ledger);
  const isDay = left < (cost ?? Number.POSITIVE_INFINITY);
  const dollars = isDay ? left : (cost ?? left);
  return { turns, tokens, toolCalls, cost: { dollars, code: isDay ? "LIMIT_DAY" : "LIMIT_COST" } };
}

async function requirePrices({ name, fallbacks, price }: ModelChoice): Promise<void> {
  for (const model of [name, ...fallbacks]) {
    const isKnown = model.startsWith("replay/") || (model === name && price) || (await findPrice(model));
    if (isKnown) continue;
    throw new OmegaError("PRICE_MISSING", `a limit of cost is set, and nobody knows the price of ${model}`, {
      hint: "set model.price: { input: …, output: … } in US dollars per million tokens, or limit tokens instead",
    });
  }
}

async function leftOfDay(perDay: number, { file, isRecorded }: Ledger): Promise<number> {
  if (!isRecorded) throw withoutHistory("it cannot be written");
  const midnight = new Date();
  midnight.setHours(0, 0, 0, 0);
  const spent = await spentSince(file, midnight.toISOString()).catch((cause: unknown) => {
    throw withoutHistory(`it cannot be read: ${cause}`, cause);
  });
  if (spent < perDay) return perDay - spent;
  throw new OmegaError("LIMIT_DAY", `limits.costPerDay: ${spent.toFixed(4)} of ${perDay} US dollars are spent today`, {
    hint: "raise limits.costPerDay, or wait for tomorrow",
  });
}

function withoutHistory(why: string, cause?: unknown): OmegaError {
  return new OmegaError("HOME_NEEDED", `limits.costPerDay needs the history, and ${why}`, {
    hint: "give OMEGA_HOME a writable folder",
    cause,
  });
}
