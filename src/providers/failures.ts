// What a provider says when it does not answer → one kind of failure, whether to try again, and when.

import { OmegaError } from "../errors.ts";
import { oneLine } from "../terminal.ts";
import { type Fields, fields, list, text } from "./loose.ts";

type Kind = "rejected" | "unavailable" | "context";
type Details = {
  retry?: boolean;
  retryAfterMs?: number | undefined;
  status?: number;
  param?: string;
  hint?: string;
  cause?: unknown;
};

/** A failure before it has the name of a model; ask.ts turns it into an OmegaError. */
export class ApiError extends Error {
  override readonly name = "ApiError";
  readonly kind: Kind;
  /** Worth another try in this run. */
  readonly retry: boolean;
  readonly retryAfterMs: number | undefined;
  readonly status: number | undefined;
  /** The field of the request that was refused, where the provider names one. */
  readonly param: string;
  readonly hint: string | undefined;

  constructor(kind: Kind, message: string, details: Details = {}) {
    super(message, { cause: details.cause });
    this.kind = kind;
    this.retry = details.retry ?? kind === "unavailable";
    this.retryAfterMs = details.retryAfterMs;
    this.status = details.status;
    this.param = details.param ?? "";
    this.hint = details.hint;
  }
}

export const truncated = () => new ApiError("unavailable", "broke off before the end of its answer");

/** An error inside a stream whose status was 200. */
export function failureInStream(body: unknown): ApiError {
  const said = read(body);
  return new ApiError(
    kindOf(said.code, said),
    `failed while answering: ${oneLine(said.message, 300) || "no reason given"}`,
    {
      retryAfterMs: waitInBody(said),
    },
  );
}

export function failureOf(response: { status: number; statusText: string; headers: Headers }, body: string): ApiError {
  const { status, headers } = response;
  const said = read(parse(body));
  const kind = kindOf(status, said);
  const should = headers.get("x-should-retry");
  const message = said.message || response.statusText;
  return new ApiError(should === "true" ? "unavailable" : kind, `answered ${status}: ${oneLine(message, 300)}`, {
    retry: should === null ? kind === "unavailable" && !isDailyQuota(said) : should === "true",
    retryAfterMs: waitInHeaders(headers) ?? waitInBody(said),
    status,
    param: said.param,
    hint: hintFor(status, said),
  });
}

function hintFor(status: number, { words, message }: Said): string {
  const says = (pattern: RegExp) => [message, ...words].some((word) => pattern.test(word));
  if (says(noMoney)) return "check the account's credit";
  if (status === 401 || status === 403 || says(/api[_ ]key/i)) return "check the key";
  return status === 404 || says(/^model_not_found$/) ? "check the model's name, and the address if one is set" : "";
}

export function toOmegaError(error: ApiError, label: string): OmegaError {
  const message = `${label} ${error.message}`;
  const { cause, retryAfterMs } = error;
  if (error.kind === "context") {
    const hint = "let the tools answer less, or take a model with a larger context";
    return new OmegaError("LIMIT_CONTEXT", message, { cause, hint });
  }
  if (error.kind === "unavailable") {
    const hint = "it may work later; nothing is wrong with the skill";
    return new OmegaError("MODEL_UNAVAILABLE", message, {
      cause,
      hint,
      ...(retryAfterMs !== undefined && { retryAfterMs }),
    });
  }
  return new OmegaError("MODEL_REJECTED", message, { cause, ...(error.hint && { hint: error.hint }) });
}

type Said = { message: string; words: string[]; code: number | undefined; param: string; details: readonly unknown[] };

/** `{error: {message, type, code}}`, `{error: "…"}`, `{message}`, `{detail}`, any of them in a list; HTML is not quoted. */
function read(body: unknown): Said {
  const outer = fields(Array.isArray(body) ? body[0] : body);
  const error = fields(outer["error"]);
  const raw = text(fields(error["metadata"])["raw"]);
  const own = [error["message"], outer["error"], outer["message"], outer["detail"], body].map(text).find(Boolean) ?? "";
  const code = error["code"] ?? outer["code"];
  return {
    message: raw ? `${own}: ${raw}` : own,
    words: [error["type"], error["status"], code, outer["type"], ...reasons(error)].map(text).filter(Boolean),
    code: Number(code) || undefined,
    param: text(error["param"]),
    details: list(error["details"]),
  };
}

