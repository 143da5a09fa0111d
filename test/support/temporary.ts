import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

/** A folder with these files, gone when the test ends: `using folder = temporaryFolder({ "skill.yaml": "…" })`. */
export function temporaryFolder(
  files: Record<string, string> = {},
): { path: string; file(name: string): string } & Disposable {
  const path = mkdtempSync(join(tmpdir(), "omega-test-"));
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(path, name)), { recursive: true });
    writeFileSync(join(path, name), content);
  }
  return {
    path,
    file: (name) => join(path, name),
    [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }),
  };
}
