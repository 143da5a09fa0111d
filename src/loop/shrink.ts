// A conversation that is longer than the model's context: its oldest large outputs are put aside, to be read again if wanted.

import { type Message, textOf } from "../conversation.ts";
import { plain } from "../terminal.ts";
import type { Keep } from "../tools/cut.ts";

const LARGE = 2_000;

/** Puts aside at least half of the text there is, if it can; says how many characters that were. */
export function shrink(messages: Message[], keep: Keep): number {
  const sizes = messages.map(sizeOf);
  const goal = sizes.reduce((sum, size) => sum + size, 0) / 2;
  let freed = 0;
  for (const [index, message] of messages.entries()) {
    if (freed >= goal) break;
    const size = sizes[index] ?? 0;
    if (message.role !== "tool" || size <= LARGE) continue;
    const id = keep(plain(textOf(message.result.content)));
    const where = id === undefined ? "call the tool again if you need it" : `ReadToolOutput {"id":"${id}"} opens it`;
    const text = `[an output of ${size} characters, put aside to make room; ${where}]`;
    messages[index] = { ...message, result: { ...message.result, content: [{ type: "text", text }] } };
    freed += size;
  }
  return freed;
}

function sizeOf(message: Message): number {
  const content = message.role === "tool" ? message.result.content : message.content;
  return content.reduce(
    (sum, part) => sum + (part.type === "text" ? part.text.length : JSON.stringify(part).length),
    0,
  );
}
