// One run, as a story: load the skill, choose the model, open the record, let the skill work, end everything, say how it went.

import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import type { Head } from "../cassette/tape.ts";
import { asOmegaError } from "../errors.ts";
import type { RunEvent } from "../events.ts";
import { openBudget } from "../loop/budget.ts";
import type { Limits } from "../manifest/schema.ts";
import type { ModelChoice, Skill } from "../manifest/skill.ts";
import { type AskPerson, openPermits } from "../permissions/permits.ts";
import { openAudit } from "../records/audit.ts";
import { openRecord } from "../records/record.ts";
import { noStore, openStore } from "../records/store.ts";
import { mapStrings } from "../redact.ts";
import { plain } from "../terminal.ts";
import { finishTool } from "../tools/builtin/finish.ts";
import { attempt } from "./attempt.ts";
import { openChildren } from "./children.ts";
import { chooseModel } from "./choose-model.ts";
import { headOf, openDeck, type Played, type PlayedTape } from "./deck.ts";
import { type Envelope, emptyTally, envelope, graver, type Tally } from "./envelope.ts";
import { takeLock } from "./overlap.ts";
import { type Given, type Prepared, prepare } from "./prepare.ts";
import { allRules, deadRules, explicitRules, type PermissionFlags } from "./rules.ts";
import type { Scope } from "./scope.ts";
import { openSideEvents, type SideEvents } from "./side-events.ts";
import { budgetLimits } from "./spending.ts";
import { openWatch, type Watch } from "./watch.ts";

/** Sub-agents and sub-skills of one run, at whatever depth. */
const MAX_AGENTS = 100;

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
  const chosen = played ? chosenThen(skill, played) : await chooseModel(skill, options.model);
  tally.model = chosen.name;
  for (const message of chosen.warnings) yield { type: "warning", message };
  const finish = finishTool(skill.output.schema);
  if (!played) over.use(yield* takeLock(skill, file, options.signal));

  const clean = (text: string) => plain(secrets.redact(text));
  const store = options.leavesRecord === false ? noStore : openStore(warn);
  // Nothing that is played acts or reads.
  const audit = played ? undefined : openAudit(run, { clean, store, required: skill.auditRequired, skill: skill.name });
  if (audit) over.defer(audit.close);
  await using children = await openChildren(run, warn, { store, keepJournal: true });
  // After the record is written.
  over.defer(children.forget);
  tally.children = children.summary;
  const unlisted = options.leavesRecord === false ? temporaryFolder(over) : undefined;
  const recordStore = unlisted === undefined ? store : openStore(warn);
  const { redact } = secrets;
  const record = openRecord(run, { clean, redact, store: recordStore, unlisted, isPlayed: played !== undefined });
  tally.record = record.folder;
  watch.keepIn(record);
  const deck = openDeck({
    skill,
    played,
    redact,
    write(line) {
      record.tape(line);
      options.onTape?.(line);
    },
  });
  using clock = deck.clock(limits.time, options.signal);
  const ledger = { file, isRecorded: record.folder() !== null, played: played?.tape.head };
  const spendable = await budgetLimits(limits, chosen.choice, ledger);
  const { ask: person } = options;
  const ask = deck.asking(person && ((question, signal) => person(mapStrings(question, redact), signal)));
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
  const { emit } = side;
  const kept = keeper(record.keepOutput);
  const scope: Scope = {
    ...{ run, flags: options, hurry, tally, children, record, audit, secrets, deck, emit, warn },
    ...kept,
    resolving: { now: new Date((played?.tape.head ?? tally).startedAt), played: skill.playing },
    nextAgent: agentCounter(),
  };
  const model = deck.recorder.model(chosen.model ?? deck.played());
  const means = { model, choice: chosen.choice, clock, budget, permits, finish, agent: undefined };
  const { ending, error } = yield* attempt(skill, means, scope);
  tally.isNothingToDo = ending.status === "nothing-to-do";
  tally.error = error;
}

function temporaryFolder(over: AsyncDisposableStack): string {
  const folder = mkdtempSync(join(tmpdir(), "omega-"));
  over.defer(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** What is played was chosen then. */
function chosenThen(skill: Skill, { tape }: PlayedTape) {
  const { file, head } = tape;
  const { model: name } = head;
  const choice: ModelChoice = skill.model?.name === name ? skill.model : { name, fallbacks: [] };
  const warnings = [`played from ${file}: no server is started, no model is asked, nothing is written`];
  return { name, choice, model: undefined, warnings };
}

/** The flags of then, where no others are given. */
function withFlagsOfThen(options: RunOptions, { given = {} }: Head): RunOptions {
  const { allow, deny, yes, limits } = options;
  return {
    ...options,
    allow: allow.length > 0 ? allow : (given.allow ?? []),
    deny: deny.length > 0 ? deny : (given.deny ?? []),
    yes: yes || (given.yes ?? false),
    limits: { ...given.limits, ...limits },
  };
}

function withFlags(skill: Skill, { limits, output }: RunOptions): Skill {
  const file = output === undefined ? skill.output.file : resolve(output);
  return { ...skill, limits: { ...skill.limits, ...limits }, output: { ...skill.output, file } };
}

function keeper(keepOutput: Scope["keep"]): Pick<Scope, "keep" | "hasKept"> {
  let hasKept = false;
  return {
    keep(text) {
      const id = keepOutput(text);
      hasKept ||= id !== undefined;
      return id;
    },
    hasKept: () => hasKept,
  };
}

/** `1`, `2`, and within the first `1.1`: whatever the others do meanwhile, the numbers of one are its own. */
function agentCounter(): Scope["nextAgent"] {
  const counts = new Map<string | undefined, number>();
  let all = 0;
  return (above) => {
    if (all++ >= MAX_AGENTS) return undefined;
    const count = (counts.get(above) ?? 0) + 1;
    counts.set(above, count);
    return above === undefined ? String(count) : `${above}.${count}`;
  };
}
