// The answer to tools/call → what the model reads. Text blocks are joined by line feeds; what is no text is passed on where
// a model can see it, and named where it cannot. Nothing in an answer can make this fail.

import { errorResult, type Image, type Text, type ToolResult } from "../conversation.ts";
import { isObject } from "../mcp/json-rpc.ts";

const MAX_BLOCKS = 10_000;

export function parseToolResult(answer: unknown): ToolResult {
  if (answer === null || answer === undefined) return errorResult("the tool answered nothing");
  if (!isObject(answer)) return { content: [text(JSON.stringify(answer))], isError: false };
  const isError = answer["isError"] === true;
  const { content, structuredContent } = answer;
  if (Array.isArray(content) && content.length > 0) return { content: joinText(parseBlocks(content)), isError };
  if (structuredContent !== undefined) return { content: [text(JSON.stringify(structuredContent))], isError };
  if (Array.isArray(content)) return { content: [], isError };
  // A bare server answers with a plain object.
  return { content: [text(JSON.stringify(answer))], isError };
}

function parseBlocks(blocks: readonly unknown[]): (Text | Image)[] {
  const parsed = blocks.slice(0, MAX_BLOCKS).map(parseBlock);
  const left = blocks.length - parsed.length;
  return left > 0 ? [...parsed, text(`[${left} more blocks left out]`)] : parsed;
}

function parseBlock(block: unknown): Text | Image {
  if (!isObject(block)) return text(`[not a content block: ${JSON.stringify(block)}]`);
  const { type, data, mimeType, uri, resource } = block;
  if (typeof block["text"] === "string") return text(block["text"]);
  if (type === "image" && typeof data === "string" && typeof mimeType === "string") return { type, data, mimeType };
  if (type === "resource" && isObject(resource)) return parseResource(resource);
  if (type === "resource_link") return text(`[resource ${word(block["name"])} at ${word(uri)}]`);
  if (typeof data === "string") return text(`[${word(type)} ${word(mimeType)}, ${data.length} characters of base64]`);
  return text(`[content of type ${JSON.stringify(type) ?? "unknown"} that cannot be shown]`);
}

function parseResource(resource: Record<string, unknown>): Text {
  const uri = word(resource["uri"]);
  if (typeof resource["text"] === "string") return text(resource["text"]);
  const size = typeof resource["blob"] === "string" ? resource["blob"].length : 0;
  return text(`[resource ${uri} ${word(resource["mimeType"])}, ${size} characters of base64]`);
}

/** String() would throw on an object that hides its toString. */
function word(value: unknown): string {
  return typeof value === "string" ? value : (JSON.stringify(value) ?? "");
}

function joinText(blocks: (Text | Image)[]): (Text | Image)[] {
  const joined: (Text | Image)[] = [];
  for (const block of blocks) {
    const last = joined.at(-1);
    if (block.type === "text" && last?.type === "text") joined[joined.length - 1] = text(`${last.text}\n${block.text}`);
    else joined.push(block);
  }
  return joined;
}

function text(value: string): Text {
  return { type: "text", text: value };
}
