import { existsSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { call, type Scene } from "../scene.ts";

const chromium = process.env["CHROMIUM"] ?? "/usr/bin/chromium";
export const needsChromium = { what: "chromium", isThere: () => existsSync(chromium) };

const url = "http://theatre.example/heron";
const page = (rows: string) =>
  `<!doctype html><title>The Heron</title><h1>The Heron</h1><p>A play in two acts.</p><table>${rows}</table><p>You are visitor 48,211.</p>`;
const evening = (day: string, tickets: string) => `<tr><td>${day}</td><td>${tickets}</td></tr>`;

/** The browser's proxy stands for the whole web: every address is this page. */
async function servePage(html: string) {
  const server = createServer((_, response) => response.setHeader("content-type", "text/html").end(html));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    env: {
      CHROMIUM: chromium,
      CHROMIUM_SANDBOX: String(process.getuid?.() !== 0),
      http_proxy: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      no_proxy: "127.0.0.1",
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const before = {
  url,
  facts: ["The Heron is a play in two acts.", "20 November: sold out.", "21 November: 14 tickets left."],
  changes: ["First look at the page."],
};
const files = { "page.json": `${JSON.stringify(before, null, 2)}\n` };
const words = ["--input", `url=${url}`, "--input", "watch=which evenings have tickets"];

const look = (work: string) => [
  {
    text: "First what was seen last time, and the page.",
    calls: [call("files/read_text_file", { path: `${work}/page.json` }), call("browser/browser_navigate", { url })],
  },
  { calls: [call("browser/browser_snapshot")] },
];

export const ticketsAgain: Scene = {
  skill: "page-watch",
  name: "tickets-again",
  needs: needsChromium,
  files,
  beside: () => servePage(page(evening("20 November", "9 tickets left") + evening("21 November", "14 tickets left"))),
  words,
  outcome: "done",
  turns: (work) => [
    ...look(work),
    {
      calls: [
        {
          name: "finish",
          arguments: {
            status: "done",
            summary: "There are tickets for 20 November again: 9.",
            output: {
              url,
              facts: [
                "The Heron is a play in two acts.",
                "20 November: 9 tickets left.",
                "21 November: 14 tickets left.",
              ],
              changes: ["20 November was sold out; now 9 tickets are left."],
            },
          },
        },
      ],
    },
  ],
};

export const noChange: Scene = {
  skill: "page-watch",
  name: "no-change",
  needs: needsChromium,
  files,
  beside: () => servePage(page(evening("20 November", "sold out") + evening("21 November", "14 tickets left"))),
  words,
  outcome: "nothing-to-do",
  turns: (work) => [
    ...look(work),
    {
      calls: [
        {
          name: "finish",
          arguments: { status: "nothing-to-do", summary: "Only the count of visitors is another." },
        },
      ],
    },
  ],
};
