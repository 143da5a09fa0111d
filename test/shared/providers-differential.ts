// The same recorded stream through our wires and through the AI SDK's: same text, calls and usage; each difference is listed
// with its reason.

import { expect, test } from "bun:test";
import { parsed, sdkAnswer, sdkModel, toOurUsage } from "../support/ai-sdk.ts";
import { answerTo } from "../support/ask.ts";
import { recordings } from "../support/recordings.ts";
import { wireServer } from "../support/wire-server.ts";

const foreignTool = "a tool of the provider's own, which omega never declares, is no call for us";
const reasoningApart = "the server's total shows that reasoning is not in its completion tokens; we count it as output";
const explained: Record<string, { differs: ("text" | "calls" | "usage")[]; because: string }> = {
  "anthropic-compaction.1.chunks.txt": {
    differs: ["text"],
    because: "a summary for the provider's use is not the answer",
  },
  "xai-pkg-xai-tool-call.chunks.txt": { differs: ["usage"], because: reasoningApart },
  "xai-text.chunks.txt": { differs: ["usage"], because: reasoningApart },
  "xai-tool-call.chunks.txt": { differs: ["usage"], because: reasoningApart },
  "openai-apply-patch-tool-delete.1.chunks.txt": { differs: ["calls"], because: foreignTool },
  "openai-apply-patch-tool.1.chunks.txt": { differs: ["calls"], because: foreignTool },
  "openai-custom-tool.1.chunks.txt": { differs: ["calls"], because: foreignTool },
  "openai-shell-container.1.chunks.txt": { differs: ["calls"], because: foreignTool },
  "openai-shell-skills.1.chunks.txt": { differs: ["calls"], because: foreignTool },
  "openai-shell-tool.1.chunks.txt": { differs: ["calls"], because: foreignTool },
  "parallel-tool-call-wrapper.1.chunks.txt": {
    differs: ["calls"],
    because: "an event is not JSON: we ask again, they go on without it",
  },
};

for (const { file, provider, turns, isStream } of recordings()) {
  if (!isStream) continue;
  const { differs = [], because = "" } = explained[file.split("/")[1] ?? ""] ?? {};
  test(`${file}: the same as the AI SDK${because && `, but for ${differs}: ${because}`}`, async () => {
    const found = new Set<string>();
    for (const turn of turns) {
      const ours = await answerTo(provider, turn);
      await using server = await wireServer(turn);
      const theirs = await sdkAnswer(sdkModel(provider, server.url));
      expect(ours.error === undefined).toBe(theirs.error === undefined);
      const calls = ours.calls.map((call) => ({ name: call.name, input: parsed(call.arguments) }));
      if (ours.text !== theirs.text) found.add("text");
      if (!Bun.deepEquals(calls, theirs.calls)) found.add("calls");
      if (ours.end && !Bun.deepEquals(ours.end.usage, toOurUsage(theirs.usage))) found.add("usage");
    }
    expect([...found]).toEqual(differs);
  });
}
