// What a provider says when it does not answer → our code, our hint and the wait. Pure.

import { describe, expect, test } from "bun:test";
import { failureInStream, failureOf, toOmegaError } from "../../src/providers/failures.ts";

const quota = (quotaId: string, more: object[] = []) => ({
  error: {
    code: 429,
    message: "quota",
    status: "RESOURCE_EXHAUSTED",
    details: [{ "@type": "x.QuotaFailure", violations: [{ quotaId }] }, ...more],
  },
});

type Case = [what: string, status: number, body: unknown, expected: object];
const cases: Case[] = [
  [
    "Anthropic's wrong key",
    401,
    { type: "error", error: { type: "authentication_error", message: "invalid x-api-key" } },
    { code: "MODEL_REJECTED", hint: "check the key" },
  ],
  [
    "Google's wrong key, a 400",
    400,
    {
      error: {
        code: 400,
        message: "API key not valid.",
        status: "INVALID_ARGUMENT",
        details: [{ reason: "API_KEY_INVALID" }],
      },
    },
    { code: "MODEL_REJECTED", hint: "check the key" },
  ],
  [
    "x.ai's wrong key, a 400 with the error as a text",
    400,
    { code: "invalid", error: "Incorrect API key provided" },
    { code: "MODEL_REJECTED", hint: "check the key", message: "p/m answered 400: Incorrect API key provided" },
  ],
  [
    "Mistral's detail",
    401,
    { detail: "Invalid API Key" },
    { code: "MODEL_REJECTED", message: "p/m answered 401: Invalid API Key" },
  ],
  [
    "an unknown model, a 400",
    400,
    { error: { code: "model_not_found", message: "does not exist", type: "invalid_request_error" } },
    { code: "MODEL_REJECTED", hint: "check the model's name, and the address if one is set" },
  ],
  [
    "no money left",
    429,
    { error: { code: "insufficient_quota", message: "quota" } },
    { code: "MODEL_REJECTED", hint: "check the account's credit" },
  ],
  ["a payment due", 402, { error: { message: "pay", type: "billing_error" } }, { code: "MODEL_REJECTED" }],
  [
    "Anthropic's long prompt",
    400,
    { error: { type: "invalid_request_error", message: "prompt is too long: 3 tokens > 2 maximum" } },
    { code: "LIMIT_CONTEXT" },
  ],
  [
    "OpenAI's long prompt",
    400,
    { error: { message: "This model's maximum context length is 8 tokens" } },
    { code: "LIMIT_CONTEXT" },
  ],
  [
    "Google's long prompt",
    400,
    { error: { message: "The input token count (9) exceeds the maximum number of tokens allowed (8)." } },
    { code: "LIMIT_CONTEXT" },
  ],
  [
    "a compatible server's long prompt",
    400,
    { message: "Your request exceeded max context length" },
    { code: "LIMIT_CONTEXT" },
  ],
  ["a request of too many bytes", 413, "", { code: "LIMIT_CONTEXT" }],
  [
    "too many tokens a minute is no long prompt",
    429,
    { error: { message: "Request too large: maximum context length of tokens per min" } },
    { code: "MODEL_UNAVAILABLE" },
  ],
  [
    "Google's retry info",
    429,
    quota("PerMinute", [{ "@type": "x.RetryInfo", retryDelay: "34.4s" }]),
    { code: "MODEL_UNAVAILABLE", retryAfterMs: 34_400 },
  ],
  [
    "a wait in words",
    429,
    { error: { message: "Please try again in 1m2.5s." } },
    { code: "MODEL_UNAVAILABLE", retryAfterMs: 62_500 },
  ],
  [
    "OpenRouter's upstream",
    429,
    { error: { code: 429, message: "Provider returned error", metadata: { raw: "busy upstream" } } },
    { code: "MODEL_UNAVAILABLE", message: "p/m answered 429: Provider returned error: busy upstream" },
  ],
  [
    "an error in a list",
    503,
    [{ error: { code: 503, message: "overloaded", status: "UNAVAILABLE" } }],
    { code: "MODEL_UNAVAILABLE", message: "p/m answered 503: overloaded" },
  ],
  [
    "a page of HTML, which is not quoted",
    500,
    "<!doctype html><p>oops",
    { code: "MODEL_UNAVAILABLE", message: "p/m answered 500: Some Status" },
  ],
  [
    "an error of several lines with escape codes",
    400,
    { error: { message: "a\n\u001b[31mb" } },
    { code: "MODEL_REJECTED", message: "p/m answered 400: a b" },
  ],
];

describe("an HTTP failure:", () => {
  for (const [what, status, body, expected] of cases) {
    test(what, () => {
      const response = { status, statusText: "Some Status", headers: new Headers() };
      const error = failureOf(response, typeof body === "string" ? body : JSON.stringify(body));
      expect(toOmegaError(error, "p/m")).toMatchObject(expected);
    });
  }

  test("a quota of the day is unavailable, and not worth a wait", () => {
    const response = { status: 429, statusText: "", headers: new Headers() };
    const error = failureOf(response, JSON.stringify(quota("GenerateRequestsPerDayPerProject")));
    expect([error.kind, error.retry]).toEqual(["unavailable", false]);
  });

  test("x-should-retry has the last word", () => {
    const response = (word: string) => ({
      status: 400,
      statusText: "",
      headers: new Headers({ "x-should-retry": word }),
    });
    expect(failureOf(response("true"), "").retry).toBe(true);
    expect(failureOf(response("false"), "").retry).toBe(false);
  });
});

const inStream: [string, unknown, string][] = [
  [
    "Anthropic's overload",
    { type: "error", error: { type: "overloaded_error", message: "Overloaded" } },
    "unavailable",
  ],
  ["Anthropic's bad request", { type: "error", error: { type: "invalid_request_error", message: "no" } }, "rejected"],
  ["OpenAI's flat error", { type: "error", code: "server_error", message: "no", param: null }, "unavailable"],
  ["OpenAI's rate limit", { error: { code: "rate_limit_exceeded", message: "try again in 11.054s" } }, "unavailable"],
  [
    "OpenAI's quota",
    { type: "error", error: { type: "insufficient_quota", code: "insufficient_quota", message: "no" } },
    "rejected",
  ],
  ["OpenAI's long prompt", { error: { code: "context_length_exceeded", message: "no" } }, "context"],
  ["a numeric code of the client's fault", { error: { code: 400, message: "no" } }, "rejected"],
  ["a numeric code of the server's fault", { error: { code: 502, message: "no" } }, "unavailable"],
  ["an error as a text", { error: "boom" }, "unavailable"],
  ["an error that says nothing", { error: {} }, "unavailable"],
];
describe("a failure inside a stream:", () => {
  for (const [what, body, kind] of inStream) {
    test(`${what} is ${kind}`, () => expect(failureInStream(body).kind).toBe(kind as any));
  }
});
