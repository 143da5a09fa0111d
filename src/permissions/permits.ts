// The permissions of one run: what is offered, what each call is told, who was asked, and when it is enough. A person is
// asked one question at a time; without a person, what would be asked is refused.

import { OmegaError } from "../errors.ts";
import { type Action, type Decision, decide, NO_RULE, possible, type Rule, type ToolName } from "./rules.ts";

const REFUSALS_OF_ONE_TOOL = 3;
const SHOWN_ARGUMENTS = 500;
const severity: readonly Action[] = ["allow", "ask", "deny"];
const ALLOWED: Decision = { action: "allow", by: "no rule" };

export type Question = { tool: string; arguments: Readonly<Record<string, unknown>>; by: string };
export type Reply = "once" | "run" | "no";
export type AskPerson = (question: Question, signal: AbortSignal) => Promise<Reply>;

/** A call that was refused; `by` names the rule, or says that nobody could be asked. */
export type Denial = { tool: string; by: string; arguments: string };

/** `undecided`: it would have to be asked for, and nobody is there. `denied`: a rule keeps it away whatever its arguments. */
export type Offer = "offered" | "undecided" | "denied";

export type Permits = {
  offer(name: ToolName): Offer;
  /** Why a call must not be made, or undefined. */
  refusal(name: ToolName, args: Readonly<Record<string, unknown>>, signal: AbortSignal): Promise<string | undefined>;
  /** Why the run cannot go on: one tool was refused too often. */
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
  const refusals = new Map<string, number>();
  const askInTurn = ask && oneAtATime(ask);
  const enough = unattended === "fail" && !ask ? 1 : REFUSALS_OF_ONE_TOOL;
  let halt: OmegaError | undefined;

  function refuse(tool: string, by: string, args: object, why: string): string {
    denials.push({ tool, by, arguments: shown(JSON.stringify(args)) });
    const count = (refusals.get(tool) ?? 0) + 1;
    refusals.set(tool, count);
    if (count >= enough) halt ??= tooOften(tool, by, count);
    return why;
  }

  function layer(own: readonly Rule[], ownExplicit: readonly Rule[], outer: readonly (readonly Rule[])[]): Permits {
    return {
      offer(name) {
        const chances = [
          possible(own, name),
          // Where an outer layer says nothing, it does not restrict.
          ...outer.map((rules) => possible(rules, name).map((each) => (each === NO_RULE ? ALLOWED : each))),
        ].map((decisions) => decisions.map(({ action }) => action));
        if (chances.every((actions) => actions.includes("allow"))) return "offered";
        if (!chances.every((actions) => actions.includes("allow") || actions.includes("ask"))) return "denied";
        return ask ? "offered" : "undecided";
      },
      async refusal(name, args, signal) {
        const tool = originOf(name);
        const above = outer.map((rules) => decide(rules, name, args)).filter((found) => found !== NO_RULE);
        const { action, by } = strictest([decide(own, name, args), ...above]);
        if (action === "allow") return undefined;
        if (action === "deny") return refuse(tool, by, args, `refused by ${by}: this call of ${tool} is not allowed`);
        if (!askInTurn) {
          return refuse(tool, by, args, `not allowed (${by}): nobody can be asked for ${tool} in this run`);
        }
        const reply = await askInTurn({ tool, arguments: args, by }, signal);
        return reply === "no" ? refuse(tool, "a person", args, `a person refused this call of ${tool}`) : undefined;
      },
      halt: () => halt,
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

/** It says where it was cut: of a secret that was cut the beginning is left, and known by that. */
function shown(args: string): string {
  return args.length <= SHOWN_ARGUMENTS ? args : `${args.slice(0, SHOWN_ARGUMENTS)}…`;
}

export function originOf({ server, tool }: ToolName): string {
  return server === undefined ? tool : `${server}/${tool}`;
}

function tooOften(tool: string, by: string, count: number): OmegaError {
  const times = count === 1 ? "once" : `${count} times`;
  return new OmegaError("TOOLS_REFUSED", `the run was ended: ${tool} was refused ${times} (by ${by})`, {
    hint: `if the skill needs it, say so in its manifest, under permissions:\n  - { tool: ${JSON.stringify(tool)}, action: allow }`,
  });
}

/** Two questions at once would mix up their answers. A question that was answered "for this run" is not asked again. */
function oneAtATime(ask: AskPerson): AskPerson {
  let last: Promise<unknown> = Promise.resolve();
  const forRun = new Set<string>();
  return (question, signal) => {
    const next = last.then(async () => {
      signal.throwIfAborted();
      if (forRun.has(question.tool)) return "run" as const;
      const reply = await ask(question, signal);
      if (reply === "run") forRun.add(question.tool);
      return reply;
    });
    last = next.catch(() => undefined);
    return next;
  };
}
