// The floor: raw pipes, a map of ids, nothing checked.

import { spawn } from "node:child_process";
import { drive } from "./drive.ts";

await drive(async (command, args) => {
  const server = spawn(command, args, { stdio: ["pipe", "pipe", "ignore"] });
  const waiting = new Map<number, (result: any) => void>();
  let rest = "";
  let lastId = 0;
  server.stdout.setEncoding("utf8").on("data", (text: string) => {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      const { id, result } = JSON.parse(line);
      waiting.get(id)?.(result);
      waiting.delete(id);
    }
  });
  const write = (message: object) => server.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  const request = (method: string, params: object): Promise<any> => {
    const id = ++lastId;
    write({ id, method, params });
    return new Promise((resolve) => waiting.set(id, resolve));
  };
  const clientInfo = { name: "floor", version: "1" };
  await request("initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo });
  write({ method: "notifications/initialized" });
  return {
    tools: async () => (await request("tools/list", {})).tools.length,
    echo: async (text) => (await request("tools/call", { name: "echo", arguments: { text } })).content[0].text,
    async close() {
      const gone = new Promise((resolve) => server.once("exit", resolve));
      server.stdin.end();
      await gone;
    },
  };
});
