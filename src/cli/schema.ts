import { defineCommand } from "citty";

export default defineCommand({
  meta: { name: "schema", description: "Print the JSON Schema of a manifest, for editors" },
  async run() {
    const { manifestJsonSchema } = await import("../manifest/json-schema.ts");
    process.stdout.write(`${JSON.stringify(manifestJsonSchema(), null, 2)}\n`);
  },
});
