// The permissions of one run: what is offered, what each call is told, who was asked, and when it is enough. A person is
// asked one question at a time; without a person, what would be asked is refused.

import { OmegaError } from "../errors.ts";
import { type Action, type Decision, decide, groundOf, NO_RULE, possible, type Rule, type ToolName } from "./rules.ts";

const REFUSALS_OF_ONE_TOOL = 3;
const SHOWN_ARGUMENTS = 500;
const PERSON = "a person";
const severity: readonly Action[] = ["allow", "ask", "deny"];
const ALLOWED: Decision = { action: "allow", by: "no rule" };

export type Question = { tool: string; arguments: Readonly<Record<string, unknown>>; by: string };
export type Reply = "once" | "run" | "no";
export type AskPerson = (question: Question, signal: AbortSignal) => Promise<Reply>;

/** A call that was refused; `by` names the rule, or says that there is none, or that it was a person. */
export type Denial = { tool: string; by: string; arguments: string };

/**
 * `undecided`: it would have to be asked for, as `by` says, and nobody is there. `denied`: a rule keeps it away whatever its
 * arguments.
 */
export type Offer = { kind: "offered" | "denied" } | { kind: "undecided"; by: string };

export type Permits = {
  offer(name: ToolName): Offer;
  /** Why a call must not be made, or undefined. */
  refusal(name: ToolName, args: Readonly<Record<string, unknown>>, signal: AbortSignal): Promise<string | undefined>;
  /**
   * Asked at the end of each turn: why there must be no other, for one tool was refused too often. Of one turn all refusals
   * of a tool are one: its calls were made before the model could know.
   */
  halt(): OmegaError | undefined;
  denials: readonly Denial[];
  isAttended: boolean;
  /** For a sub-skill: its own rules decide, and what these rules say explicitly holds as well. */
  within(rules: readonly Rule[], explicit: readonly Rule[]): Permits;
};

export type PermitOptions = {
  rules: readonly Rule[];
  /** Those of them that a person wrote as rules: a sub-skill must obey them too. */
  explicit: readonly Rule[];
  /** Absent: nobody can be asked. */
  ask?: AskPerson | undefined;
  /** `fail`: the first refusal ends the run. */
  unattended: "deny" | "fail";
};

export function openPermits({ rules, explicit, ask, unattended }: PermitOptions): Permits {
  const denials: Denial[] = [];
  const refusals = new Map<string, { turns: number; last: number }>();
  let turn = 0;
  const askInTurn = ask && oneAtATime(ask);
  const enough = unattended === "fail" && !ask ? 1 : REFUSALS_OF_ONE_TOOL;
  let halt: OmegaError | undefined;

  function refuse(tool: string, by: string, args: object, why: string): string {
    denials.push({ tool, by, arguments: beginning(JSON.stringify(args)) });
    const { turns, last } = refusals.get(tool) ?? { turns: 0, last: -1 };
    const count = last === turn ? turns : turns + 1;
    refusals.set(tool, { turns: count, last: turn });
    if (count >= enough) halt ??= tooOften(tool, by, count);
    return why;
  }

  function layer(own: readonly Rule[], ownExplicit: readonly Rule[], outer: readonly (readonly Rule[])[]): Permits {
    return {
      offer(name) {
        const layers = [
          possible(own, name),
          // Where an outer layer says nothing, it does not restrict.
          ...outer.map((rules) => possible(rules, name).map((each) => (each === NO_RULE ? ALLOWED : each))),
        ];
        const closed = layers.filter((decisions) => decisions.every(({ action }) => action !== "allow"));
        const asking = closed.map((decisions) => decisions.find(({ action }) => action === "ask"));
        const [first] = asking;
        if (asking.includes(undefined)) return { kind: "denied" };
        return ask || !first ? { kind: "offered" } : { kind: "undecided", by: first.by };
      },
      async refusal(name, args, signal) {
        const tool = originOf(name);
        const above = outer.map((rules) => decide(rules, name, args)).filter((found) => found !== NO_RULE);
        const { action, by } = strictest([decide(own, name, args), ...above]);
        if (action === "allow") return undefined;
        if (action === "deny") return refuse(tool, by, args, `refused by ${by}: this call of ${tool} is not allowed`);
        if (!askInTurn) {
          const why = `not allowed (${groundOf(by)}), and nobody can be asked for ${tool} in this run`;
          return refuse(tool, by, args, why);
        }
        const reply = await askInTurn({ tool, arguments: args, by }, signal);
        return reply === "no" ? refuse(tool, PERSON, args, `a person refused this call of ${tool}`) : undefined;
      },
      halt() {
        turn++;
        return halt;
      },
      denials,
      isAttended: ask !== undefined,
      within: (rules, explicit) => layer(rules, explicit, [...outer, ownExplicit]),
    };
  }

  return layer(rules, explicit, []);
}

function strictest(decisions: readonly Decision[]): Decision {
  return decisions.reduce((a, b) => (severity.indexOf(b.action) > severity.indexOf(a.action) ? b : a));
}

export function originOf({ server, tool }: ToolName): string {
  return server === undefined ? tool : `${server}/${tool}`;
}

/** What is cut says so: where a secret was cut, its beginning is still found. */
function beginning(text: string): string {
  return text.length <= SHOWN_ARGUMENTS ? text : `${text.slice(0, SHOWN_ARGUMENTS - 1)}…`;
}

function tooOften(tool: string, by: string, count: number): OmegaError {
  const times = count === 1 ? "once" : `in ${count} turns`;
  const message = `the run was ended: ${tool} was refused ${times} (${groundOf(by)})`;
  if (by === PERSON) return new OmegaError("TOOLS_REFUSED", message);
  const hint = by.startsWith("--")
    ? `if the skill needs it, run it without ${by}`
    : `if the skill needs it, ${lineToAllow([tool])}`;
  return new OmegaError("TOOLS_REFUSED", message, { hint });
}

/** The lines to paste; they settle it whatever other rules say. */
export function lineToAllow(tools: readonly string[]): string {
  const lines = tools.map((tool) => `\n  - { tool: ${JSON.stringify(tool)}, action: allow }`);
  return `allow it before all other rules, under permissions:${lines.join("")}`;
}

/** Two questions at once would mix up their answers. What a rule asks of a tool and was answered "for this run" stays so. */
function oneAtATime(ask: AskPerson): AskPerson {
  let last: Promise<unknown> = Promise.resolve();
  const forRun = new Set<string>();
  return (question, signal) => {
    const next = last.then(async () => {
      signal.throwIfAborted();
      const what = JSON.stringify([question.tool, question.by]);
      if (forRun.has(what)) return "run" as const;
      const reply = await ask(question, signal);
      if (reply === "run") forRun.add(what);
      return reply;
    });
    last = next.catch(() => undefined);
    return next;
  };
}
