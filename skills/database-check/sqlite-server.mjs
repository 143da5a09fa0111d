// An MCP server that looks at one SQLite database and cannot change it: `node sqlite-server.mjs FILE`. Node 22.13 or newer, or
// bun; nothing to install.

import { existsSync } from "node:fs";
import { createInterface } from "node:readline";
import { DatabaseSync } from "node:sqlite";

const MAX_ROWS = 100;
const [file = ""] = process.argv.slice(2);
if (!existsSync(file)) {
  console.error(`there is no database ${file}`);
  process.exit(1);
}
const database = new DatabaseSync(file, { readOnly: true });
const all = (sql) => database.prepare(sql).all();

const readOnly = { readOnlyHint: true, openWorldHint: false };
const none = { type: "object", properties: {}, additionalProperties: false };
const tools = [
  {
    name: "check_integrity",
    description: "Runs SQLite's own checks: of the file's structure (integrity_check) and of declared foreign keys.",
    inputSchema: none,
    annotations: readOnly,
    run: () => ({ integrity: all("PRAGMA integrity_check"), brokenForeignKeys: all("PRAGMA foreign_key_check") }),
  },
  {
    name: "list_tables",
    description: "Lists tables and views with the SQL that made them and the number of rows.",
    inputSchema: none,
    annotations: readOnly,
    run: () =>
      all("SELECT name, type, sql FROM sqlite_schema WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite_%'").map(
        (table) => ({ ...table, rows: all(`SELECT count(*) AS n FROM "${table.name.replaceAll('"', '""')}"`)[0].n }),
      ),
  },
  {
    name: "query",
    description: `Runs one SELECT and gives its rows, at most ${MAX_ROWS}. The database is open for reading only.`,
    inputSchema: {
      type: "object",
      properties: { sql: { type: "string" } },
      required: ["sql"],
      additionalProperties: false,
    },
    annotations: readOnly,
    run: ({ sql }) => firstRows(database.prepare(sql)),
  },
];

/** Not one row more is read than is given. */
function firstRows(statement) {
  const rows = [];
  for (const row of statement.iterate()) {
    if (rows.length === MAX_ROWS) return { rows, isCut: true };
    rows.push(row);
  }
  return { rows, isCut: false };
}

/** Big integers and blobs are told as text: JSON has neither. */
function asJson(value) {
  const plain = (_, inner) => {
    if (typeof inner === "bigint") return String(inner);
    return inner instanceof Uint8Array ? `${inner.length} bytes` : inner;
  };
  return JSON.stringify(value, plain, 1);
}

/** What a tool cannot do is a result that the model can mend, no error of the protocol. */
function call({ name, arguments: given = {} }) {
  const tool = tools.find((each) => each.name === name);
  if (!tool) throw { code: -32602, message: `no tool ${name}` };
  try {
    return { content: [{ type: "text", text: asJson(tool.run(given)) }] };
  } catch (error) {
    return { content: [{ type: "text", text: error.message }], isError: true };
  }
}

const methods = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: "sqlite-check", version: "1.0.0" },
  }),
  ping: () => ({}),
  "tools/list": () => ({ tools: tools.map(({ run, ...tool }) => tool) }),
  "tools/call": call,
};

const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);

createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params = {} } = JSON.parse(line);
  if (id === undefined) return;
  try {
    if (!Object.hasOwn(methods, method)) throw { code: -32601, message: `no method ${method}` };
    send({ id, result: methods[method](params) });
  } catch ({ code = -32603, message }) {
    send({ id, error: { code, message } });
  }
});
