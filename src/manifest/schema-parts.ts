// The small pieces of the manifest's schema, each with a message that says what was expected and what was found.

import * as v from "valibot";
import { didYouMean } from "../nearest.ts";
import { inWords, unlike } from "./units.ts";

type Issue = { input: unknown };

const notText = ({ input }: Issue) => unlike("text", input);

export const anyText = (description: string) => v.pipe(v.string(notText), v.description(description));

export const text = (description: string) =>
  v.pipe(
    v.string(notText),
    v.check((value) => value.trim() !== "", "expected some text, got none"),
    v.description(description),
  );

export const matching = (pattern: RegExp, expected: string, description: string) =>
  v.pipe(
    v.string(notText),
    v.regex(pattern, ({ input }) => unlike(expected, input)),
    v.description(description),
  );

export const flag = (description: string) =>
  v.pipe(
    v.boolean(({ input }) => {
      const meant = /^(yes|on|true)$/i.test(String(input))
        ? true
        : /^(no|off|false)$/i.test(String(input))
          ? false
          : "";
      return `${unlike("true or false", input)}${meant === "" ? "" : `; did you mean ${meant}?`}`;
    }),
    v.description(description),
  );

export const number = (description: string, least = 0) =>
  v.pipe(
    v.number(({ input }) => unlike("a number", input)),
    v.minValue(least, ({ input }) => unlike(`at least ${least}`, input)),
    v.description(description),
  );

export const whole = (description: string, least = 1) =>
  v.pipe(
    v.number(({ input }) => unlike("a whole number", input)),
    v.integer(({ input }) => unlike("a whole number", input)),
    v.minValue(least, ({ input }) => unlike(`at least ${least}`, input)),
    v.description(description),
  );

export const oneOf = <const Words extends readonly string[]>(words: Words, description: string) =>
  v.pipe(
    v.picklist(words, ({ input }: Issue) => {
      const near = typeof input === "string" ? didYouMean(input, words) : "";
      return `${unlike(`one of ${words.join(", ")}`, input)}${near}`;
    }),
    v.description(description),
  );

export const listOf = <Item extends v.GenericSchema>(item: Item, description: string) =>
  v.pipe(
    v.array(item, ({ input }) =>
      typeof input === "string" ? `expected a list, got text; write [${inWords(input)}]` : unlike("a list", input),
    ),
    v.description(description),
  );

export const mapOf = <Value extends v.GenericSchema>(
  value: Value,
  description: string,
  key: v.GenericSchema<string, string> = v.string(),
) =>
  v.pipe(
    v.record(key, value, ({ input }) => unlike("names and values", input)),
    v.description(description),
  );

/** A map with these fields and no other. The message stands only where the value is no map at all: see check.ts. */
export const fields = <Entries extends v.ObjectEntries>(entries: Entries) =>
  v.strictObject(entries, ({ input }) => unlike("a map of fields", input));

/**
 * One of several shapes, told apart by a look at the value, so that an error speaks of the shape that was meant; a
 * union would only say that none fits. (`v.variant` wants a field with a literal that tells the shapes apart; here it is
 * which field there is.) `shapes` is what the JSON Schema and the reference show.
 */
export function shapeOf<const Shapes extends readonly v.GenericSchema[]>(
  shapes: Shapes,
  choose: (input: unknown) => Shapes[number],
  description: string,
) {
  return v.pipe(Object.assign(v.lazy(choose), { shapes }), v.description(description));
}
