// The bodies we would send for the conversations of recorded real requests, beside those requests, which their providers
// answered. Each kind of difference is listed with its reason.

import { describe, expect, test } from "bun:test";
import type { Call, Message, ModelRequest, Text } from "../../src/conversation.ts";
import { anthropic } from "../../src/providers/anthropic.ts";
import { gemini } from "../../src/providers/gemini.ts";
import { openaiChat } from "../../src/providers/openai-chat.ts";
import { openaiResponses } from "../../src/providers/openai-responses.ts";
import { differences, unexplained } from "../support/compare.ts";
import { recordings } from "../support/recordings.ts";

const label = "x/m";
const text = (value: string): Text => ({ type: "text", text: value });
const result = (content: any, isError = false) => ({ content, isError });
const tool = (name: string, description: string, inputSchema: object) => ({
  name,
  origin: name,
  description,
  inputSchema,
});
const assistant = (blocks: object[], calls: Call[] = []): Message => ({
  role: "assistant",
  content: calls,
  raw: { by: label, blocks },
});

type Explained = [RegExp, string][];
const everywhere: Explained = [
  [/^stream$/, "we always stream; some recordings do not"],
  [/^tool_choice$/, "we never force a tool; auto is the default"],
  [/^(temperature|max_tokens|max_completion_tokens|max_output_tokens)$/, "a setting of that run"],
];

const wires: Record<
  string,
  { wire: any; read(body: any): ModelRequest; skip(body: any): boolean; explained: Explained }
> = {
  anthropic: {
    wire: anthropic,
    skip: (body) =>
      JSON.stringify(body.tools ?? []).includes("code_execution") || JSON.stringify(body).includes("file_id"),
    read: (body) => ({
      ...(body.system && { system: body.system[0].text }),
      messages: body.messages.flatMap(({ role, content }: any): Message[] =>
        role === "assistant"
          ? [assistant(content)]
          : content.map(
              (block: any): Message =>
                block.type === "tool_result"
                  ? { role: "tool", callId: block.tool_use_id, result: result(block.content, block.is_error) }
                  : {
                      role: "user",
                      content: [
                        block.type === "image"
                          ? { type: "image", mimeType: block.source.media_type, data: block.source.data }
                          : text(block.text),
                      ],
                    },
            ),
      ),
      tools: (body.tools ?? []).map((each: any) => tool(each.name, each.description, each.input_schema)),
    }),
    explained: [
      [/cache_control/, "we mark tools, system and history for the cache"],
      [/^(thinking|output_config)/, "a setting of that run"],
    ],
  },
  "openai-chat": {
    wire: openaiChat,
    skip: (body) =>
      JSON.stringify(body).includes("prompt_cache_breakpoint") ||
      !body.messages.every((message: any) => typeof (message.content ?? "") === "string"),
    read: (body) => ({
      messages: body.messages.filter(({ role }: any) => role !== "system").map(readChat),
      ...(body.messages[0].role === "system" && { system: body.messages[0].content }),
      tools: (body.tools ?? []).map(({ function: each }: any) => tool(each.name, each.description, each.parameters)),
    }),
    explained: [
      [/\.strict$/, "MCP schemas seldom are strict, and compatible servers do not know the field"],
      [/^stream_options/, "goes with stream; some servers and recordings leave it out"],
      [/^messages\.\d+\.content$/, "null, absent or empty beside calls: all taken alike"],
      [/parameters\.properties$/, "an object without properties gets an empty list of them"],
      [/^(reasoning|reasoning_effort|thinking|response_format|provider|usage|n)\b/, "a setting of that run"],
      [/^messages\.\d+\.(reasoning|reasoning_content)$/, "this conversation was not this model's own"],
    ],
  },
  openai: {
    wire: openaiResponses,
    skip: (body) =>
      JSON.stringify(body.tools ?? []).includes("web_search") || JSON.stringify(body.input).includes("file_id"),
    read: (body) => ({
      ...(body.instructions && { system: body.instructions }),
      messages: readItems(body.input),
      tools: (body.tools ?? []).map((each: any) => tool(each.name, each.description, each.parameters)),
    }),
    explained: [
      [/^(store|include)/, "we store nothing at the provider and carry reasoning ourselves; some recordings do not"],
      [/\.strict$/, "MCP schemas seldom are strict"],
      [/^input\.\d+\.content/, "a text alone and a list with one text mean the same"],
      [/^input\.\d+\.id$/, "ids of what is not stored mean nothing"],
    ],
  },
  google: {
    wire: gemini,
    skip: (body) =>
      !/functionDeclarations|generationConfig/.test(JSON.stringify(body)) ||
      /MASSIVE_TEXT|function_response|fileData|file_data|urlContext/.test(JSON.stringify(body)),
    read: (body) => ({
      ...(body.systemInstruction && { system: body.systemInstruction.parts[0].text }),
      messages: readContents(body.contents),
      tools: (body.tools?.[0]?.functionDeclarations ?? []).map((each: any) =>
        tool(each.name, each.description, each.parametersJsonSchema ?? each.parameters_json_schema ?? each.parameters),
      ),
    }),
    explained: [
      [/^(generationConfig|toolConfig|modelArmorConfig)/, "a setting of that run"],
      [/^systemInstruction\.role$/, "the role of a system instruction is not looked at"],
      [
        /(parameters|parametersJsonSchema|parameters_json_schema)(\.|$)/,
        "we send JSON Schema in its own field, and nothing for a tool without parameters",
      ],
      [/functionResponse\.response/, "the shape inside a response is the sender's: we say output or error"],
      [/^contents\.0(\.parts|$)/, "an empty text is left out"],
    ],
  },
};

