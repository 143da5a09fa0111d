// One run of a manifest at a time, however the one before has ended.

import { expect, test } from "bun:test";
import { symlinkSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { tryLock } from "../../src/records/lock.ts";
import { temporaryHome } from "../support/homes.ts";
import { bin } from "../support/omega.ts";
import { isAlive, until } from "../support/processes.ts";
import { fixture } from "../support/skills.ts";

const runtimes = { bun: [bin("bun")], deno: [bin("deno"), "run", "-A", "--quiet"] };

async function start(argv: readonly string[], file: string) {
  const child = Bun.spawn([...argv, fixture("holds-lock.ts"), file], { env: process.env, stdout: "pipe" });
  const { value } = await child.stdout.getReader().read();
  const [word, pid] = new TextDecoder().decode(value).trim().split(" ");
  return { child, word, kin: Number(pid) };
}

for (const [name, argv] of Object.entries(runtimes)) {
  test(`a lock held by an omega on ${name} is free once that is killed, though a child of it lives on`, async () => {
    using home = temporaryHome({ "skill.yaml": "" });
    const file = home.file("skill.yaml");
    const { child, word, kin } = await start(argv, file);
    try {
      expect(word).toBe("held");
      expect(await tryLock(file)).toBeUndefined();
      expect((await start(argv, file)).word).toBe("taken");
      child.kill("SIGKILL");
      await child.exited;
      using lock = await tryLock(file);
      expect(lock).toBeDefined();
      expect(isAlive(kin)).toBe(true);
    } finally {
      child.kill("SIGKILL");
      if (kin) process.kill(kin, "SIGKILL");
    }
    expect(await until(() => !isAlive(kin))).toBe(true);
  });
}

test("a lock is free when it is disposed, and held in the same process too", async () => {
  using home = temporaryHome({ "skill.yaml": "", "other.yaml": "" });
  const file = home.file("skill.yaml");
  {
    using lock = await tryLock(file);
    expect(lock).toBeDefined();
    expect(await tryLock(file)).toBeUndefined();
    using other = await tryLock(home.file("other.yaml"));
    expect(other).toBeDefined();
  }
  using again = await tryLock(file);
  expect(again).toBeDefined();
  for (const { isFolder, mode } of home.modes().filter(({ name }) => name.startsWith("locks/")))
    expect([isFolder, mode]).toEqual([false, 0o600]);
});

test("two names of one manifest are one lock", async () => {
  using home = temporaryHome({ "skill.yaml": "" });
  symlinkSync(home.file("skill.yaml"), home.file("link.yaml"));
  using lock = await tryLock(home.file("skill.yaml"));
  expect(lock).toBeDefined();
  expect(await tryLock(home.file("link.yaml"))).toBeUndefined();
});

test("of several that try at the same moment exactly one gets it, every time", async () => {
  using home = temporaryHome({ "skill.yaml": "" });
  for (let round = 0; round < 20; round++) {
    const locks = await Promise.all(Array.from({ length: 5 }, () => tryLock(home.file("skill.yaml"))));
    expect(locks.filter((lock) => lock !== undefined)).toHaveLength(1);
    for (const lock of locks) lock?.[Symbol.dispose]();
  }
});

test("one that stands in the way for a moment only does not keep the lock", async () => {
  using home = temporaryHome({ "skill.yaml": "" });
  const file = home.file("skill.yaml");
  (await tryLock(file))?.[Symbol.dispose]();
  // The shared lock that another attempt has for as long as it tries.
  using other = new DatabaseSync(home.file(`locks/${home.names("locks")[0]}`));
  other.exec("BEGIN; SELECT * FROM sqlite_master");
  const trying = tryLock(file);
  await Bun.sleep(1);
  other.exec("COMMIT");
  using lock = await trying;
  expect(lock).toBeDefined();
});

test("where no lock can be kept that is an error, not a lock", async () => {
  using home = temporaryHome({ "skill.yaml": "", locks: "a file" });
  await expect(tryLock(home.file("skill.yaml"))).rejects.toThrow("ENOTDIR");
});
