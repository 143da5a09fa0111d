// What a provider sends is read field by field: a field of another type than expected is as good as absent, and unknown
// ones are never looked at. Vendors add fields without a version change, and compatible servers are only nearly so.

import { isObject } from "../mcp/json-rpc.ts";

export type Fields = Record<string, unknown>;

const none: Fields = Object.freeze({});
const empty: readonly unknown[] = Object.freeze([]);

export const fields = (value: unknown): Fields => (isObject(value) ? value : none);
export const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : empty);
export const text = (value: unknown): string => (typeof value === "string" ? value : "");
export const count = (value: unknown): number => (typeof value === "number" && value > 0 ? value : 0);

/** Tool arguments are a string until they are parsed once, by the tool table; some servers send an object. */
export function argumentsText(value: unknown): string {
  return typeof value === "string" ? value : value === undefined || value === null ? "" : JSON.stringify(value);
}

/** The arguments for a wire that wants an object back. What is no JSON object was answered to the model as an error. */
export function argumentsObject(json: string): Fields {
  try {
    return fields(JSON.parse(json));
  } catch (error) {
    if (error instanceof SyntaxError) return none;
    throw error;
  }
}
