// omega's own connection, as a run has it: journal, guardian, sweep and all.

import * as v from "valibot";
import { textOf } from "../../../src/conversation.ts";
import { StdioServer } from "../../../src/manifest/server-schema.ts";
import { openChildren } from "../../../src/run/children.ts";
import { newRunId } from "../../../src/run/envelope.ts";
import { connect } from "../../../src/servers/connection.ts";
import { drive } from "./drive.ts";

await drive(async (command, args) => {
  const onWarning = (message: string) => console.error(message);
  const children = await openChildren(newRunId(new Date().toISOString()), onWarning);
  const { signal } = new AbortController();
  const connection = await connect(
    { ...v.parse(StdioServer, { command, args, concurrency: 64 }), name: "echo", cwd: process.cwd() },
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
