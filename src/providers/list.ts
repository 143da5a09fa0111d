// Which providers there are, which of them have a key here, and the models that those with a list tell of.

import { systemCode } from "../errors.ts";
import { list as asList, fields, text } from "./loose.ts";
import { locate, type Place } from "./model.ts";
import { type Preset, presets } from "./presets.ts";

const TIMEOUT_MS = 10_000;

export type Listing = {
  provider: string;
  /** The variable that holds the key, never its value. */
  key: string | null;
  needsKey: boolean;
  variables: readonly string[];
  url: string | null;
  models: string[] | null;
  /** Why there is no list of models. */
  problem: string | null;
};

export function listProviders(
  names: readonly string[],
  environment: NodeJS.ProcessEnv,
  signal: AbortSignal,
): Promise<Listing[]> {
  const known = Object.entries(presets).filter(([name]) => names.length === 0 || names.includes(name));
  return Promise.all(known.map(([name, preset]) => describe(name, preset, environment, signal)));
}

async function describe(
  provider: string,
  preset: Preset,
  environment: NodeJS.ProcessEnv,
  signal: AbortSignal,
): Promise<Listing> {
  const { keys, hosts, needsKey } = preset;
  const key = keys.find((variable) => environment[variable]) ?? null;
  const about = { provider, key, needsKey, variables: keys, url: preset.baseUrl ?? null, models: null };
  const hasHost = hosts.some((variable) => environment[variable]);
  if (!hasHost && preset.baseUrl === undefined) return { ...about, problem: `${hosts[0]} is not set` };
  if (!hasHost && key === null && needsKey) return { ...about, problem: null };
  try {
    const place = locate({ name: `${provider}/*`, fallbacks: [] }, preset, environment);
    about.url = place.url;
    return { ...about, models: await fetchModels(place, preset, signal), problem: null };
  } catch (error) {
    signal.throwIfAborted();
    return { ...about, problem: systemCode(error) ?? (error instanceof Error ? error.message : String(error)) };
  }
}

/** `{data: [{id}]}`, `{models: [{name}]}`, or the list alone. */
async function fetchModels(
  { url, headers }: Place,
  { models = "models" }: Preset,
  signal: AbortSignal,
): Promise<string[]> {
  using deadline = startDeadline(signal);
  const response = await fetch(`${url}/${models}`, { headers, redirect: "error", signal: deadline.signal });
  if (!response.ok) throw new Error(`answered ${response.status}`);
  const body: unknown = await response.json();
  const entries = Array.isArray(body) ? body : [...asList(fields(body)["data"]), ...asList(fields(body)["models"])];
  return entries
    .map((entry) => text(fields(entry)["id"]) || text(fields(entry)["name"]).replace(/^models\//, ""))
    .filter(Boolean)
    .sort();
}

/** One slow provider must not hold up the list. */
function startDeadline(outer: AbortSignal): { signal: AbortSignal } & Disposable {
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(new Error(`no answer in ${TIMEOUT_MS / 1000} s`)), TIMEOUT_MS);
  return { signal: AbortSignal.any([outer, controller.signal]), [Symbol.dispose]: () => clearTimeout(timer) };
}
