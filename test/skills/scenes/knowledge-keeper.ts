import { call, type Scene } from "../scene.ts";

const files = {
  "2026-11-03 kick-off.md":
    "# Kick-off, 3 November\n\nPresent: Ada, Tomas.\nProject Heron replaces the booking page. Tomas builds it, Ada owns the budget (40,000).\nDecided: we stay with PostgreSQL.\n",
  "2026-11-17 weekly.md":
    "# Weekly, 17 November\n\nHeron waits for the payment contract with Nordpay. Tomas starts on the calendar meanwhile.\nBudget is now 35,000.\n",
};

const entities = [
  {
    name: "Heron",
    entityType: "project",
    observations: [
      "replaces the booking page (2026-11-03 kick-off.md)",
      "has a budget of 40,000 (2026-11-03 kick-off.md)",
    ],
  },
  { name: "Ada", entityType: "person", observations: ["owns the budget of Heron (2026-11-03 kick-off.md)"] },
  { name: "Tomas", entityType: "person", observations: ["builds Heron (2026-11-03 kick-off.md)"] },
  {
    name: "Stay with PostgreSQL",
    entityType: "decision",
    observations: ["decided on 3 November 2026 (2026-11-03 kick-off.md)"],
  },
];
const relations = [
  { from: "Tomas", to: "Heron", relationType: "works_on" },
  { from: "Ada", to: "Heron", relationType: "owns_budget_of" },
  { from: "Heron", to: "Stay with PostgreSQL", relationType: "depends_on" },
];
const later = {
  entities: [
    {
      name: "Nordpay",
      entityType: "organisation",
      observations: ["its payment contract is awaited (2026-11-17 weekly.md)"],
    },
  ],
  relations: [{ from: "Heron", to: "Nordpay", relationType: "waits_for" }],
  observations: [{ entityName: "Tomas", contents: ["starts on the calendar of Heron (2026-11-17 weekly.md)"] }],
};

/** As server-memory writes it. */
const graph = (...parts: { entities: object[]; relations: object[] }[]) =>
  [
    ...parts.flatMap((part) => part.entities.map((entity) => ({ type: "entity", ...entity }))),
    ...parts.flatMap((part) => part.relations.map((relation) => ({ type: "relation", ...relation }))),
  ]
    .map((line) => JSON.stringify(line))
    .join("\n");

const look = (work: string) => ({
  text: "First the graph, and what notes there are.",
  calls: [call("memory/read_graph"), call("notes/list_directory", { path: work })],
});
const read = (work: string) => ({
  text: "Now the notes themselves.",
  calls: [call("notes/read_multiple_files", { paths: Object.keys(files).map((name) => `${work}/${name}`) })],
});

export const newNote: Scene = {
  skill: "knowledge-keeper",
  name: "new-note",
  files: { ...files, "knowledge.jsonl": graph({ entities, relations }) },
  outcome: "done",
  turns: (work) => [
    look(work),
    read(work),
    {
      text: "The kick-off is in the graph already. The weekly note brings Nordpay and what Tomas does meanwhile.",
      calls: [
        call("memory/create_entities", { entities: later.entities }),
        call("memory/add_observations", { observations: later.observations }),
      ],
    },
    { text: "", calls: [call("memory/create_relations", { relations: later.relations })] },
    {
      text: "Added: the organisation Nordpay, that Heron waits for its contract, and that Tomas starts on the calendar.\n\nContradiction, left as it is: the graph has a budget of 40,000 for Heron (2026-11-03 kick-off.md), the note of 17 November says 35,000. Somebody should settle which holds.",
    },
  ],
};

export const nothingNew: Scene = {
  skill: "knowledge-keeper",
  name: "nothing-new",
  files: { ...files, "knowledge.jsonl": graph({ entities, relations }, later) },
  outcome: "nothing-to-do",
  turns: (work) => [
    look(work),
    read(work),
    {
      text: "",
      calls: [
        {
          name: "finish",
          arguments: {
            status: "nothing-to-do",
            summary: "The graph knows all that the two notes say. Still open: the budget of Heron, 40,000 or 35,000.",
          },
        },
      ],
    },
  ],
};
