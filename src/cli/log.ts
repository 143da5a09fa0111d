// The one logger: everything that is not an answer goes to stderr through it, a plain line each.

import { type ConsolaInstance, createConsola } from "consola/basic";

const levels = { quiet: 1, normal: 3, verbose: 4 };

const labels: Record<string, string> = { error: "\x1b[31merror\x1b[39m: ", warn: "\x1b[33mwarning\x1b[39m: " };

/** Whether stderr is a terminal on which lines can be drawn again, and somebody is likely to look at it. */
export function isAnimated(): boolean {
  return isColoured() && process.env["TERM"] !== "dumb" && process.stderr.columns > 0;
}

function isColoured(): boolean {
  return process.stderr.isTTY && !process.env["NO_COLOR"] && !process.env["CI"];
}

export function createLog(level: keyof typeof levels): ConsolaInstance {
  const colour = isColoured();
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
