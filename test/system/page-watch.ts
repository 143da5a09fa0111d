// The skill that watches a page, with a real browser; skipped where there is no chromium.

import { testLive } from "../skills/live.ts";
import { noChange, ticketsAgain } from "../skills/scenes/page-watch.ts";

for (const scene of [ticketsAgain, noChange]) testLive(scene);
