import { existsSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { defineCommand } from "citty";
import { OmegaError, systemCode } from "../errors.ts";

export default defineCommand({
  meta: { name: "init", description: "Make a new skill that works, to be changed" },
  args: {
    name: {
      type: "positional",
      required: false,
      description: "the folder to make; default my-skill, or what --from names",
    },
    from: { type: "string", valueHint: "skill", description: "a copy of a skill that ships with omega" },
    list: { type: "boolean", description: "the skills that --from knows" },
  },
  async run({ args }) {
    const { listShipped, shippedSkill } = await import("./shipped.ts");
    if (args.list) {
      process.stdout.write(await listShipped());
      return;
    }
    const shipped = args.from === undefined ? undefined : await shippedSkill(args.from);
    const path = args.name ?? args.from ?? "my-skill";
    const folder = resolve(path);
    const name = basename(folder);
    if (!/^[a-z0-9-]{1,64}$/.test(name)) {
      throw new OmegaError("USAGE", `a skill's name is at most 64 of a-z, 0-9 and -, not "${name}"`);
    }
    const files = shipped ?? (await newSkill(name));
    for (const file of Object.keys(files)) refuseIfThere(join(folder, file));
    for (const [file, text] of Object.entries(files)) await writeNew(join(folder, file), text);
    const written = Object.keys(files).map((file) => `${join(path, file)}\n`);
    process.stdout.write(`${written.join("")}try it: omega ${shipped ? "test" : "run"} ${path}\n`);
  },
});

async function newSkill(name: string): Promise<Record<string, string>> {
  const { manifestJsonSchema } = await import("../manifest/json-schema.ts");
  return {
    "skill.yaml": manifest(name),
    "turns.yaml": turns,
    "skill.schema.json": `${JSON.stringify(manifestJsonSchema(), null, 2)}\n`,
  };
}

function refuseIfThere(file: string): void {
  if (!existsSync(file)) return;
  throw new OmegaError("USAGE", `${file} is there already; nothing was written`, { hint: "give another name" });
}

async function writeNew(file: string, text: string): Promise<void> {
  const folder = dirname(file);
  await mkdir(folder, { recursive: true }).catch((error: unknown) => {
    throw new OmegaError("USAGE", `cannot make ${folder} (${systemCode(error)})`);
  });
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
