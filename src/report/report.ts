// Events → text for people or JSON for programs. stdout carries the answer or the JSON and nothing else.

import type { RunEvent } from "../events.ts";
import { jsonLine, jsonText, plain } from "../terminal.ts";
import type { Ended } from "./ended.ts";
import type { Screen } from "./screen.ts";

export const formats = ["text", "json", "stream-json"] as const;
export type Format = (typeof formats)[number];

export type Reporter = { event(event: RunEvent): void; end(envelope: Ended): void };

export function createReporter(format: Format, screen: Screen, stdout: (text: string) => void): Reporter {
  const event = {
    text(event: RunEvent) {
      screen.event(event);
      const isAnswer = event.type === "answer" && event.isGood && event.agent === undefined;
      if (isAnswer) screen.aside(() => stdout(`${plain(answerText(event))}\n`));
    },
    json: screen.event,
    "stream-json": (event: RunEvent) => stdout(`${jsonLine(event)}\n`),
  }[format];
  return {
    event,
    end(envelope) {
      screen.end(envelope);
      if (format === "json") stdout(`${jsonText(envelope)}\n`);
      if (format === "stream-json") stdout(`${jsonLine({ type: "end", ...envelope })}\n`);
    },
  };
}

/** What is printed: data where there is any, else the text. */
function answerText({ text, output }: { text: string; output?: unknown }): string {
  return output === undefined ? text : JSON.stringify(output, null, 2);
}
