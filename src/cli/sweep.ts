import { defineCommand } from "citty";
import { exitCodeOf } from "../outcome.ts";
import { type Leftover, sweepDeadRuns, sweepRun } from "../records/leftovers.ts";

export default defineCommand({
  meta: { name: "sweep", description: "End what runs whose omega was killed have left behind" },
  args: {
    run: { type: "positional", required: false, description: "the id of one run; without it: all dead runs" },
    orphan: { type: "boolean", description: "also a run that the journal does not know; its omega must be dead" },
    json: { type: "boolean", description: "the result as JSON" },
    verbose: { type: "boolean", alias: "v", description: "more on stderr" },
  },
  async run({ args }) {
    const runs = args.run ? [await sweepRun(args.run, args.orphan ?? false)] : await sweepDeadRuns();
    process.stdout.write(args.json ? `${JSON.stringify({ runs }, null, 2)}\n` : tell(runs));
    return exitCodeOf(runs.some(({ survivors }) => survivors.length > 0) ? "failed" : "done");
  },
});

function tell(runs: readonly Leftover[]): string {
  if (runs.length === 0) return "no dead run has left anything\n";
  return runs
    .map(({ run, killed, survivors, unseen, record, trouble }) => {
      const counts = [`${killed} ended`, `${survivors.length} could not be ended`, `${unseen} could not be looked at`];
      const pids = survivors.length > 0 ? ` (pids ${survivors.join(" ")})` : "";
      const told = trouble === null ? (record ?? "") : `its end could not be told: ${trouble}`;
      return `${run}: ${counts.join(", ")}${pids}${told && `; ${told}`}\n`;
    })
    .join("");
}
