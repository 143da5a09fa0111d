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
