// A wire, an address and a key → a model that can be asked: sends, reads, tries again, and counts the cost.

import type { End, Model, ModelEvent, ModelRequest, ToolDefinition } from "../conversation.ts";
import { noUsage } from "../conversation.ts";
import { OmegaError } from "../errors.ts";
import { type Secret, SHORTEST_SECRET, withoutSecrets } from "../redact.ts";
import { ApiError, toOmegaError } from "./failures.ts";
import { costOf, type Price } from "./prices.ts";
import { type Backoff, pastDeadline, pause, usualBackoff, waitBeforeRetry } from "./retry.ts";
import { type Patience, parseEvent, postForEvents } from "./sse.ts";
import type { BodyOptions, OpenWire, Reading } from "./wire.ts";

const usualPatience: Patience = { firstByteMs: 300_000, silenceMs: 120_000 };

export type Address = {
  url: string;
  headers: Record<string, string>;
  options: Omit<BodyOptions, "dropped">;
  maxTools: number | undefined;
  /** Undefined: the table is asked. */
  price: Price | undefined;
  /** Tests have less time. */
  patience?: Partial<Patience & Backoff> | undefined;
};

export function askable(wire: OpenWire, address: Address): Model {
  const { label } = address.options;
  const patience = { ...usualPatience, ...usualBackoff, ...address.patience };
  const dropped = new Set<string>();
  const fitTools = toolFitter(wire, label);
  const keys = keysIn(address.headers);

  async function* once(body: object, reading: Reading, signal: AbortSignal): AsyncGenerator<ModelEvent> {
    for await (const batch of postForEvents({ ...address, body, patience }, signal)) {
      yield* joinTexts(batch, reading);
    }
    yield* reading.finish();
  }

  async function* stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent> {
    refuseTooManyTools(request, address);
    const { tools, changes } = fitTools(request.tools);
    for (const message of changes) yield { type: "debug", message };
    for (let retry = 0; ; ) {
      const maxTokens = shorter(address.options.maxTokens, request.maxTokens);
      const body = wire.toBody({ ...request, tools }, { ...address.options, maxTokens, dropped });
      const reading = wire.read(request.messages.length);
      let called = false;
      try {
        for await (const event of once(body, reading, signal)) {
          called ||= event.type === "call";
          yield event.type === "end" ? await ended(event, reading) : event;
          if (event.type === "end") return;
        }
        return;
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
        error.message = withoutSecrets(error.message, keys);
        if (called && error.retry) {
          yield await ended({ type: "end", reason: "tool", usage: noUsage, cut: `${label} ${error.message}` }, reading);
          return;
        }
        const field = called ? undefined : refusedField(error, body, wire.optional);
        if (field !== undefined) {
          dropped.add(field);
          yield { type: "debug", message: `${label} does not take ${field}; going on without it` };
          continue;
        }
        const waitMs = called ? undefined : waitBeforeRetry(error, retry++, patience);
        if (waitMs === undefined) throw toOmegaError(error, label);
        if (Date.now() + waitMs >= (request.deadlineAt ?? Number.POSITIVE_INFINITY))
          throw toOmegaError(pastDeadline(error, waitMs), label);
        yield { type: "retry", reason: toOmegaError(error, label).message, waitMs };
        await pause(waitMs, signal);
      }
    }
  }

  async function ended(end: End, reading: Reading): Promise<End> {
    const cost = end.cost ?? (end.cut ? undefined : await costOf(label, end.usage, address.price));
    return { ...end, cost, raw: { by: label, blocks: reading.blocks() } };
  }

  return { name: label, stream };
}

function shorter(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined ? (a ?? b) : Math.min(a, b);
}

/** A server may quote the key it was sent in its error; nobody else is to read it. */
function keysIn(headers: Record<string, string>): Secret[] {
  return Object.entries(headers)
    .filter(([name]) => /auth|key|token/i.test(name))
    .map(([name, value]) => ({ name, value: value.replace(/^Bearer\s+/i, ""), source: "header" }))
    .filter(({ value }) => value.length >= SHORTEST_SECRET);
}

/** Pieces of text that have come together are told together, and before what follows them, be it an error. */
function* joinTexts(batch: readonly string[], reading: Reading): Generator<ModelEvent> {
  let text = "";
  try {
    for (const data of batch) {
      for (const told of reading.step(parseEvent(data))) {
        if (told.type === "text") {
          text += told.text;
          continue;
        }
        if (text !== "") yield { type: "text", text };
        text = "";
        yield told;
      }
    }
  } catch (error) {
    if (text !== "") yield { type: "text", text };
    throw error;
  }
  if (text !== "") yield { type: "text", text };
}

/** A 400 that names a field which the answer can do without. */
function refusedField(error: ApiError, body: object, optional: OpenWire["optional"]): string | undefined {
  if (error.status !== 400 && error.status !== 422) return undefined;
  const sent = JSON.stringify(body);
  const said = `${error.param} ${error.message}`;
  return Object.keys(optional).find((field) => optional[field]?.test(said) && sent.includes(`"${field}":`));
}

/** Each definition is fitted once, and what was changed is told once. */
function toolFitter(wire: OpenWire, label: string) {
  const fitted = new Map<ToolDefinition, ToolDefinition>();
  return (tools: readonly ToolDefinition[]): { tools: ToolDefinition[]; changes: string[] } => {
    const told: string[] = [];
    const result = tools.map((tool) => {
      const known = fitted.get(tool);
      if (known) return known;
      const { schema, changes } = wire.fit(tool.inputSchema);
      for (const change of changes) told.push(`schema of ${tool.origin} for ${label}: ${change}`);
      const own = { ...tool, inputSchema: schema };
      fitted.set(tool, own);
      return own;
    });
    return { tools: result, changes: told };
  };
}

function refuseTooManyTools({ tools }: ModelRequest, { maxTools, options }: Address): void {
  if (maxTools === undefined || tools.length <= maxTools) return;
  throw new OmegaError("TOOLS_TOO_MANY", `${options.label} takes ${maxTools} tools, the skill offers ${tools.length}`, {
    hint: "name the tools that the skill needs, under tools: of each server",
  });
}
