// citty renders; colours are its own idea of a terminal, so they are taken out unless stdout is one.

import { stripVTControlCharacters } from "node:util";
import { type CommandDef, renderUsage } from "citty";

const root = { name: "omega", description: "Runs a skill on its MCP servers and says truthfully how it went" };

// biome-ignore lint/suspicious/noExplicitAny: citty's command type is invariant in its arguments
export type Commands = Record<string, () => Promise<CommandDef<any>>>;

export async function helpText(commands: Commands, name: string | undefined): Promise<string> {
  const command = name === undefined ? undefined : await commands[name]?.();
  const usage = await (command
    ? renderUsage(command, { meta: root })
    : renderUsage({
        meta: root,
        subCommands: commands,
        args: { version: { type: "boolean", description: "print the version (with --json: how it was built)" } },
      }));
  const colour = process.stdout.isTTY && !process.env["NO_COLOR"];
  return `${colour ? usage : stripVTControlCharacters(usage)}\n`;
}
