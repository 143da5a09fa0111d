// The one logger: everything that is not an answer goes to stderr through it, a plain line each.

import { type ConsolaInstance, createConsola } from "consola/basic";

const levels = { quiet: 1, normal: 3, verbose: 4 };

const labels: Record<string, string> = { error: "\x1b[31merror\x1b[39m: ", warn: "\x1b[33mwarning\x1b[39m: " };

export function createLog(level: keyof typeof levels): ConsolaInstance {
  const colour = process.stderr.isTTY && !process.env["NO_COLOR"] && !process.env["CI"];
  return createConsola({
    level: levels[level],
    stdout: process.stderr,
    throttle: 0,
    reporters: [
      {
        log({ type, args }) {
          const label = labels[type] ?? "";
          process.stderr.write(`${colour ? label : label.replace(/\x1b\[\d+m/g, "")}${args.join(" ")}\n`);
        },
      },
    ],
  });
}
