// What was cut from a result is kept on disk, and read from there page by page.

import { errorResult } from "../../conversation.ts";
import { type BuiltIn, define, textResult } from "./built-in.ts";

export type Page = { text: string; total: number; next: number | undefined };
export type ReadPage = (id: string, offset: number, length: number) => Page | undefined;

/** Bytes for the words on where a page ends: with them it must not be too long itself, or it would be cut and kept anew. */
const ROOM = 64;

export function readToolOutput(readPage: ReadPage, isOffered: () => boolean, maxOutput: number): BuiltIn {
  const maxBytes = Math.max(1, maxOutput - ROOM);
  return {
    definition: define(
      "ReadToolOutput",
      "Read on in the output of a tool that was cut, by the id that stands where it was cut.",
      {
        id: { type: "string" },
        offset: { type: "integer", minimum: 0, description: "the byte to begin at; default 0" },
        length: { type: "integer", minimum: 1, maximum: maxBytes, description: `bytes; default ${maxBytes}` },
      },
      ["id"],
    ),
    isOffered,
    async call({ id, offset = 0, length = maxBytes }) {
      const page = readPage(String(id), Number(offset), Math.min(Number(length), maxBytes));
      if (!page) return errorResult(`there is no kept output ${JSON.stringify(id)}`);
      const { text, total, next } = page;
      const where = next === undefined ? `the end of ${total} bytes` : `${total - next} bytes follow: offset ${next}`;
      return textResult(`${text}\n[${where}]`);
    },
  };
}
