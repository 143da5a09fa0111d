// A run that does a bit of everything, on real servers: calls side by side, errors, structured results, pictures, a list of
// tools that changes, an output that is cut and read on, sub-agents that do the same, a sub-skill, checks, data, a retry.

import type { Asked, ScriptedTurn, WireName } from "./model-server.ts";
import { root } from "./omega.ts";
import { call, finish, type Scripted } from "./scripted.ts";
import { everything, fixtureServer, manifest } from "./skills.ts";

const filesystem = {
  command: "node",
  args: [`${root}/node_modules/@modelcontextprotocol/server-filesystem/dist/index.js`],
};

/** Each conversation has turns of its own, told apart by what it was asked first. The first request of all fails. */
const byTask = (turns: Record<string, ScriptedTurn[]>) => {
  return (index: number, { messages }: Asked): ScriptedTurn | undefined => {
    if (index === 0) return { status: 529, retryAfter: 0, body: "{}" };
    const task = Object.keys(turns).find((word) => messages[0]?.text.includes(word)) ?? "";
    return turns[task]?.[messages.filter(({ role }) => role === "assistant").length];
  };
};

/** A bit of everything that a run can do, on real servers. */
export const rich = (wire: WireName): Scripted => ({
  wire,
  servers: {
    everything,
    files: { ...filesystem, args: [...filesystem.args, "."] },
    grows: fixtureServer("changes-its-tools.mjs"),
  },
  skill: {
    instructions: "You work in {{ workdir }}, for {{ skill.dir }}, on {{ today }}, at {{ now }}, as {{ run.id }}.",
    inputs: { place: {}, key: { secret: true }, list: { type: "array", default: [1] } },
    prompt: "Work in {{ inputs.place }}.",
    limits: { depth: 1, toolOutput: "2KB" },
    skills: ["count"],
    output: { schema: { type: "object", properties: { sum: { type: "number" } } }, file: "answer.json" },
    expect: [
      { tool: "everything/get-sum", min: 2 },
      { file: "made.txt" },
      { command: ["grep", "-c", "made", "made.txt"] },
    ],
  },
  model: { fallbacks: ["openai-chat/other"] },
  files: {
    "skill/count/skill.yaml": manifest(
      { own: fixtureServer("good.mjs", { env: { KEY: "{{ inputs.key }}" } }) },
      {
        ...{ description: "Counts.", inputs: { text: {}, key: { secret: true, env: "COUNT_KEY" } } },
        prompt: "Count {{ inputs.text }} at {{ now }} in {{ skill.dir }}.",
        expect: [{ tool: "own/echo" }],
      },
    ),
    "skill/notes.md": "Notes.",
    "work/big.txt": `${"a line of the big file\n".repeat(500)}the end`,
    "work/colours.txt": "\u001b[31mred\u001b[0m ‹a› {{ today }} \u0085 ä🐦\n",
  },
  turns: byTask({
    Work: [
      {
        text: "I begin.",
        calls: [
          call("everything/get-sum", { a: 2, b: 3 }),
          call("everything/get-structured-content", { location: "New York" }),
          call("everything/get-tiny-image"),
          call("files/read_text_file", { path: "no such file" }),
          call("files/read_text_file", { path: "colours.txt" }),
          call("grows/echo", { text: "grow" }),
          call("everything/get-sum", { a: "x" }),
          call("ReadSkillFile", { path: "notes.md" }),
        ],
      },
      {
        calls: [
          call("files/read_text_file", { path: "big.txt" }),
          call("files/list_allowed_directories"),
          call("agent", { task: "the left half" }),
          call("agent", { task: "the right half" }),
          call("skill__count", { text: "abc" }),
          call("everything/get-sum", { a: 1, b: 1 }),
        ],
      },
      {
        calls: [
          call("ReadToolOutput", { id: "1", offset: 2000 }),
          call("files/write_file", { path: "made.txt", content: "made" }),
        ],
      },
      finish("done", "All of it.", { output: { sum: 5 } }),
    ],
    left: [{ calls: [call("everything/get-sum", { a: 3, b: 3 })] }, { text: "Left." }],
    right: [{ calls: [call("everything/get-sum", { a: 3, b: 3 })] }, finish("blocked", "No right.")],
    Count: [{ calls: [call("own/echo", { text: "c" })] }, { text: "3." }],
  }),
});

export const richGiven = { env: { COUNT_KEY: "canary-of-the-count-key" } };
export const richWords = ["--input", "place=here", "--input", "key=canary-of-the-input", "and", "more"];
