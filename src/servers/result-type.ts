// A modern result says what kind it is. Only a complete one is an answer; one without a kind is complete.

import { isObject, RpcError } from "../mcp/json-rpc.ts";

const INVALID_RESULT = -32603;

export function completeResult(result: unknown, method: string): unknown {
  const type = isObject(result) ? result["resultType"] : undefined;
  if (type === undefined || type === "complete") return result;
  if (type === "input_required" && isObject(result)) {
    throw new RpcError(
      INVALID_RESULT,
      `the server asks for input before it answers ${method}: ${requests(result["inputRequests"])}; omega cannot give it yet`,
    );
  }
  throw new RpcError(
    INVALID_RESULT,
    `the server answered ${method} with a result of unknown type ${JSON.stringify(type)}`,
  );
}

/** `elicitation/create "Your name?", roots/list`. */
function requests(inputRequests: unknown): string {
  if (!isObject(inputRequests)) return "it does not say what";
  const described = Object.values(inputRequests).map((request) => {
    if (!isObject(request) || typeof request["method"] !== "string") return "an unknown request";
    const message = isObject(request["params"]) ? request["params"]["message"] : undefined;
    return `${request["method"]}${typeof message === "string" ? ` ${JSON.stringify(message)}` : ""}`;
  });
  return described.join(", ") || "it does not say what";
}
