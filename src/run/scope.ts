// What all of a run shares, however many skills and agents it leads to.

import type { RunEvent } from "../events.ts";
import type { Playing } from "../manifest/resolve.ts";
import type { Children } from "../processes/children.ts";
import type { Audit } from "../records/audit.ts";
import type { RunRecord } from "../records/record.ts";
import type { Secrets } from "../redact.ts";
import type { Keep } from "../tools/cut.ts";
import type { RunDeck } from "./deck.ts";
import type { Tally } from "./envelope.ts";
import type { PermissionFlags } from "./rules.ts";

/** Sub-agents and sub-skills of one run, at whatever depth. */
const MAX_AGENTS = 100;

export type Scope = {
  run: string;
  flags: PermissionFlags;
  hurry: AbortSignal;
  tally: Tally;
  children: Children;
  record: RunRecord;
  /** Absent where nothing is really done. */
  audit: Audit | undefined;
  secrets: Secrets;
  /** Where the run is recorded, and what it is played from. */
  deck: RunDeck;
  /** What a sub-skill is resolved with, as the run itself was. */
  resolving: { now: Date; played: Playing | undefined };
  /** Keeps an output that the model may want to read again. */
  keep: Keep;
  hasKept(): boolean;
  /** The next sub-agent or sub-skill; undefined if there were too many. */
  nextAgent(above: string | undefined): string | undefined;
  emit(event: RunEvent): void;
  warn(message: string): void;
};

export function keeper(keepOutput: Scope["keep"]): Pick<Scope, "keep" | "hasKept"> {
  let hasKept = false;
  return {
    keep(text) {
      const id = keepOutput(text);
      hasKept ||= id !== undefined;
      return id;
    },
    hasKept: () => hasKept,
  };
}

/** `1`, `2`, and within the first `1.1`: whatever the others do meanwhile, the numbers of one are its own. */
export function agentCounter(): Scope["nextAgent"] {
  const counts = new Map<string | undefined, number>();
  let all = 0;
  return (above) => {
    if (all++ >= MAX_AGENTS) return undefined;
    const count = (counts.get(above) ?? 0) + 1;
    counts.set(above, count);
    return above === undefined ? String(count) : `${above}.${count}`;
  };
}
