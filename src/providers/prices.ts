// What an answer cost. A model that the table does not know has no price: its cost is unknown, never 0.

import type { Usage } from "../conversation.ts";
import type { Amounts } from "./price-table.ts";

/** US dollars per million tokens. */
export type Price = {
  input: number;
  output: number;
  cacheRead?: number | undefined;
  cacheWrite?: number | undefined;
};

/** `own` is what the manifest says; it holds for every size of request. */
export async function costOf(model: string, usage: Usage, own?: Price): Promise<number | undefined> {
  const size = usage.input + usage.cacheRead + usage.cacheWrite;
  const price = own ?? (await findPrice(model, size));
  if (!price) return undefined;
  const { input, output, cacheRead = input, cacheWrite = input } = price;
  const sum = usage.input * input + usage.output * output + usage.cacheRead * cacheRead + usage.cacheWrite * cacheWrite;
  return sum / 1_000_000;
}

/** The price of `provider/name` for a request of this many tokens. */
export async function findPrice(model: string, size = 0): Promise<Price | undefined> {
  const { priceTable } = await import("./price-table.ts");
  const [provider = "", name = ""] = model.split(/\/(.*)/s);
  const rows = priceTable[provider === "openai-chat" ? "openai" : provider] ?? [];
  const row = rows.find(([pattern]) => new RegExp(pattern).test(name));
  if (!row) return undefined;
  const [, base, ...tiers] = row;
  const [, ...above] = tiers.findLast(([over]) => size > over) ?? [0, ...base];
  return toPrice(above);
}

function toPrice([input, output, cacheRead, cacheWrite]: Amounts): Price {
  return { input, output, cacheRead: cacheRead ?? undefined, cacheWrite: cacheWrite ?? undefined };
}