function readChat({ role, content, tool_calls, tool_call_id }: any): Message {
  if (role === "tool") return { role: "tool", callId: tool_call_id, result: result([text(content)]) };
  if (role === "user") return { role: "user", content: [text(content)] };
  const calls = (tool_calls ?? []).map(
    (each: any): Call => ({ type: "call", id: each.id, name: each.function.name, arguments: each.function.arguments }),
  );
  return { role: "assistant", content: [...(content ? [text(content)] : []), ...calls] };
}

/** Neighbouring items of the model are one answer. */
function readItems(items: any[]): Message[] {
  const messages: Message[] = [];
  for (const item of items) {
    const last = messages.at(-1);
    if (item.type === "function_call_output")
      messages.push({ role: "tool", callId: item.call_id, result: result([text(item.output)]) });
    else if (item.role === "user") messages.push({ role: "user", content: [text(item.content)] });
    else if (last?.role === "assistant" && last.raw) last.raw = { by: label, blocks: [...last.raw.blocks, item] };
    else messages.push(assistant([item]));
  }
  return messages;
}

function readContents(contents: any[]): Message[] {
  let ids: string[] = [];
  return contents.flatMap(({ role, parts }: any, turn): Message[] => {
    if (role === "model") {
      const calls = parts
        .filter((part: any) => part.functionCall)
        .map(
          (part: any, index: number): Call => ({
            type: "call",
            id: part.functionCall.id ?? `${turn}-${index}`,
            name: part.functionCall.name,
            arguments: JSON.stringify(part.functionCall.args),
          }),
        );
      ids = calls.map(({ id }: Call) => id);
      return [assistant(parts, calls)];
    }
    return parts.map(
      (part: any, index: number): Message =>
        part.functionResponse
          ? { role: "tool", callId: ids[index] ?? "", result: result([text("x")]) }
          : { role: "user", content: [text(part.text)] },
    );
  });
}

describe("what we would send, beside what a provider took:", () => {
  for (const { file, provider, request, status } of recordings()) {
    const wire = wires[provider];
    if (!request || status !== 200 || !wire || wire.skip(request.body)) continue;
    test(file, () => {
      const { model } = request.body;
      const asked = wire.read(request.body);
      const tools = asked.tools.map((each) => ({ ...each, inputSchema: wire.wire.fit(each.inputSchema).schema }));
      const body = wire.wire.toBody(
        { ...asked, tools },
        { model, label, dropped: new Set(), quirks: { handBack: ["reasoning_details"] } },
      );
      const found = differences(JSON.parse(JSON.stringify(body)), request.body);
      expect(unexplained(found, [...everywhere, ...wire.explained])).toEqual([]);
    });
  }
});
