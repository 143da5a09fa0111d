import { type ArgsDef, defineCommand } from "citty";
import { OmegaError } from "../errors.ts";
import { didYouMean } from "../nearest.ts";
import { type Described, isShell, scripts } from "./completion-scripts.ts";
import type { Commands } from "./help.ts";

const shells = Object.keys(scripts);

export default defineCommand({
  meta: { name: "completions", description: "Print the completion script of a shell" },
  args: {
    shell: { type: "positional", required: true, description: shells.join(", ") },
  },
  async run({ args, data }) {
    if (!isShell(args.shell)) {
      throw new OmegaError("USAGE", `no completions for "${args.shell}"${didYouMean(args.shell, shells)}`, {
        hint: `there are some for ${shells.join(", ")}`,
      });
    }
    process.stdout.write(scripts[args.shell](await describeAll(data.commands)));
  },
});

async function describeAll(commands: Commands): Promise<Described[]> {
  return Promise.all(
    Object.entries(commands).map(async ([name, load]) => {
      const { meta, args } = await load();
      const { description = "" } = (typeof meta === "function" ? await meta() : await meta) ?? {};
      return { name, description, flags: describeFlags(args ?? {}) };
    }),
  );
}

function describeFlags(args: ArgsDef): Described["flags"] {
  return Object.entries(args).flatMap(([name, arg]) => {
    if (arg.type === "positional") return [];
    const takesValue = arg.type === "string" || arg.type === "enum";
    const values = arg.type === "enum" ? (arg.options ?? []) : [];
    return [{ name: `--${name}`, description: arg.description ?? "", takesValue, values }];
  });
}
