/** What main.ts hands to every command: when to stop, and when to stop being patient. */
export type Lifetime = { signal: AbortSignal; hurry: AbortSignal; verbose: boolean };
