// One run, as a story: load the skill, choose the model, set the stage, let the skill work, end everything, say how it went.

import { realpathSync } from "node:fs";
import { asOmegaError } from "../errors.ts";
import type { RunEvent } from "../events.ts";
import { openBudget } from "../loop/budget.ts";
import type { Limits } from "../manifest/schema.ts";
import { type AskPerson, openPermits } from "../permissions/permits.ts";
import { mapStrings } from "../redact.ts";
import { finishTool } from "../tools/builtin/finish.ts";
import { loadValidator } from "../tools/check.ts";
import { attempt } from "./attempt.ts";
import { chooseModel, chosenThen } from "./choose-model.ts";
import { headOf, type Played, type PlayedTape } from "./deck.ts";
import { type Envelope, emptyTally, envelope, graver, type Tally } from "./envelope.ts";
import { withFlags, withFlagsOfThen } from "./flags.ts";
import { takeLock } from "./overlap.ts";
import { type Given, type Prepared, prepare } from "./prepare.ts";
import { allRules, deadRules, explicitRules, type PermissionFlags } from "./rules.ts";
import { agentCounter, keeper, type Scope } from "./scope.ts";
import { openSideEvents, type SideEvents } from "./side-events.ts";
import { budgetLimits } from "./spending.ts";
import { setStage } from "./stage.ts";
import { openWatch, type Watch } from "./watch.ts";

export type RunOptions = Given &
  PermissionFlags & {
    model: string | undefined;
    /** These take the place of the manifest's. */
    limits: Partial<Limits>;
    output: string | undefined;
    /** Told each line that is recorded, besides the run's own record. */
    onTape?: ((line: string) => void) | undefined;
    /** Played from this, and nothing is started or asked. */
    played?: PlayedTape | undefined;
    /** Told how it compares, when it has been played. */
    onPlayed?: ((played: Played) => void) | undefined;
    /** False: it is not to be found in the records. */
    leavesRecord?: boolean;
    /** Absent: nobody can be asked. */
    ask?: AskPerson | undefined;
    signal: AbortSignal;
    /** Aborted by a second signal: skip the grace times. */
    hurry: AbortSignal;
  };

type Telling = { tally: Tally; watch: Watch; side: SideEvents; over: AsyncDisposableStack };

/** Yields what happens; returns how it ended. Never throws: a run without an envelope would be a run without an end. */
export async function* run(given: RunOptions): AsyncGenerator<RunEvent, Envelope> {
  const options = given.played ? withFlagsOfThen(given, given.played.tape.head) : given;
  const tally = emptyTally();
  const watch = openWatch(tally);
  const side = openSideEvents();
  const head = options.played?.tape.head;
  // Released when the end has been told.
  await using over = new AsyncDisposableStack();
  let file: string | null = null;
  try {
    const { run, startedAt } = head ?? tally;
    const prepared = await prepare(options, { run, now: new Date(startedAt) }, options.signal, head);
    const skill = { ...prepared, ...withFlags(prepared, options) };
    file = realpathSync(skill.file);
    yield* watch.events(side.along(story(skill, file, options, { tally, watch, side, over })));
  } catch (error) {
    const ended = asOmegaError(options.signal.aborted ? options.signal.reason : error);
    tally.error = graver(ended, tally.error);
    const { code, cause } = ended;
    if (code === "INTERNAL" && cause instanceof Error)
      yield* watch.event({ type: "debug", message: cause.stack ?? cause.message });
  }
  const compared = tally.deck?.end(envelope(tally));
  if (compared) options.onPlayed?.(compared);
  tally.error = compared?.departure ?? tally.error;
  return yield* watch.end(envelope(tally), file, side.rest);
}

async function* story(
  skill: Prepared,
  file: string,
  options: RunOptions,
  { tally, watch, side, over }: Telling,
): AsyncGenerator<RunEvent> {
  const { run } = tally;
  const { secrets, limits } = skill;
  const warn = (message: string) => side.emit({ type: "warning", message });
  tally.skill = skill.name;
  watch.hide(secrets);
  for (const message of [...skill.warnings, ...deadRules(skill, options)]) yield { type: "warning", message };
  const { played } = options;
  // What follows from an answer must be there before the next one is handed out.
  if (played) await loadValidator();
  const chosen = played ? chosenThen(skill, played) : await chooseModel(skill, options.model);
  tally.model = chosen.name;
  for (const message of chosen.warnings) yield { type: "warning", message };
  const finish = finishTool(skill.output.schema);
  if (!played) over.use(yield* takeLock(skill, file, options.signal));

  const stage = await setStage(skill, options, { tally, watch, over, warn });
  await using children = stage.children;
  const { record, audit, deck } = stage;
  using clock = deck.clock(limits.time, options.signal);
  const ledger = { file, isRecorded: record.folder() !== null, played: played?.tape.head };
  const spendable = await budgetLimits(limits, chosen.choice, ledger);
  const { ask: person } = options;
  const ask = deck.asking(person && ((question, signal) => person(mapStrings(question, secrets.redact), signal)));
  deck.recorder.begin(
    headOf(skill, {
      ...(played?.tape.head ?? tally),
      ...{ model: chosen.name, flags: options, isAttended: ask !== undefined },
      leftOfDay: spendable.cost?.code === "LIMIT_DAY" ? spendable.cost.dollars : undefined,
    }),
  );
  tally.deck = deck;
  const budget = openBudget(spendable);
  yield { type: "start", run, skill: skill.name, file, model: chosen.name, startedAt: tally.startedAt };
  tally.begunAt = new Date().toISOString();

  const rules = { rules: allRules(skill, options), explicit: explicitRules(skill, options) };
  const permits = openPermits({ ...rules, ask, unattended: skill.unattended });
  tally.denials = permits.denials;

  const { hurry } = options;
  const scope: Scope = {
    ...{ run, flags: options, hurry, tally, children, record, audit, secrets, deck, emit: side.emit, warn },
    ...keeper(record.keepOutput),
    resolving: { now: new Date((played?.tape.head ?? tally).startedAt), played: skill.playing },
    nextAgent: agentCounter(),
  };
  const model = deck.recorder.model(chosen.model ?? deck.played());
  const means = { model, choice: chosen.choice, clock, budget, permits, finish, agent: undefined };
  const { ending, error } = yield* attempt(skill, means, scope);
  tally.isNothingToDo = ending.status === "nothing-to-do";
  tally.error = error;
}
