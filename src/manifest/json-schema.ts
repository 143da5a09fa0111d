// The JSON Schema of a manifest, for editors: made from the schema that omega itself checks with.

import { toJsonSchema } from "@valibot/to-json-schema";
import type * as v from "valibot";
import { isValues, type Values } from "./document.ts";
import { Manifest } from "./schema.ts";

export const SCHEMA_URI = "https://json-schema.org/draft/2020-12/schema";

export function manifestJsonSchema(): Values {
  const { $schema: _, $defs: __, ...schema } = convert(Manifest);
  return { $schema: SCHEMA_URI, title: "omega skill", ...schema };
}

function convert(schema: v.GenericSchema): Values {
  const converted = toJsonSchema(schema, {
    typeMode: "input",
    errorMode: "ignore",
    target: "draft-2020-12",
    overrideSchema({ valibotSchema, jsonSchema }) {
      const { description } = jsonSchema;
      if (!("shapes" in valibotSchema) || !Array.isArray(valibotSchema.shapes)) return undefined;
      const anyOf = valibotSchema.shapes.map((shape) => {
        const { $schema: _, ...inner } = convert(shape);
        return inner;
      });
      return { anyOf, ...(description !== undefined && { description }) };
    },
  });
  return isValues(converted) ? converted : {};
}
