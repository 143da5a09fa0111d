// The legacy handshake: initialize → result → initialized.

import { OmegaError } from "../errors.ts";
import { isObject, type Peer, type RequestOptions } from "../mcp/json-rpc.ts";
import { version } from "../version.ts";

const OFFERED = "2025-11-25";
const SPOKEN = [OFFERED, "2025-06-18", "2025-03-26", "2024-11-05", "2024-10-07"];

/** The revision that both speak. */
export async function greet(peer: Peer, label: string, options: RequestOptions): Promise<string> {
  const params = { protocolVersion: OFFERED, capabilities: {}, clientInfo: { name: "omega", version } };
  const result = await peer.request("initialize", params, options);
  // A server that names no revision is older than all of them.
  const answered = isObject(result) ? (result["protocolVersion"] ?? "2024-11-05") : undefined;
  if (typeof answered !== "string" || !SPOKEN.includes(answered)) {
    throw new OmegaError(
      "SERVER_START_FAILED",
      `${label} speaks MCP ${JSON.stringify(answered)}, omega speaks ${SPOKEN.join(", ")}`,
    );
  }
  peer.notify("notifications/initialized");
  return answered;
}
