// `provider/name` → a model that can be asked. A model without its key, or without its service, gives way to its fallbacks.

import type { Model } from "../conversation.ts";
import { OmegaError } from "../errors.ts";
import type { ModelChoice } from "../manifest/skill.ts";
import { didYouMean } from "../nearest.ts";

export type ModelSettings = { baseUrl?: string | undefined; environment: NodeJS.ProcessEnv; dir: string };

const providers: Record<string, (name: string, settings: ModelSettings) => Promise<Model>> = {
  "openai-chat": openaiChat,
  replay: async (file, { dir }) => (await import("./replay.ts")).openReplay(file, dir),
};

/** The first model of the choice that can be asked; `passedOver` says why earlier ones could not. */
export async function openModel(
  choice: ModelChoice,
  settings: ModelSettings,
): Promise<{ model: Model; passedOver: string[] }> {
  const passedOver: string[] = [];
  const candidates = [{ name: choice.name, baseUrl: choice.baseUrl }, ...choice.fallbacks.map((name) => ({ name }))];
  const models: Model[] = [];
  for (const { name, ...own } of candidates) {
    try {
      models.push(await openOne(name, { ...settings, ...own }));
    } catch (error) {
      if (!(error instanceof OmegaError) || error.code !== "MODEL_KEY_MISSING" || choice.fallbacks.length === 0)
        throw error;
      passedOver.push(error.message);
    }
  }
  const [first, ...rest] = models;
  if (!first) throw new OmegaError("MODEL_KEY_MISSING", passedOver.join("; "));
  return { model: rest.length === 0 ? first : withFallbacks(first, rest), passedOver };
}

function openOne(name: string, settings: ModelSettings): Promise<Model> {
  const slash = name.indexOf("/");
  const provider = providers[name.slice(0, slash)];
  if (slash > 0 && slash < name.length - 1 && provider) return provider(name.slice(slash + 1), settings);
  const known = Object.keys(providers);
  throw new OmegaError(
    "MODEL_UNKNOWN",
    slash > 0
      ? `no provider "${name.slice(0, slash)}"${didYouMean(name.slice(0, slash), known)}`
      : `"${name}" is not provider/name`,
    { hint: `this version knows: ${known.map((key) => `${key}/…`).join(", ")}` },
  );
}

/** While a model is unavailable and has said nothing yet, the next one is asked; it then stays for the rest of the run. */
function withFallbacks(first: Model, rest: Model[]): Model {
  const queue = [...rest];
  let current = first;
  return {
    name: first.name,
    async *stream(request, signal) {
      while (true) {
        let begun = false;
        try {
          for await (const event of current.stream(request, signal)) {
            begun = true;
            yield event;
          }
          return;
        } catch (error) {
          const next = queue[0];
          if (!(error instanceof OmegaError) || error.code !== "MODEL_UNAVAILABLE" || begun || !next) throw error;
          current = next;
          queue.shift();
          yield { type: "fallback", model: next.name, reason: error.message };
        }
      }
    },
  };
}

async function openaiChat(name: string, { baseUrl, environment }: ModelSettings): Promise<Model> {
  const base = baseUrl ?? environment["OPENAI_BASE_URL"];
  // A key from the environment goes where the environment says, never to a host that a manifest names.
  const key = baseUrl === undefined ? environment["OPENAI_API_KEY"] : undefined;
  if (!key && !base) {
    throw new OmegaError("MODEL_KEY_MISSING", `openai-chat/${name} needs a key: OPENAI_API_KEY is not set`, {
      hint: "export OPENAI_API_KEY, or set model.baseUrl to a server that needs none",
    });
  }
  const [{ finish, start, step, toBody }, { postForEvents }] = await Promise.all([
    import("./openai-chat.ts"),
    import("./sse.ts"),
  ]);
  const label = `openai-chat/${name}`;
  return {
    name: label,
    async *stream(request, signal) {
      const state = start();
      const post = {
        url: `${(base ?? "https://api.openai.com/v1").replace(/\/+$/, "")}/chat/completions`,
        headers: key ? { authorization: `Bearer ${key}` } : {},
        body: toBody(name, request),
        label,
      };
      for await (const data of postForEvents(post, signal)) {
        yield* step(state, data, label);
        if (state.ended) return;
      }
      yield* finish(state, label);
    },
  };
}
