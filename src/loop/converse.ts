// The conversation: ask the model, run the calls it makes, tell it what came of them, until it stops or a limit is reached.
// Knows no provider's wire and no server.

import type { Call, Message, Model } from "../conversation.ts";
import { OmegaError } from "../errors.ts";
import type { RunEvent } from "../events.ts";
import type { Finished, FinishTool } from "../tools/builtin/finish.ts";
import type { Keep } from "../tools/cut.ts";
import type { Toolbox } from "../tools/table.ts";
import { type Budget, type Room, reportTokens, totalOf } from "./budget.ts";
import type { Clock } from "./clock.ts";
import { watchRepeats } from "./repeats.ts";
import { type Turn, takeTurn } from "./turn.ts";

export type Conversation = {
  model: Model;
  tools: Toolbox;
  finish: FinishTool;
  system: string | undefined;
  prompt: string;
  budget: Budget;
  /** The same call, so many turns in a row. */
  repeat: number;
  clock: Clock;
  /** Where an output goes that has no room in the conversation. */
  keep: Keep;
  /** Which sub-agent this is; absent: the run itself. */
  agent?: string | undefined;
};

/** `error`: the conversation was ended before the model was done, and `text` is its report. */
export type Ending = Finished & { text: string; error?: OmegaError };

const OUTPUT_TRIES = 3;
const CHARACTERS_PER_TOKEN = 4;
const GO_ON = "Your answer was cut off. Go on exactly where it stopped, without repeating anything.";
const GIVE_OUTPUT = "Give your answer by calling finish with status done and the answer in output, as its schema says.";

/** Yields what happens and returns how it ended; throws an OmegaError when there is no answer. */
export async function* converse(conversation: Conversation): AsyncGenerator<RunEvent, Ending> {
  const { budget, clock, tools, finish } = conversation;
  const messages: Message[] = [user(conversation.prompt)];
  const repeats = watchRepeats(conversation.repeat);
  const refuse = (turn: number) => (call: Call) => repeats.see(call, turn) ?? budget.call();
  /** What an answer said before it was cut by its length, once. */
  let before: string | undefined;
  let tries = 0;
  let tokens = firstRequest(conversation);
  for (let turn = 1; ; turn++) {
    const room = clock.work.aborted ? timeIsUp(clock) : budget.room(tokens);
    if (room.turn !== "normal") return yield* lastTurn(conversation, messages, turn, room);
    const told = messages.length;
    const turnOptions = { messages, turn, tools, refuse: refuse(turn), deadlineAt: clock.workUntil };
    let taken: Turn;
    try {
      taken = yield* takeTurn(conversation, { ...turnOptions, signal: clock.work, maxTokens: room.maxTokens });
    } catch (error) {
      if (!clock.work.aborted || clock.end.aborted) throw error;
      return yield* lastTurn(conversation, messages, turn + 1, timeIsUp(clock));
    }
    clock.end.throwIfAborted();
    const { text, end, calls, finished, rejected, limit } = taken;
    tokens = totalOf(end.usage) + charactersIn(messages.slice(told)) / CHARACTERS_PER_TOKEN;
    if (end.reason === "refusal") throw refused(text);
    if (finished) return { ...finished, text: longer(text, finished.summary) };
    const halt = tools.halt();
    if (halt) return ended(text, halt);
    if (limit) return yield* lastTurn(conversation, messages, turn + 1, lastRoom(budget.room(tokens), limit));
    if (rejected !== undefined && finish.wantsOutput && ++tries === OUTPUT_TRIES)
      return ended(text, noOutput(rejected));
    if (calls > 0) before = undefined;
    else if (end.reason === "length" && before === undefined) {
      before = text;
      messages.push(user(GO_ON));
    } else if (end.reason !== "pause") {
      if (end.reason === "other")
        yield { type: "warning", message: `the model stopped for a reason of its own: ${end.word}` };
      const said = `${before ?? ""}${text}`;
      if (end.reason === "length") return ended(said, truncated());
      if (!finish.wantsOutput) return answer(said);
      if (++tries === OUTPUT_TRIES) return ended(said, noOutput("it was never given by finish"));
      messages.push(user(GIVE_OUTPUT));
    }
  }
}

