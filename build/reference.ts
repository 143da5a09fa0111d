// Writes docs/manifest.md; test/manifest/reference.test.ts holds that it is up to date.

import { writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { manifestReference } from "./manifest-reference.ts";

writeFileSync(resolve(import.meta.dirname, "../docs/manifest.md"), manifestReference());
