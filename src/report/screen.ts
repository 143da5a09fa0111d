// What people look at while a run goes on: plain lines, or a live view.

import type { RunEvent } from "../events.ts";
import type { Ended } from "./ended.ts";

export type Screen = {
  event(event: RunEvent): void;
  end(envelope: Ended): void;
  /** Something that is for stdout: if that is the same terminal, the two must not get in each other's way. */
  aside(write: () => void): void;
  /** Nothing is shown until `release`: somebody is asked something. */
  hold(): void;
  release(): void;
} & Disposable;
