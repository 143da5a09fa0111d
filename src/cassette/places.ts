// The folders of a machine, written so that a cassette plays on another one.

import { mapStrings } from "../redact.ts";

export type Places = {
  /** Folders become names. */
  hide<T>(value: T): T;
  /** Names become the folders of this machine. */
  show<T>(value: T): T;
};

/** `folders`: name → absolute path; the longest path wins where one lies within another. */
export function namePlaces(folders: Readonly<Record<string, string>>): Places {
  const pairs = Object.entries(folders)
    .sort(([, a], [, b]) => b.length - a.length)
    .map(([name, path]) => ({ token: `{{ ${name} }}`, path }));
  const hidden = pairs.filter(({ path }) => path !== "/");
  const hide = (text: string) => hidden.reduce((told, { token, path }) => replacePath(told, path, token), text);
  const show = (text: string) => pairs.reduce((told, { token, path }) => told.replaceAll(token, path), text);
  return { hide: (value) => mapStrings(value, hide), show: (value) => mapStrings(value, show) };
}

/** Only a whole path: /tmp/a is not within /tmp/ab or /tmp/a.b, but it is in "look into /tmp/a." */
function replacePath(text: string, path: string, token: string): string {
  if (!text.includes(path)) return text;
  const parts = text.split(path);
  return parts.reduce((told, part) => told + (/^\.*[\w-]/.test(part) ? path : token) + part);
}
