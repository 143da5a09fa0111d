import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { drive } from "./drive.ts";

await drive(async (command, args) => {
  const client = new Client({ name: "bench", version: "1" });
  await client.connect(new StdioClientTransport({ command, args, stderr: "ignore" }));
  return {
    tools: async () => (await client.listTools()).tools.length,
    echo: async (text) => ((await client.callTool({ name: "echo", arguments: { text } })).content as any)[0].text,
    close: () => client.close(),
  };
});
