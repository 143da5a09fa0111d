// Every limit of a run: what ends it, what it is told, and that a last turn is left to report.

import { expect, test } from "bun:test";
import { until } from "../support/processes.ts";
import { echo, finish, scripted } from "../support/scripted.ts";
import { fixtureServer } from "../support/skills.ts";

/** A model that would go on for ever, each turn with another call, and reports when it is told to. */
const goesOn = (index: number, asked: { messages: { text: string }[] }) =>
  /last turn/.test(asked.messages.at(-1)?.text ?? "") ? { text: "So far." } : { calls: [echo(`${index}`)] };
const price = { price: { input: 12_500, output: 0, cacheRead: 0 } };

test("tokens: the run stays within them, its report included", async () => {
  await using life = await scripted({ wire: "anthropic", turns: goesOn });
  const { code, json } = await life.run(["--limit", "tokens=1k"]);
  expect(code).toBe(5);
  expect(json).toMatchObject({ outcome: "limit", code: "tokens", text: "So far." });
  const { input, output, cacheRead } = json.usage;
  expect(input + output + cacheRead).toBeLessThanOrEqual(1_000);
  expect(json.turns).toBeGreaterThan(3);
  expect(life.model.asked(-1).raw.max_tokens).toBeLessThanOrEqual(200);
});

test("cost: the run stays within it, and says what it was", async () => {
  await using life = await scripted({ wire: "google", turns: goesOn, model: price });
  const { code, json } = await life.run(["--limit", "cost=3.75"]);
  expect(code).toBe(5);
  // 60 tokens a turn are 0.75 dollars.
  expect(json).toMatchObject({ outcome: "limit", code: "cost", text: "So far.", turns: 5, cost: 3.75 });
});

test("costPerDay: what earlier runs of the day have spent counts; when all is spent, nothing is begun", async () => {
  await using life = await scripted({
    wire: "openai",
    turns: goesOn,
    model: price,
    skill: { limits: { costPerDay: 4 } },
  });
  expect((await life.run(["--limit", "turns=3"])).json).toMatchObject({ code: "turns", cost: 2.25 });
  const second = await life.run();
  expect(second.code).toBe(5);
  expect(second.json).toMatchObject({ outcome: "limit", code: "day", text: "So far.", turns: 2, cost: 1.5 });
  const asked = life.model.requests.length;
  const third = await life.run(["--limit", "costPerDay=3.75"]);
  expect(third.code).toBe(5);
  expect(third.json).toMatchObject({ outcome: "limit", code: "day", turns: 0, attempts: [], children: { started: 0 } });
  expect(third.json.reason).toContain("3.7500 of 3.75 US dollars are spent today");
  expect(life.model.requests).toHaveLength(asked);
});

test("toolCalls: the one too many is refused, and the model reports", async () => {
  await using life = await scripted({
    wire: "openai",
    turns: [{ calls: [echo("a"), echo("b"), echo("c")] }, { text: "Two of three." }],
  });
  const { code, json } = await life.run(["--limit", "toolCalls=2"]);
  expect(code).toBe(5);
  expect(json).toMatchObject({ outcome: "limit", code: "calls", text: "Two of three.", turns: 2 });
  const results = life.model.asked(-1).results.map(({ text }) => text);
  expect(results).toEqual(["echo: a", "echo: b", expect.stringContaining("not called: the limit of 2 tool calls")]);
  expect(life.model.asked(-1).tools).toEqual(["finish"]);
});

test("repeat: the same call again and again is stopped, the same call within one turn is not", async () => {
  const same = { calls: [echo("x"), echo("x"), echo("x")] };
  await using life = await scripted({ wire: "anthropic", turns: [same, same, same, { text: "In a circle." }] });
  const { code, json } = await life.run(["--limit", "repeat=2"]);
  expect(code).toBe(5);
  expect(json).toMatchObject({ outcome: "limit", code: "repeat", text: "In a circle." });
  expect(life.model.asked(-1).results.filter(({ text }) => text === "echo: x")).toHaveLength(6);
});

test("context: a conversation that is too long for the model is limit/context", async () => {
  const tooLong = { status: 400, body: '{"error":{"message":"too long","code":"context_length_exceeded"}}' };
  await using life = await scripted({ wire: "openai", turns: [{ calls: [echo("a")] }, tooLong] });
  const { code, json } = await life.run();
  expect(code).toBe(5);
  expect(json).toMatchObject({ outcome: "limit", code: "context", turns: 2 });
  expect(json.hint).toContain("larger context");
});

