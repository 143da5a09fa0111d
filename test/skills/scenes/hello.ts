import { symlinkSync } from "node:fs";
import { resolve } from "node:path";
import { root } from "../../support/omega.ts";
import { call, type Scene } from "../scene.ts";

export const project: Scene = {
  skill: "hello",
  name: "project",
  files: {
    "package.json": '{ "name": "tide-table", "version": "2.1.0", "description": "Prints the tides of a harbour." }\n',
    "tides.js": "export const tides = [];\n",
  },
  // A folder with a package.json is where npx looks, and no higher.
  prepare: (work) => symlinkSync(resolve(root, "node_modules"), `${work}/node_modules`),
  outcome: "done",
  turns: () => [
    { text: "Let me look around.", calls: [call("files/list_directory", { path: "." })] },
    { calls: [call("files/read_text_file", { path: "package.json" })] },
    { text: "This is tide-table 2.1.0, a small program in JavaScript that prints the tides of a harbour." },
  ],
};
