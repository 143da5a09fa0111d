// `npm run bench [name …]`: compares, prints, judges nothing.

import { benchCalls } from "./calls.ts";
import { benchGrowth } from "./growth.ts";
import { benchStart } from "./start.ts";
import { benchTurns } from "./turns.ts";

const benches: Record<string, () => Promise<void>> = {
  start: benchStart,
  turns: benchTurns,
  calls: benchCalls,
  growth: benchGrowth,
};

const wanted = process.argv.slice(2);
for (const name of wanted.length > 0 ? wanted : Object.keys(benches)) {
  const bench = benches[name];
  if (!bench) throw new Error(`no bench ${name}; there are ${Object.keys(benches).join(", ")}`);
  await bench();
}
