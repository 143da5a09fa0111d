import { defineCommand } from "citty";
import { OmegaError } from "../errors.ts";
import { didYouMean } from "../nearest.ts";
import { type Listing, listProviders } from "../providers/list.ts";
import { presets } from "../providers/presets.ts";
import { plain } from "../terminal.ts";
import type { Lifetime } from "./lifetime.ts";

const SHOWN = 10;

export default defineCommand({
  meta: { name: "models", description: "List the providers, which of them have a key, and the models they offer" },
  args: {
    provider: { type: "positional", required: false, description: "only this one, with all of its models" },
    json: { type: "boolean", description: "print JSON" },
  },
  async run({ args, data }) {
    const { signal }: Lifetime = data;
    checkNames(args._);
    const listings = await listProviders(args._, process.env, signal);
    const shown = args._.length > 0 ? Number.POSITIVE_INFINITY : SHOWN;
    const out = args.json
      ? JSON.stringify(listings, null, 2)
      : listings.map((each) => describe(each, shown)).join("\n");
    process.stdout.write(`${out}\n`);
    return 0;
  },
});

function checkNames(names: readonly string[]): void {
  const known = Object.keys(presets);
  const unknown = names.find((name) => !known.includes(name));
  if (unknown === undefined) return;
  throw new OmegaError("USAGE", `no provider "${unknown}"${didYouMean(unknown, known)}`, { hint: known.join(", ") });
}

function describe({ provider, key, needsKey, variables, url, models, problem }: Listing, shown: number): string {
  const without = needsKey ? `no key (${variables.join(" or ")})` : "needs no key";
  const words = [key === null ? without : `key from ${key}`, url, models === null && problem]
    .filter(Boolean)
    .join(", ");
  const names = (models ?? []).slice(0, shown).map((model) => `  ${provider}/${plain(model)}`);
  const rest = (models?.length ?? 0) - names.length;
  return [
    `${provider}: ${plain(words)}`,
    ...names,
    ...(rest > 0 ? [`  … and ${rest} more: omega models ${provider}`] : []),
  ].join("\n");
}
