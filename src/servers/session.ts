// Finding out which era a server speaks, and speaking it. Legacy first: initialize → result → initialized. An error to that →
// server/discover, for a modern server. "Method not found" to both: a bare server, which knows tools/list and tools/call.

import { OmegaError } from "../errors.ts";
import type { Server } from "../manifest/skill.ts";
import { isObject, METHOD_NOT_FOUND, type Params, type Peer, type RequestOptions, RpcError } from "../mcp/json-rpc.ts";
import { HEADER_MISMATCH, LEGACY, META, MISSING_CAPABILITY, MODERN, UNSUPPORTED_VERSION } from "../mcp/revisions.ts";
import { oneLine } from "../terminal.ts";
import { version } from "../version.ts";
import { completeResult } from "./result-type.ts";

export type Era = "legacy" | "modern" | "bare";

/** A request whose time is already decided. */
export type Ask = (method: string, params?: Params) => Promise<unknown>;

export type Session = {
  era: Era;
  /** The revision, or "bare". */
  protocol: string;
  capabilities: Params;
  instructions: string | undefined;
  /** What the server says of itself. */
  info: Params;
  request(method: string, params: Params | undefined, options: RequestOptions): Promise<unknown>;
};

const clientInfo = { name: "omega", version };
const clientCapabilities = {};
const envelope = (protocolVersion: string) => ({
  [META.protocolVersion]: protocolVersion,
  [META.clientCapabilities]: clientCapabilities,
  [META.clientInfo]: clientInfo,
});

export async function openSession(peer: Peer, label: string, protocol: Server["protocol"], ask: Ask): Promise<Session> {
  if (protocol === "modern") return await discover(peer, label, ask);
  try {
    return await initialize(peer, label, ask, LEGACY[0]);
  } catch (refusal) {
    if (protocol === "legacy" || !(refusal instanceof RpcError)) throw refusal;
    return await afterRefusal(refusal, peer, label, ask);
  }
}

/** A server may refuse our revision with a list of its own instead of answering with one. */
async function initialize(peer: Peer, label: string, ask: Ask, offered: string): Promise<Session> {
  try {
    return await handshake(peer, label, ask, offered);
  } catch (error) {
    const other = error instanceof RpcError ? LEGACY.find((known) => supportedIn(error).includes(known)) : undefined;
    if (other === undefined || other === offered) throw error;
    return await handshake(peer, label, ask, other);
  }
}

async function handshake(peer: Peer, label: string, ask: Ask, offered: string): Promise<Session> {
  const params = { protocolVersion: offered, capabilities: clientCapabilities, clientInfo };
  const result = await ask("initialize", params);
  // A server that names no revision is older than all of them.
  const answered = isObject(result) ? (result["protocolVersion"] ?? "2024-11-05") : undefined;
  const protocol = LEGACY.find((known) => known === answered);
  if (!isObject(result) || protocol === undefined) throw strangers(label, JSON.stringify(answered) ?? "nothing");
  peer.notify("notifications/initialized");
  return { era: "legacy", protocol, ...describe(result), info: objectAt(result, "serverInfo"), request: peer.request };
}

async function afterRefusal(refusal: RpcError, peer: Peer, label: string, ask: Ask): Promise<Session> {
  try {
    return await discover(peer, label, ask);
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    if (error.code === METHOD_NOT_FOUND && refusal.code === METHOD_NOT_FOUND) return bare(peer);
    throw error.code === HEADER_MISMATCH || error.code === MISSING_CAPABILITY ? error : refusal;
  }
}

async function discover(peer: Peer, label: string, ask: Ask): Promise<Session> {
  const [ours] = MODERN;
  const probe = () => ask("server/discover", { _meta: envelope(ours) });
  const result = await probe().catch((error: unknown) => {
    if (!(error instanceof RpcError) || error.code !== UNSUPPORTED_VERSION) throw error;
    const theirs = supportedIn(error);
    if (theirs.includes(ours)) return probe();
    throw theirs.some((name) => name > LEGACY[0]) ? strangers(label, theirs.join(", ")) : error;
  });
  if (!isObject(result)) throw strangers(label, "nothing");
  const supported = result["supportedVersions"];
  if (Array.isArray(supported) && !supported.includes(ours)) throw strangers(label, JSON.stringify(supported));
  return {
    era: "modern",
    protocol: ours,
    ...describe(result),
    info: objectAt(objectAt(result, "_meta"), "io.modelcontextprotocol/serverInfo"),
    async request(method, params, options) {
      const _meta = { ...objectAt(params ?? {}, "_meta"), ...envelope(ours) };
      return completeResult(await peer.request(method, { ...params, _meta }, options), method);
    },
  };
}

function bare({ request }: Peer): Session {
  return { era: "bare", protocol: "bare", capabilities: {}, instructions: undefined, info: {}, request };
}

function describe(result: Params): Pick<Session, "capabilities" | "instructions"> {
  const { instructions } = result;
  return {
    capabilities: objectAt(result, "capabilities"),
    instructions: typeof instructions === "string" && instructions !== "" ? instructions : undefined,
  };
}

function objectAt(value: Params, key: string): Params {
  const inner = Object.hasOwn(value, key) ? value[key] : undefined;
  return isObject(inner) ? inner : {};
}

function supportedIn({ data }: RpcError): string[] {
  const supported = isObject(data) ? data["supported"] : undefined;
  return Array.isArray(supported) ? supported.filter((name) => typeof name === "string") : [];
}

function strangers(label: string, theirs: string): OmegaError {
  return new OmegaError(
    "SERVER_START_FAILED",
    `${label} speaks MCP ${oneLine(theirs)}, omega speaks ${[...MODERN, ...LEGACY].join(", ")}`,
  );
}
