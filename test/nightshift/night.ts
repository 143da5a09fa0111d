// One bad night: a skill of its own, a scripted model, and omega on it. How it went is told by omega; who is still alive
// afterwards by /proc alone, where the servers are found by a mark in their environment, omega and its guardian by their home.

import type { ChildProcess } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { type ModelServer, modelServer, type Script } from "../support/model-server.ts";
import { type Result, startOmega } from "../support/omega.ts";
import { aliveWith, until } from "../support/processes.ts";
import { manifest } from "../support/skills.ts";
import { temporaryFolder } from "../support/temporary.ts";

export type Night = {
  what: string;
  servers: Record<string, object>;
  turns: Script;
  /** More fields of the manifest. */
  skill?: object;
  /** How omega is started and what happens to it; by default it is left alone. */
  shift?(scene: Scene): Promise<Result[]>;
  /** `outcome/code`, in the order in which the runs end; `alive`: at least so many were seen. */
  must: { outcome: string; exit: string; tokens: number; alive?: number };
};

export type Scene = {
  model: ModelServer;
  start(): { child: ChildProcess; result: Promise<Result> };
  /** A server that waits in a call says so by a file. */
  isBusy(): boolean;
};

export type Told = {
  outcome: string;
  exit: string;
  seconds: number;
  tokens: number;
  /** The most processes that were alive at a time, omega not counted, and those that stayed. */
  alive: number;
  left: number;
  /** What omega said on stderr. */
  said: string;
  /** The last of its runs. */
  run: string;
};

/** What the night leaves behind lies there until it is disposed. Its model is gone. */
export type Past = { told: Told; skill: string; home: string } & Disposable;

const LOOK_MS = 40;
/** After `kill -9` the guardian needs a moment; no other end is given one. */
const GUARDIAN_MS = 10_000;

export async function spend({ servers, turns, skill, shift = leaveAlone }: Night): Promise<Past> {
  const mark = crypto.randomUUID();
  const folder = temporaryFolder();
  const { file } = folder;
  await using model = await modelServer(turns);
  const env = { MARK: mark, READY: file("ready") };
  const marked = Object.entries(servers).map(([name, server]) => [name, { stopGrace: "200ms", ...server, env }]);
  const fields = { name: "night", model: model.choice("anthropic"), workdir: folder.path, ...skill };
  await Bun.write(file("skill/skill.yaml"), manifest(Object.fromEntries(marked), fields));

  const kin = () => aliveWith(`MARK=${mark}`).length;
  const omegas = () => aliveWith(`OMEGA_HOME=${file("home")}`).length;
  let alive = 0;
  const look = setInterval(() => {
    alive = Math.max(alive, kin());
  }, LOOK_MS);
  const started = performance.now();
  const ends = await shift({
    model,
    start: () => startOmega(["run", file("skill"), "--json"], { env: { OMEGA_HOME: file("home") } }),
    isBusy: () => existsSync(file("ready")),
  });
  if (ends.some(({ signal }) => signal)) await until(() => kin() + omegas() === 0, GUARDIAN_MS);
  const seconds = (performance.now() - started) / 1000;
  const left = kin() + omegas();
  clearInterval(look);

  const envelopes = ends.map((end) => envelopeOf(end, file("home")));
  return {
    told: {
      outcome: envelopes.map(({ outcome, code }) => (code === null ? outcome : `${outcome}/${code}`)).join(", "),
      exit: ends.map(({ code, signal }) => signal ?? String(code)).join(", "),
      seconds,
      tokens: envelopes.map(({ usage }) => tokensOf(usage)).reduce((sum, tokens) => sum + tokens),
      ...{ alive, left },
      said: ends.map(({ stderr }) => stderr).join(""),
      run: envelopes.at(-1)?.run ?? "",
    },
    skill: file("skill"),
    home: file("home"),
    [Symbol.dispose]: folder[Symbol.dispose],
  };
}

async function leaveAlone({ start }: Scene): Promise<Result[]> {
  return [await start().result];
}

/** On stdout; of one that was killed in the records, where its guardian has written it. */
function envelopeOf({ stdout, stderr }: Result, home: string): any {
  if (stdout !== "") return JSON.parse(stdout);
  const [run] = existsSync(`${home}/runs`) ? readdirSync(`${home}/runs`) : [];
  const result = `${home}/runs/${run}/result.json`;
  if (existsSync(result)) return JSON.parse(readFileSync(result, "utf8"));
  throw new Error(`omega said nothing, and nothing is recorded: ${stderr}`);
}

const tokensOf = ({ input, output, cacheRead, cacheWrite }: Record<string, number>): number =>
  [input, output, cacheRead, cacheWrite].reduce<number>((sum, count) => sum + (count ?? 0), 0);
