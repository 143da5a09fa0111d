// What a child may know of our environment: enough to find programs, a home and a proxy; never a key of ours.

const safeNames = new Set([
  ..."PATH HOME USER LOGNAME SHELL LANG TZ TMPDIR TEMP TMP SYSTEMROOT COMSPEC PATHEXT APPDATA LOCALAPPDATA".split(" "),
  ..."HTTP_PROXY HTTPS_PROXY NO_PROXY ALL_PROXY NODE_EXTRA_CA_CERTS SSL_CERT_FILE SSL_CERT_DIR".split(" "),
]);
const safePrefixes = ["LC_", "XDG_", "NPM_CONFIG_"];

/** The cookie by which `sweep` finds what a run has started, wherever it went. */
export const COOKIE = "OMEGA_RUN";

/** What a manifest gives a child; null passes a variable of ours through. */
export type DeclaredEnvironment = Record<string, string | null>;

export function childEnvironment(
  ours: NodeJS.ProcessEnv,
  declared: DeclaredEnvironment,
  run: string,
): Record<string, string> {
  const env: Record<string, string> = {};
  for (const [name, value] of Object.entries(ours)) {
    if (value !== undefined && isSafe(name.toUpperCase())) env[name] = value;
  }
  for (const [name, declaredValue] of Object.entries(declared)) {
    const value = declaredValue ?? ours[name];
    if (value !== undefined) env[name] = value;
  }
  return { ...env, [COOKIE]: run };
}

function isSafe(name: string): boolean {
  return safeNames.has(name) || safePrefixes.some((prefix) => name.startsWith(prefix));
}
