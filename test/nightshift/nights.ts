// Twelve ways in which a night goes wrong, and how each must be told.

import type { ScriptedTurn } from "../support/model-server.ts";
import { until } from "../support/processes.ts";
import { fixtureServer } from "../support/skills.ts";
import type { Night, Scene } from "./night.ts";

const echo = (text: string): ScriptedTurn => ({ calls: [{ name: "mcp__s__echo", arguments: { text } }] });
/** What one answer of the scripted model counts. */
const ONE_ANSWER = 110;

export const nights: Night[] = [
  {
    what: "a server is never ready",
    servers: { s: fixtureServer("never-answers.mjs", { startupTimeout: "1s" }) },
    turns: [],
    must: { outcome: "server-failed/start", exit: "3", tokens: 0 },
  },
  {
    what: "a tool that the skill names is gone",
    servers: { s: fixtureServer("good.mjs", { tools: ["echo", "send_report"] }) },
    turns: [],
    must: { outcome: "server-failed/tool", exit: "3", tokens: 0 },
  },
  {
    what: "a server dies in the middle of a call",
    servers: { s: fixtureServer("dies-in-call.mjs") },
    turns: [echo("die"), { text: "The report could not be made." }],
    must: { outcome: "server-failed/died", exit: "3", tokens: 2 * ONE_ANSWER },
  },
  {
    what: "a server hangs in a call",
    servers: { s: fixtureServer("hangs-in-call.mjs", { timeout: "500ms" }) },
    turns: [echo("report"), { text: "The report could not be made." }],
    must: { outcome: "server-failed/hung", exit: "3", tokens: 2 * ONE_ANSWER },
  },
  {
    what: "a server and its grandchildren ignore SIGTERM",
    servers: { s: fixtureServer("stubborn-family.mjs") },
    turns: [echo("quick"), { text: "The report is made." }],
    must: { outcome: "done", exit: "0", tokens: 2 * ONE_ANSWER, alive: 7 },
  },
  {
    what: "the same, and omega is killed with -9",
    servers: { s: fixtureServer("stubborn-family.mjs") },
    turns: [echo("slow")],
    async shift({ start, isBusy }: Scene) {
      const { child, result } = start();
      await until(isBusy, 20_000);
      child.kill("SIGKILL");
      return [await result];
    },
    must: { outcome: "killed", exit: "SIGKILL", tokens: ONE_ANSWER, alive: 7 },
  },
  {
    what: "a tool needs approval and nobody is there",
    servers: { s: fixtureServer("good.mjs") },
    skill: { permissions: [{ tool: "s/echo", action: "ask" }] },
    turns: [],
    must: { outcome: "denied/undecided", exit: "4", tokens: 0 },
  },
  {
    what: "cron starts it twice",
    servers: { s: fixtureServer("good.mjs") },
    skill: { overlap: "skip" },
    turns: [{ ...echo("report"), delayMs: 1_000 }, { text: "The report is made." }],
    async shift({ model, start }: Scene) {
      const first = start();
      await until(() => model.requests.length === 1, 20_000);
      return [await start().result, await first.result];
    },
    must: { outcome: "skipped/overlap, done", exit: "0, 0", tokens: 2 * ONE_ANSWER },
  },
  {
    what: "the model answers 429 for ever",
    servers: { s: fixtureServer("good.mjs") },
    turns: () => ({ status: 429, retryAfter: 0.3, body: '{"error":{"message":"slow down"}}' }),
    must: { outcome: "unavailable/model", exit: "75", tokens: 0 },
  },
  {
    what: "the model's answers break off half-way",
    servers: { s: fixtureServer("good.mjs") },
    turns: () => ({ text: "The report is", cut: true }),
    must: { outcome: "unavailable/model", exit: "75", tokens: 0 },
  },
  {
    what: "the model answers nothing",
    servers: { s: fixtureServer("good.mjs") },
    turns: () => ({ text: "" }),
    must: { outcome: "failed/empty", exit: "1", tokens: ONE_ANSWER },
  },
  {
    what: "the model says that it is done, and is not",
    servers: { s: fixtureServer("good.mjs") },
    skill: { expect: [{ tool: "s/echo", min: 1 }] },
    turns: [{ text: "The report is made." }],
    must: { outcome: "failed/check", exit: "1", tokens: ONE_ANSWER },
  },
];
