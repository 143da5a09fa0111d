import { Database } from "bun:sqlite";
import { mkdirSync } from "node:fs";
import { bin } from "../../support/omega.ts";
import { call, type Scene } from "../scene.ts";

const tables = `
CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT NOT NULL, email TEXT);
CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id INTEGER REFERENCES customers(id), placed_on TEXT, total_cents INTEGER);
CREATE TABLE payments (id INTEGER PRIMARY KEY, order_id INTEGER, paid_on TEXT, cents INTEGER);
INSERT INTO customers VALUES (1, 'Ada', 'ada@example.com'), (2, '', NULL), (3, 'Tomas', 'tomas@example.com');
INSERT INTO orders VALUES (1, 1, '2026-10-01', 4200), (2, 3, '2026-10-04', -150), (3, 9, '2026-10-09', 900), (4, 1, '2026-10-12', 2000);
INSERT INTO payments VALUES (1, 1, '2026-10-03', 4200), (2, 77, '2026-10-05', 310);
`;

function makeDatabase(work: string): void {
  mkdirSync(work, { recursive: true });
  using database = new Database(`${work}/shop.db`);
  database.run("PRAGMA foreign_keys = OFF");
  for (const statement of tables.split(";\n")) if (statement.trim() !== "") database.run(statement);
}

const negative = "SELECT id, total_cents FROM orders WHERE total_cents < 0";
const orphans = "SELECT p.id, p.order_id FROM payments p LEFT JOIN orders o ON o.id = p.order_id WHERE o.id IS NULL";
const nameless = "SELECT count(*) AS n FROM customers WHERE trim(name) = ''";
const unpaid =
  "SELECT count(*) AS n FROM orders o LEFT JOIN payments p ON p.order_id = o.id WHERE p.id IS NULL AND o.placed_on < '2026-10-18'";
const strangers =
  "SELECT o.id, o.customer_id FROM orders o LEFT JOIN customers c ON c.id = o.customer_id WHERE c.id IS NULL";

export const shop: Scene = {
  skill: "database-check",
  name: "shop",
  files: {},
  prepare: makeDatabase,
  words: ["--input", "database=shop.db", "--input", "rules=Every order is paid within 30 days."],
  env: { SQLITE_CHECK_RUNTIME: bin("bun") },
  outcome: "done",
  turns: () => [
    {
      text: "First the file itself, and what is in it.",
      calls: [call("db/check_integrity"), call("db/list_tables")],
    },
    {
      text: "The file is sound, but one foreign key is broken. payments.order_id was not declared as one; I'll look for orphans there, and for values that cannot be.",
      calls: [strangers, orphans, negative, nameless].map((sql) => call("db/query", { sql })),
    },
    { text: "Last the rule: orders without a payment.", calls: [call("db/query", { sql: unpaid })] },
    {
      calls: [
        {
          name: "finish",
          arguments: {
            status: "done",
            summary: "The check found broken references and wrong values.",
            output: {
              status: "broken",
              summary:
                "The file is sound, but an order belongs to a customer who does not exist and a payment to an order that does not. Three orders have no payment; one total is negative.",
              tables: [
                { name: "customers", rows: 3 },
                { name: "orders", rows: 4 },
                { name: "payments", rows: 2 },
              ],
              findings: [
                {
                  severity: "broken",
                  table: "orders",
                  what: "order 3 is of customer 9, who does not exist",
                  rows: 1,
                  query: strangers,
                },
                {
                  severity: "broken",
                  table: "payments",
                  what: "payment 2 is for order 77, which does not exist",
                  rows: 1,
                  query: orphans,
                },
                {
                  severity: "wrong",
                  table: "orders",
                  what: "order 2 has a total of -150 cents",
                  rows: 1,
                  query: negative,
                },
                { severity: "wrong", table: "orders", what: "orders that no payment names", rows: 3, query: unpaid },
                { severity: "odd", table: "customers", what: "a customer without a name", rows: 1, query: nameless },
              ],
            },
          },
        },
      ],
    },
  ],
};