const reasons = (error: Fields) => list(error["details"]).map((detail) => fields(detail)["reason"]);

function parse(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch (error) {
    if (error instanceof SyntaxError) return body.trimStart().startsWith("<") ? "" : body;
    throw error;
  }
}

const tooLong =
  /prompt is too long|maximum context length|exceed(s|ed)? (the |max(imum)? )?(available )?context|input token count.*exceeds|total length of all messages is too long|context_length_exceeded|request_too_large/i;
const noMoney = /insufficient_quota|credit|billing|spend/i;
const forGood =
  /^(invalid_|unsupported_|image_|empty_|authentication_|permission_|not_found|model_not_found|API_KEY_INVALID|INVALID_ARG|FAILED_PRE)/i;

/** Without a status (inside a stream) what is not known to be for good may pass. */
function kindOf(status: number | undefined, { words, message }: Said): Kind {
  const says = (pattern: RegExp) => words.some((word) => pattern.test(word));
  if (status === 413 || (status !== 429 && (tooLong.test(message) || says(tooLong)))) return "context";
  if (says(noMoney)) return "rejected";
  // The model wrote a call that the server could not read: another try writes another one.
  if (says(/^tool_use_failed$/)) return "unavailable";
  if (status === undefined) return says(forGood) ? "rejected" : "unavailable";
  return [408, 409, 425, 429].includes(status) || status >= 500 ? "unavailable" : "rejected";
}

/** A quota of the day does not come back while the run waits. */
function isDailyQuota({ details }: Said): boolean {
  return details
    .flatMap((detail) => list(fields(detail)["violations"]))
    .some((violation) => /PerDay/i.test(text(fields(violation)["quotaId"])));
}

function waitInHeaders(headers: Headers): number | undefined {
  const ms = Number(headers.get("retry-after-ms") ?? Number.NaN);
  if (ms >= 0) return ms;
  const after = headers.get("retry-after");
  if (after !== null) {
    const seconds = Number(after);
    const wait = after.trim() !== "" && seconds >= 0 ? seconds * 1000 : Date.parse(after) - Date.now();
    if (!Number.isNaN(wait)) return Math.max(0, wait);
  }
  return waitForBudget(headers);
}

/** `x-ratelimit-remaining-tokens: 0` with `x-ratelimit-reset-tokens: 6m0s`; Anthropic's has a date and its own order. */
function waitForBudget(headers: Headers): number | undefined {
  const waits: number[] = [];
  headers.forEach((value, name) => {
    if (value.trim() !== "0" || !name.includes("ratelimit") || !name.includes("remaining")) return;
    const reset = headers.get(name.replace("remaining", "reset")) ?? "";
    const wait = duration(reset) ?? Date.parse(reset) - Date.now();
    if (wait >= 0) waits.push(wait);
  });
  return waits.length === 0 ? undefined : Math.max(...waits);
}

function waitInBody({ details, message }: Said): number | undefined {
  const told = details.map((detail) => text(fields(detail)["retryDelay"])).find(Boolean);
  return duration(told ?? /(?:try again|retry) in ((?:[\d.]+(?:ms|[hms]))+)/i.exec(message)?.[1] ?? "");
}

const units: Record<string, number> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

/** `34.4s`, `6m0s`, `120ms` → ms. */
function duration(words: string): number | undefined {
  if (!/^(\d+(\.\d+)?(ms|s|m|h))+$/.test(words)) return undefined;
  let sum = 0;
  for (const [, number, unit = ""] of words.matchAll(/([\d.]+)(ms|[smh])/g)) sum += Number(number) * (units[unit] ?? 0);
  return Math.ceil(sum);
}
