// A run that was refused for its command line has an end like any other: who reads JSON gets it as JSON.

import { asOmegaError } from "../errors.ts";
import { emptyTally, envelope } from "../run/envelope.ts";
import { jsonLine, jsonText } from "../terminal.ts";

/** The envelope that is due on stdout, or undefined. */
export function refusedEnvelope(words: readonly string[], error: unknown): string | undefined {
  const [command, ...rest] = words;
  const format = rest.includes("--json") ? "json" : formatIn(rest);
  const known = asOmegaError(error);
  // Any other end is told by the run itself.
  if (command !== "run" || known.outcome !== "invalid" || (format !== "json" && format !== "stream-json"))
    return undefined;
  const refused = envelope({ ...emptyTally(), error: known });
  return format === "json" ? jsonText(refused) : jsonLine({ type: "end", ...refused });
}

function formatIn(words: readonly string[]): string | undefined {
  const at = words.indexOf("--format");
  return at === -1 ? words.find((word) => word.startsWith("--format="))?.slice("--format=".length) : words[at + 1];
}
