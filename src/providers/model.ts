// `provider/name` → a model that can be asked. A model without its key, or without its service, gives way to its fallbacks.

import type { Folders } from "../cassette/places.ts";
import type { Model } from "../conversation.ts";
import { OmegaError } from "../errors.ts";
import type { ModelChoice } from "../manifest/skill.ts";
import { didYouMean } from "../nearest.ts";
import type { Secret } from "../redact.ts";
import type { Address } from "./ask.ts";
import { type Preset, presets } from "./presets.ts";

export type ModelSettings = {
  environment: NodeJS.ProcessEnv;
  /** What a replay script's path is relative to. */
  dir: string;
  /** What the names of folders in a cassette stand for. */
  folders?: Partial<Folders>;
  patience?: Address["patience"];
};

/** The first model of the choice that can be asked; `passedOver` says why earlier ones could not. */
export async function openModel(
  choice: ModelChoice,
  settings: ModelSettings,
): Promise<{ model: Model; passedOver: string[] }> {
  const passedOver: string[] = [];
  const { temperature, maxTokens, thinking } = choice;
  // Address, key and price are the first model's own.
  const others = choice.fallbacks.map((name) => ({ name, fallbacks: [], temperature, maxTokens, thinking }));
  const models: Model[] = [];
  for (const candidate of [choice, ...others]) {
    try {
      models.push(await openOne(candidate, settings));
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

/** The variables with a key that are set, of all providers. */
export function keysFound(environment: NodeJS.ProcessEnv): string[] {
  const variables = new Set(Object.values(presets).flatMap(({ keys }) => keys));
  return [...variables].filter((variable) => environment[variable]);
}

/** The keys that the models of a choice would take from the environment, by their variables. */
export function keysOf(choice: ModelChoice, environment: NodeJS.ProcessEnv): Secret[] {
  const candidates = [choice, ...choice.fallbacks.map((name) => ({ name, fallbacks: [] }))];
  const variables = candidates.map((candidate) => keyVariableOf(candidate, environment));
  return [...new Set(variables)].flatMap((name) => {
    const value = name === undefined ? undefined : environment[name];
    return name === undefined || value === undefined ? [] : [{ name, value, source: "the environment" }];
  });
}

/** Undefined where none is set, where the manifest brings its own key, and where the model cannot be asked at all. */
function keyVariableOf(choice: ModelChoice, environment: NodeJS.ProcessEnv): string | undefined {
  const preset = presetOf(choice.name);
  if (!preset || choice.apiKey !== undefined) return undefined;
  try {
    return locate(choice, preset, environment).keyVariable;
  } catch (error) {
    if (error instanceof OmegaError) return undefined;
    throw error;
  }
}

function presetOf(model: string): Preset | undefined {
  const [provider = ""] = model.split("/");
  return Object.hasOwn(presets, provider) ? presets[provider] : undefined;
}

async function openOne(choice: ModelChoice, settings: ModelSettings): Promise<Model> {
  const [provider = "", name = ""] = choice.name.split(/\/(.*)/s);
  if (provider === "replay" && name) return (await import("./replay.ts")).openReplay(name, settings);
  const preset = presetOf(choice.name);
  if (!preset || name === "") throw unknownModel(choice.name, provider);
  const place = locate(choice, preset, settings.environment);
  const [wire, { askable }] = await Promise.all([preset.wire(), import("./ask.ts")]);
  const { temperature, maxTokens, thinking, price } = choice;
  const headers = { ...place.headers, ...lowerCase(choice.headers) };
  refuseUnsendable(headers, choice.name);
  return askable(wire, {
    url: `${place.url}/${wire.path(name)}`,
    headers,
    options: { model: name, label: choice.name, temperature, maxTokens, thinking, quirks: preset.quirks ?? {} },
    maxTools: place.isOwnHost ? preset.maxTools : undefined,
    price,
    patience: settings.patience,
  });
}

export type Place = {
  url: string;
  headers: Record<string, string>;
  isOwnHost: boolean;
  keyVariable: string | undefined;
};

/**
 * Where a provider is, and what opens its door. A key from the environment goes to the provider's own host or where the
 * environment says, never to a host that a manifest names.
 */
export function locate(choice: ModelChoice, preset: Preset, environment: NodeJS.ProcessEnv): Place {
  const host = preset.hosts.find((variable) => environment[variable]);
  const base = choice.baseUrl ?? (host && environment[host]) ?? preset.baseUrl;
  if (base === undefined) {
    throw new OmegaError("MODEL_KEY_MISSING", `${choice.name} needs an address: ${preset.hosts[0]} is not set`, {
      hint: `export ${preset.hosts[0]}, or set model.baseUrl`,
    });
  }
  const trimmed = base.replace(/\/+$/, "");
  const url = base === preset.baseUrl ? base : (preset.address?.(trimmed, environment) ?? trimmed);
  const isOwnHost = preset.baseUrl !== undefined && originOf(url, choice.name) === new URL(preset.baseUrl).origin;
  const mayHaveKey = choice.baseUrl === undefined || isOwnHost;
  const keyVariable = mayHaveKey ? preset.keys.find((variable) => environment[variable]) : undefined;
  const key = choice.apiKey ?? (keyVariable && environment[keyVariable]);
  const bringsOwn = Object.keys(choice.headers ?? {}).some((name) => /auth|key|token/i.test(name));
  const isElsewhere = preset.baseUrl === undefined ? choice.baseUrl !== undefined : !isOwnHost;
  if (!key && !bringsOwn && preset.needsKey && !isElsewhere) {
    throw new OmegaError("MODEL_KEY_MISSING", `${choice.name} needs a key: ${preset.keys.join(" or ")} is not set`, {
      hint: `export ${preset.keys[0]}, or set model.baseUrl to a server that needs none`,
    });
  }
  const auth = preset.auth ?? ((bearer: string) => ({ authorization: `Bearer ${bearer}` }));
  const fromEnvironment = mayHaveKey ? preset.headers?.(environment) : preset.headers?.({});
  const headers = { ...fromEnvironment, ...(key && auth(key, choice.apiKey ? undefined : keyVariable)) };
  return { url, headers, isOwnHost, keyVariable };
}

/** A key with a line break within it would fail like a network, and be tried again and again. Its value is not told. */
function refuseUnsendable(headers: Record<string, string>, label: string): void {
  for (const [name, value] of Object.entries(headers)) {
    try {
      new Headers([[name, value]]);
    } catch (cause) {
      if (!(cause instanceof TypeError)) throw cause;
      throw new OmegaError("MODEL_KEY_MISSING", `${label}: the header ${name} cannot be sent with the value it has`, {
        hint: "a key is one line of plain characters: look for a line break or a quotation mark that came along",
      });
    }
  }
}

function originOf(url: string, label: string): string {
  if (!URL.canParse(url)) throw new OmegaError("MODEL_UNKNOWN", `the address of ${label} is not a URL: ${url}`);
  return new URL(url).origin;
}

function lowerCase(headers: Record<string, string> = {}): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

function unknownModel(name: string, provider: string): OmegaError {
  const known = [...Object.keys(presets), "replay"];
  const message =
    name.includes("/") && !known.includes(provider)
      ? `no provider "${provider}"${didYouMean(provider, known)}`
      : `"${name}" is not provider/name`;
  const hint = `this version knows: ${known.map((key) => `${key}/…`).join(", ")}`;
  return new OmegaError("MODEL_UNKNOWN", message, { hint });
}

/** While a model is unavailable and no call of its answer has begun, the next one is asked; it then stays for the run. */
function withFallbacks(first: Model, rest: Model[]): Model {
  const queue = [...rest];
  let current = first;
  return {
    name: first.name,
    async *stream(request, signal) {
      while (true) {
        let called = false;
        try {
          for await (const event of current.stream(request, signal)) {
            called ||= event.type === "call";
            yield event;
          }
          return;
        } catch (error) {
          const next = queue[0];
          if (!(error instanceof OmegaError) || error.code !== "MODEL_UNAVAILABLE" || called || !next) throw error;
          current = next;
          queue.shift();
          yield { type: "fallback", model: next.name, reason: error.message };
        }
      }
    },
  };
}
