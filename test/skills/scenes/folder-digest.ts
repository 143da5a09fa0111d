import { call, type Scene } from "../scene.ts";

const files = {
  "README.md":
    "# Allotment newsletter\n\nFour issues a year for the 62 members. Drafts are in drafts/, printed issues in issues/.\n",
  "TODO.md":
    "- [x] ask Meera for the compost article\n- [ ] photo for the cover\n- [ ] new price list from the printer\n",
  "drafts/compost.md": "# Compost, the slow way\n\nBy Meera. 800 words. Turn it twice, then leave it alone.\n",
  "drafts/water-rota.md": "# Water rota for summer\n\nTODO: who has the key in August?\n",
  "issues/2026-spring.md": "# Spring 2026\n\nSeeds, frost dates, the new shed. Printed 2 March, 70 copies.\n",
  "issues/2026-summer.md": "# Summer 2026\n\nSlugs, the open day on 12 July. Printed 1 June, 80 copies.\n",
  "node_modules/printer/index.js": "module.exports = 1;\n",
};

export const newsletter: Scene = {
  skill: "folder-digest",
  name: "newsletter",
  files,
  outcome: "done",
  turns: (work) => [
    {
      text: "Let me look at the tree first.",
      calls: [call("files/directory_tree", { path: work, excludePatterns: ["node_modules", ".git"] })],
    },
    {
      text: "I'll read the README, the to-do list and both drafts, and glance at the newest issue.",
      calls: [
        call("files/read_multiple_files", { paths: [`${work}/README.md`, `${work}/TODO.md`] }),
        call("files/read_multiple_files", { paths: [`${work}/drafts/compost.md`, `${work}/drafts/water-rota.md`] }),
        call("files/read_text_file", { path: `${work}/issues/2026-summer.md` }),
      ],
    },
    {
      text: `## What it is
The newsletter of an allotment association: four issues a year for 62 members.

## What is in it
- \`issues/\`: two printed issues of 2026, spring and summer. The summer one (slugs, the open day on 12 July) was printed on 1 June in 80 copies.
- \`drafts/\`: two articles for the next issue, Meera's on compost (\`drafts/compost.md\`, 800 words) and a water rota.
- \`README.md\` and \`TODO.md\`: how it is laid out, and what is open.

## Unfinished
- \`drafts/water-rota.md\`: nobody is named yet for the key in August.
- \`TODO.md\`: the photo for the cover, and a new price list from the printer.

## Look first at
\`TODO.md\`, then \`drafts/water-rota.md\`: it is the only text that waits for somebody's answer.`,
    },
  ],
};
