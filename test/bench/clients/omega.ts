// omega's own connection, as a run has it: journal, guardian, sweep and all.

import { textOf } from "../../../src/conversation.ts";
import { openChildren } from "../../../src/run/children.ts";
import { newRunId } from "../../../src/run/envelope.ts";
import { connect } from "../../../src/servers/connection.ts";
import { drive } from "./drive.ts";

await drive(async (command, args) => {
  const onWarning = (message: string) => console.error(message);
  const children = await openChildren(newRunId(new Date().toISOString()), onWarning);
  const { signal } = new AbortController();
  const connection = await connect(
    {
      name: "echo",
      command,
      args,
      env: {},
      tools: ["*"],
      required: true,
      startupTimeout: 120_000,
      timeout: 120_000,
      stopGrace: 2_000,
      maxMessage: 10_000_000,
      concurrency: 64,
      restart: "never",
      protocol: "auto",
    },
    { children, cwd: process.cwd(), signal, hurry: signal, onState: () => undefined, onWarning },
  );
  return {
    tools: async () => connection.tools.length,
    echo: async (text) => textOf((await connection.call("echo", { text }, signal)).content),
    async close() {
      await connection[Symbol.asyncDispose]();
      await children[Symbol.asyncDispose]();
    },
  };
});
