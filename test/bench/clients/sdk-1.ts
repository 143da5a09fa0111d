import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
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
