// `.mcp.json`, as Claude Code, Cursor and VS Code write it: `mcpServers` or `servers` by name; fields we do not know are
// theirs. The project's file wins over the user's, name by name. Nothing in it starts unless a skill inherits it.

import { existsSync } from "node:fs";
import { join } from "node:path";
import * as v from "valibot";
import { OmegaError } from "../errors.ts";
import { didYouMean } from "../nearest.ts";
import { type Fields, isOfSecrets, isValues, type Path, parseFields } from "./document.ts";
import { readSource } from "./files.ts";
import { invalid, type Source } from "./problem.ts";
import { unlike } from "./units.ts";

const scalar = v.pipe(v.union([v.string(), v.number(), v.boolean()]), v.transform(String));

const Entry = v.object({
  command: v.optional(v.string()),
  args: v.optional(v.array(scalar), []),
  env: v.optional(v.record(v.string(), v.nullable(scalar)), {}),
  cwd: v.optional(v.string()),
  url: v.optional(v.string()),
});

export type Inheritable = {
  file: string;
  folder: string;
  fields: Fields;
  path: Path;
  entry: v.InferOutput<typeof Entry>;
};
type McpFile = { file: string; folder: string; fields: Fields };

export type McpFiles = {
  find(name: string): Inheritable;
  /** Every name once, and the file that gives it. */
  list(): { name: string; file: string }[];
  warnings: readonly string[];
};

export async function openMcpFiles(project: string, home: string | undefined): Promise<McpFiles> {
  const files: McpFile[] = [];
  const broken: string[] = [];
  for (const folder of new Set([project, ...(home === undefined ? [] : [home])])) {
    const file = join(folder, ".mcp.json");
    try {
      const found = readIfThere(file);
      if (found) files.push({ file, folder, fields: parseFields(found) });
    } catch (error) {
      if (!(error instanceof OmegaError)) throw error;
      broken.push(error.message);
    }
  }
  return {
    warnings: broken.map((message) => `a broken .mcp.json was passed over: ${message}`),
    list() {
      const fileOf = new Map<string, string>();
      for (const { file, fields } of files) {
        for (const name of namesIn(fields)) fileOf.set(name, fileOf.get(name) ?? file);
      }
      return [...fileOf].map(([name, file]) => ({ name, file }));
    },
    find(name) {
      for (const file of files) {
        for (const key of ["mcpServers", "servers"]) {
          const servers = file.fields.values[key];
          if (isValues(servers) && Object.hasOwn(servers, name)) return inheritable(file, [key, name], servers[name]);
        }
      }
      if (broken.length > 0) throw new OmegaError("MANIFEST_INVALID", broken.join("\n"));
      const known = files.flatMap(({ fields }) => namesIn(fields));
      throw new OmegaError("MANIFEST_INVALID", `no server "${name}" to inherit${didYouMean(name, known)}`, {
        hint:
          files.length === 0
            ? `there is no .mcp.json in ${project}${home ? ` or ${home}` : ""}`
            : `${files.map(({ file }) => file).join(" and ")} has: ${known.join(", ") || "none"}`,
      });
    },
  };
}

function readIfThere(file: string): Source | undefined {
  return existsSync(file) ? readSource(file) : undefined;
}

function namesIn({ values }: Fields): string[] {
  return [values["mcpServers"], values["servers"]].flatMap((servers) =>
    isValues(servers) ? Object.keys(servers) : [],
  );
}

function inheritable({ file, folder, fields }: McpFile, path: Path, value: unknown): Inheritable {
  const result = v.safeParse(Entry, value);
  if (result.success) return { file, folder, fields, path, entry: result.output };
  throw invalid(
    result.issues.map((issue) => {
      const at = [...path, ...(issue.path ?? []).map(({ key }) => String(key))];
      const hidden = isOfSecrets(at);
      const expected = issue.expected ?? "another value";
      const said = hidden ? `expected ${expected}` : unlike(expected, issue.input);
      return { ...fields.locate(at), message: `${at.join(".")}: ${said}`, hidden };
    }),
  );
}
