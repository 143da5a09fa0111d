import { OmegaError } from "../errors.ts";

/** All that stdin says. Whoever was to write may never do it: a signal ends the wait. */
export async function readStdin(signal: AbortSignal, maxBytes = Number.POSITIVE_INFINITY): Promise<Buffer> {
  signal.throwIfAborted();
  const { stdin } = process;
  const chunks: Buffer[] = [];
  let bytes = 0;
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const onData = (chunk: Buffer) => {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes > maxBytes) reject(new OmegaError("USAGE", `stdin says more than ${maxBytes / 1_000_000} MB`));
  };
  const onAbort = () => reject(signal.reason);
  signal.addEventListener("abort", onAbort, { once: true });
  stdin.on("data", onData).on("end", resolve).on("error", reject);
  try {
    await promise;
    return Buffer.concat(chunks);
  } finally {
    signal.removeEventListener("abort", onAbort);
    stdin.off("data", onData).off("end", resolve).off("error", reject).pause();
    // A read that is under way would keep the process; to destroy the stream does not end it on Deno.
    if ("unref" in stdin) stdin.unref();
  }
}
