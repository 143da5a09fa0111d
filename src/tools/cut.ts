// What the model sees of one result: the beginning, and where the rest is kept. A picture has no beginning: one that is too
// large is named instead.

import type { ToolResult } from "../conversation.ts";
import { plain } from "../terminal.ts";

/** The largest picture that every provider takes, in characters of base64. */
const MAX_IMAGE = 5_000_000;

export type Keep = (text: string) => string | undefined;

export function cutResult(result: ToolResult, maxBytes: number, keep: Keep): ToolResult {
  let left = maxBytes;
  let isCut = false;
  const content = result.content.map((part) => {
    if (part.type === "image") {
      if (part.data.length <= MAX_IMAGE) return part;
      isCut = true;
      return { type: "text" as const, text: `[picture of type ${part.mimeType}, too large to show]` };
    }
    const size = part.text.length * 3 > left ? Buffer.byteLength(part.text) : part.text.length;
    if (size <= left) {
      left -= size;
      return part;
    }
    isCut = true;
    const text = cutText(plain(part.text), left, keep);
    left -= Math.min(left, Buffer.byteLength(text));
    return { type: "text" as const, text };
  });
  return isCut ? { ...result, content } : result;
}

/** What is kept is plain: it lies on disk, and somebody may print it. What was shown is its beginning, byte for byte. */
function cutText(text: string, maxBytes: number, keep: Keep): string {
  const size = Buffer.byteLength(text);
  if (size <= maxBytes) return text;
  const head = beginning(text, maxBytes);
  const shown = Buffer.byteLength(head);
  const id = keep(text);
  const where =
    id === undefined ? "the rest could not be kept" : `ReadToolOutput {"id":"${id}","offset":${shown}} reads on`;
  return `${head}\n[cut: the first ${shown} of ${size} bytes; ${where}]`;
}

/** At most so many bytes, no character cut in two. */
function beginning(text: string, maxBytes: number): string {
  const bytes = Buffer.from(text.slice(0, maxBytes)).subarray(0, maxBytes);
  return new TextDecoder().decode(bytes, { stream: true });
}