test("context: large old outputs are put aside first, and can be read again", async () => {
  const body = '{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 9 tokens"}}';
  await using life = await scripted({
    wire: "anthropic",
    turns: [
      { calls: [echo("x".repeat(5_000))] },
      { status: 400, body },
      { calls: [{ name: "ReadToolOutput", arguments: { id: "1", length: 10 } }] },
      { text: "Done." },
    ],
  });
  const { code, json } = await life.run();
  expect(code).toBe(0);
  expect(json).toMatchObject({ outcome: "done", warnings: [expect.stringContaining("were put aside")] });
  expect(life.model.asked(2).results[0]?.text).toContain('ReadToolOutput {"id":"1"} opens it');
  expect(life.model.asked(3).results[1]?.text).toStartWith("echo: xxxx\n[");
});

test("toolOutput: what was cut is read on page by page, and no page is cut again", async () => {
  const read = (offset: number) => ({ calls: [{ name: "ReadToolOutput", arguments: { id: "1", offset } }] });
  const text = Array.from({ length: 500 }, (_, n) => `line ${n}\n`).join("");
  const whole = `echo: ${text}`;
  const bodies: string[] = [];
  await using life = await scripted({
    skill: { limits: { toolOutput: "1KB" } },
    turns: (index, { results }) => {
      if (index === 0) return { calls: [echo(text)] };
      const said = results.at(-1)?.text ?? "";
      if (index === 1) bodies.push(said.slice(0, 1_000));
      else bodies.push(said.replace(/\n\[[^\n]*\]$/, ""));
      const [, offset] = /"offset":(\d+)\}|offset (\d+)\]$/.exec(said)?.filter((part) => part !== undefined) ?? [];
      return offset === undefined ? { text: "Read." } : read(Number(offset));
    },
  });
  const { json } = await life.run();
  expect(json).toMatchObject({ outcome: "done", text: "Read." });
  expect(bodies.join("")).toBe(whole);
  expect(life.names(`home/runs/${json.run}/outputs`)).toEqual(["1.txt"]);
});

test("time: a call that takes too long is given up, and the model still reports", async () => {
  await using life = await scripted({
    wire: "google",
    servers: { s: fixtureServer("slow-call.mjs") },
    turns: [{ calls: [echo("a")] }, { text: "It was slow." }],
  });
  const { code, json } = await life.run(["--limit", "time=4s"]);
  expect(code).toBe(5);
  expect(json).toMatchObject({ outcome: "limit", code: "time", text: "It was slow.", turns: 2 });
  expect(life.model.asked(-1).results[0]).toEqual({ text: "the limit of 4 s was reached", isError: true });
});

test("time: a model that hangs in the middle of its answer is given up", async () => {
  await using life = await scripted({ wire: "openai", turns: () => ({ text: "I think", hang: true }) });
  const { code, json } = await life.run(["--limit", "time=700ms"]);
  expect(code).toBe(5);
  expect(json).toMatchObject({ outcome: "limit", code: "time" });
  expect(await until(() => life.model.closed === life.model.requests.length)).toBe(true);
});

test("time: a server that takes for ever to start is given up", async () => {
  await using life = await scripted({ turns: [], servers: { s: fixtureServer("never-answers.mjs") } });
  const { code, json } = await life.run(["--limit", "time=700ms"]);
  expect(code).toBe(5);
  expect(json).toMatchObject({ outcome: "limit", code: "time", turns: 0 });
  expect(life.model.requests).toEqual([]);
});

test("a last turn that finds the work complete is done, by finish", async () => {
  await using life = await scripted({ turns: [{ calls: [echo("a")] }, finish("done", "It was complete.")] });
  const { code, json } = await life.run(["--limit", "turns=2"]);
  expect(code).toBe(0);
  expect(json).toMatchObject({ outcome: "done", text: "It was complete.", turns: 2 });
});

test("a limit is told even where the report cannot be had", async () => {
  await using life = await scripted({ turns: [{ calls: [echo("a")] }, { status: 400, body: "{}" }] });
  const { json } = await life.run(["--limit", "turns=2"]);
  expect(json).toMatchObject({ outcome: "limit", code: "turns", text: "" });
});
