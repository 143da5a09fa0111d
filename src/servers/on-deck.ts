// A server that is recorded, or played from a cassette in place of one that runs.

import type { Player } from "../cassette/player.ts";
import type { Recorder } from "../cassette/recorder.ts";
import type { Server } from "../manifest/skill.ts";
import { type Link, type LinkOptions, openStdio } from "./stdio.ts";

/** `prefix`: before a server's name, so that those of sub-skills are told apart. */
export type Deck = { recorder: Recorder; player: Player | undefined; prefix: string };

/** What a server says by itself changes a run only by this; and not without end. */
const HEEDED = "notifications/tools/list_changed";
const MAX_NOTED = 100;

export async function onDeck(
  { recorder, player, prefix }: Deck,
  server: Server,
  options: LinkOptions,
  signal: AbortSignal,
): Promise<Link> {
  const name = prefix + server.name;
  let noted = 0;
  const onNotification: NonNullable<LinkOptions["onNotification"]> = (method, params) => {
    if (method === HEEDED && noted++ < MAX_NOTED) recorder.notified(name, method, params);
    options.onNotification?.(method, params);
  };
  try {
    const link = player
      ? await player.link(name, onNotification, signal)
      : await openStdio(server, { ...options, onNotification });
    let isEnding = false;
    void link.exited.then((exit) => recorder.exited(name, exit));
    void link.gone.then((reason) => {
      if (!isEnding) recorder.lost(name, reason);
    });
    return {
      ...link,
      peer: recorder.peer(name, link.peer),
      hint() {
        const hint = link.hint();
        recorder.hinted(name, hint);
        return hint;
      },
      end(hangs) {
        isEnding = true;
        return link.end(hangs);
      },
    };
  } catch (error) {
    recorder.notStarted(name, error);
    throw error;
  }
}
