import { shop } from "./scenes/database-check.ts";
import { newsletter } from "./scenes/folder-digest.ts";
import { project } from "./scenes/hello.ts";
import { newNote, nothingNew } from "./scenes/knowledge-keeper.ts";
import { noChange, ticketsAgain } from "./scenes/page-watch.ts";
import { nothingForUsers, sinceLastTag } from "./scenes/release-notes.ts";

export const scenes = [
  project,
  newsletter,
  newNote,
  nothingNew,
  sinceLastTag,
  nothingForUsers,
  shop,
  ticketsAgain,
  noChange,
];
