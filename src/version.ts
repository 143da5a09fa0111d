import manifest from "../package.json" with { type: "json" };

/** Set by build/binary.ts; a run from source has none. */
declare const OMEGA_BUILD: { commit: string; target: string } | undefined;

export const version: string = manifest.version;

const build = typeof OMEGA_BUILD === "undefined" ? undefined : OMEGA_BUILD;

export const isCompiled: boolean = build !== undefined;

export function versionDetails() {
  return {
    version,
    commit: build?.commit ?? null,
    target: build?.target ?? `${process.platform}-${process.arch}`,
    bun: process.versions["bun"] ?? null,
    deno: process.versions["deno"] ?? null,
  };
}
