import { existsSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { basename, join, resolve } from "node:path";
import { defineCommand } from "citty";
import { OmegaError, systemCode } from "../errors.ts";

export default defineCommand({
  meta: { name: "init", description: "Make a new skill that works, to be changed" },
  args: {
    name: {
      type: "positional",
      required: false,
      default: "my-skill",
      description: "the folder to make; default my-skill",
    },
  },
  async run({ args }) {
    const folder = resolve(args.name);
    const name = basename(folder);
    if (!/^[a-z0-9-]{1,64}$/.test(name)) {
      throw new OmegaError("USAGE", `a skill's name is at most 64 of a-z, 0-9 and -, not "${name}"`);
    }
    await mkdir(folder, { recursive: true }).catch((error: unknown) => {
      throw new OmegaError("USAGE", `cannot make ${folder} (${systemCode(error)})`);
    });
    const { manifestJsonSchema } = await import("../manifest/json-schema.ts");
    const files = {
      "skill.yaml": manifest(name),
      "turns.yaml": turns,
      "skill.schema.json": `${JSON.stringify(manifestJsonSchema(), null, 2)}\n`,
    };
    for (const file of Object.keys(files)) refuseIfThere(join(folder, file));
    for (const [file, text] of Object.entries(files)) await writeNew(join(folder, file), text);
    process.stdout.write(
      `${Object.keys(files)
        .map((file) => join(args.name, file))
        .join("\n")}\n`,
    );
    process.stdout.write(`try it: omega run ${args.name}\n`);
  },
});

function refuseIfThere(file: string): void {
  if (!existsSync(file)) return;
  throw new OmegaError("USAGE", `${file} is there already; nothing was written`, { hint: "give another name" });
}

async function writeNew(file: string, text: string): Promise<void> {
  await writeFile(file, text, { flag: "wx" }).catch((error: unknown) => {
    throw new OmegaError("USAGE", `cannot write ${file} (${systemCode(error)})`);
  });
}

const manifest = (name: string) => `# yaml-language-server: $schema=./skill.schema.json
name: ${name}
description: Say hello.
inputs:
  who: { description: whom to greet, default: world }
model: replay/turns.yaml # a script plays the model's part; put provider/name here
# servers:
#   files:
#     command: npx
#     args: [-y, "@modelcontextprotocol/server-filesystem@2026.8.31", "{{ skill.dir }}"]
#     tools: [list_directory, read_text_file] # offered, and allowed: the manifest is the consent
instructions: You greet people in one short sentence.
prompt: Greet {{ inputs.who }}. Today is {{ today }}.
limits: { turns: 10, time: 5m }
`;

const turns = `# What the script says in place of a model: one entry for each turn.
turns:
  - text: Hello! This skill works. Put a model of yours into skill.yaml to make it think.
`;
