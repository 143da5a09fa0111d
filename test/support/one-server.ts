// One server in a skill of its own, and omega on it.

import { omega, type Result } from "./omega.ts";
import { aliveWith, until } from "./processes.ts";
import { fixtureServer, manifest } from "./skills.ts";
import { temporaryFolder } from "./temporary.ts";

export type OneServer = Result & { alive: number[]; json: any };

/** `omega COMMAND SKILL words…` on a skill whose only server, `s`, is this fixture; says what it left alive. */
export async function onServer(
  server: string | { command: string; args?: string[]; env?: object },
  words: readonly string[],
  more: { server?: object; env?: Record<string, string>; home?: string; input?: string; turns?: object[] } = {},
): Promise<OneServer> {
  const marker = crypto.randomUUID();
  const { env, ...declared }: any = {
    ...(typeof server === "string" ? fixtureServer(server) : server),
    startupTimeout: "20s",
    ...more.server,
  };
  using folder = temporaryFolder({
    "skill.yaml": manifest({ s: { ...declared, env: { ...env, MARKER: marker } } }, { model: "replay/turns.yaml" }),
    "turns.yaml": JSON.stringify({ turns: more.turns ?? [] }),
  });
  const [command = "", ...rest] = words;
  const result = await omega([command, folder.path, ...rest], {
    env: { OMEGA_HOME: more.home ?? folder.file("home"), ...more.env },
    ...(more.input !== undefined && { input: more.input }),
    timeoutMs: 50_000,
  });
  await until(() => aliveWith(marker).length === 0, 300);
  return { ...result, alive: aliveWith(marker), json: parsed(result.stdout) };
}

function parsed(text: string): any {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
