// The floor: the least code that does the same ten turns. Raw pipes, fetch, no check of anything; the same polite
// shutdown. `floor BASE_URL COMMAND ARGS…` prints the answer.

import { spawn } from "node:child_process";

const [baseUrl = "", command = "", ...args] = process.argv.slice(2);
const server = spawn(command, args, { stdio: ["pipe", "pipe", "ignore"], detached: true });
const waiting = new Map<number, (result: any) => void>();
let rest = "";
let lastId = 0;
server.stdout.setEncoding("utf8").on("data", (text: string) => {
  const lines = (rest + text).split("\n");
  rest = lines.pop() ?? "";
  for (const line of lines) {
    const message = JSON.parse(line);
    waiting.get(message.id)?.(message.result);
  }
});

const write = (message: object) => server.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);

function request(method: string, params: object): Promise<any> {
  const id = ++lastId;
  write({ id, method, params });
  return new Promise((resolve) => waiting.set(id, resolve));
}

await request("initialize", {
  protocolVersion: "2025-11-25",
  capabilities: {},
  clientInfo: { name: "floor", version: "1" },
});
write({ method: "notifications/initialized" });
const { tools } = await request("tools/list", {});

const messages: object[] = [{ role: "user", content: "Work." }];
while (true) {
  const response = await fetch(`${baseUrl}/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({
      model: "m",
      stream: true,
      messages,
      tools: tools.map((tool: any) => ({
        type: "function",
        function: { name: tool.name, description: tool.description, parameters: tool.inputSchema },
      })),
    }),
  });
  const calls: any[] = [];
  let text = "";
  let tail = "";
  const decoder = new TextDecoder();
  for await (const chunk of response.body ?? []) {
    const events = (tail + decoder.decode(chunk, { stream: true })).split("\n\n");
    tail = events.pop() ?? "";
    for (const event of events) {
      if (event === "data: [DONE]") continue;
      const delta = JSON.parse(event.slice(6)).choices[0]?.delta;
      text += delta?.content ?? "";
      for (const part of delta?.tool_calls ?? []) {
        calls[part.index] ??= { id: part.id, type: "function", function: { name: part.function.name, arguments: "" } };
        calls[part.index].function.arguments += part.function.arguments ?? "";
      }
    }
  }
  if (calls.length === 0) {
    console.log(text);
    break;
  }
  messages.push({ role: "assistant", content: text || null, tool_calls: calls });
  const results = await Promise.all(
    calls.map((call) =>
      request("tools/call", {
        name: call.function.name.replace(/^mcp__\w+?__/, ""),
        arguments: JSON.parse(call.function.arguments),
      }),
    ),
  );
  for (const [index, result] of results.entries()) {
    messages.push({ role: "tool", tool_call_id: calls[index].id, content: result.content[0].text });
  }
}

const gone = new Promise((resolve) => server.once("exit", resolve));
server.stdin.end();
await gone;