/** One more request without tools, so that the work done so far is not lost without a word. */
async function* lastTurn(
  conversation: Conversation,
  messages: Message[],
  turn: number,
  { turn: kind, reason, maxTokens = reportTokens }: Room,
): AsyncGenerator<RunEvent, Ending> {
  if (!reason) throw new Error("a last turn without a reason");
  if (kind === "none") return ended("", reason);
  yield { type: "limit", turn, reason: reason.message };
  messages.push(
    user(
      `This is your last turn: ${reason.message}, and no tool but finish can be called. If the work is complete, call finish with status done. If not, report what was done and what is missing.`,
    ),
  );
  const { clock } = conversation;
  const tools = { definitions: [], originOf: (name: string) => name, call: () => Promise.reject(reason) };
  try {
    const options = { messages, turn, tools, refuse: () => reason, maxTokens };
    const { text, finished } = yield* takeTurn(conversation, {
      ...options,
      signal: clock.end,
      deadlineAt: clock.endsAt,
    });
    const said = text.trim() === "" ? (finished?.summary ?? "") : text;
    return finished && finished.status !== "blocked" ? { ...finished, text: said } : ended(said, reason);
  } catch (error) {
    if (!(error instanceof OmegaError) || !mayGoUntold.includes(error.outcome)) throw error;
    yield { type: "debug", message: `no report: ${error.message}` };
    return ended("", reason);
  }
}

/** That the report could not be had changes nothing: the limit is what ended the run. */
const mayGoUntold = ["limit", "model-failed", "unavailable", "failed"];

function timeIsUp({ work, end }: Clock): Room {
  end.throwIfAborted();
  return { turn: "last", reason: work.reason };
}

/** A call too many leads to the last turn, if any other limit leaves room for it. */
function lastRoom(room: Room, reason: OmegaError): Room {
  return room.turn === "none" ? { turn: "none", reason } : { ...room, turn: "last", reason };
}

function firstRequest({ prompt, system = "", tools }: Conversation): number {
  const definitions = tools.definitions.reduce((sum, { description }) => sum + description.length, 0);
  return (prompt.length + system.length + definitions) / CHARACTERS_PER_TOKEN;
}

function charactersIn(messages: readonly Message[]): number {
  const results = messages.flatMap((message) => (message.role === "tool" ? message.result.content : []));
  return results.reduce((sum, part) => sum + (part.type === "text" ? part.text.length : 0), 0);
}

/** Of "Let me wrap up." and a summary, or of a whole text and "Written.", the longer one is for the reader. */
function longer(text: string, summary: string): string {
  return summary.trim().length > text.trim().length ? summary : text;
}

const user = (text: string): Message => ({ role: "user", content: [{ type: "text", text }] });

function ended(text: string, error: OmegaError): Ending {
  return { status: "blocked", summary: text, missing: [], text, error };
}

function answer(text: string): Ending {
  if (text.trim() === "") throw new OmegaError("ANSWER_EMPTY", "the model ended without an answer");
  return { status: "done", summary: "", missing: [], text };
}

function refused(text: string): OmegaError {
  return new OmegaError("MODEL_REFUSED", `the model declined to answer${text ? `: ${text}` : ""}`);
}

function truncated(): OmegaError {
  return new OmegaError(
    "MODEL_TRUNCATED",
    "the model's answer was cut at its length limit, and again when it went on",
    {
      hint: "raise model.maxTokens, or ask for less",
    },
  );
}

function noOutput(why: string): OmegaError {
  return new OmegaError(
    "OUTPUT_SCHEMA",
    `the answer did not come as output.schema says, in ${OUTPUT_TRIES} tries: ${why}`,
    {
      hint: "make the schema or the instructions simpler, or take a stronger model",
    },
  );
}
