// A server that is recorded, or played from a cassette in place of one that runs.

import type { Player } from "../cassette/player.ts";
import type { Recorder } from "../cassette/recorder.ts";
import type { Server } from "../manifest/skill.ts";
import { type Link, type LinkOptions, openStdio } from "./stdio.ts";

/** `prefix`: before a server's name, so that those of sub-skills are told apart. */
export type Deck = { recorder: Recorder; player: Player | undefined; prefix: string };

/** Progress and log lines change nothing in a run. */
const passing = ["notifications/progress", "notifications/message"];

export async function onDeck({ recorder, player, prefix }: Deck, server: Server, options: LinkOptions): Promise<Link> {
  const name = prefix + server.name;
  const heard: LinkOptions = {
    ...options,
    onNotification(method, params) {
      if (!passing.includes(method)) recorder.notified(name, method, params);
      options.onNotification?.(method, params);
    },
  };
  try {
    const link = player
      ? player.link(name, (method, params) => heard.onNotification?.(method, params))
      : await openStdio(server, heard);
    void link.exited.then((exit) => recorder.exited(name, exit));
    return { ...link, peer: recorder.peer(name, link.peer) };
  } catch (error) {
    recorder.notStarted(name, error);
    throw error;
  }
}
