// The folders of a machine, written so that a cassette reads the same wherever it was made. Done on the JSON text of a line.

export type Folders = { workdir: string; "skill.dir": string };

export type Places = {
  /** Folders become names. */
  hide(json: string): string;
  /** Names become folders. */
  show(json: string): string;
};

/** The longest path wins where one lies within another. */
export function namePlaces(folders: Folders): Places {
  const pairs = Object.entries(folders)
    .sort(([, a], [, b]) => b.length - a.length)
    .map(([name, path]) => ({ token: `{{ ${name} }}`, path: JSON.stringify(path).slice(1, -1) }));
  const hidden = pairs.filter(({ path }) => path.length > 1);
  return {
    hide: (json) => hidden.reduce((told, { token, path }) => replacePath(told, path, token), json),
    show: (json) => pairs.reduce((told, { token, path }) => told.replaceAll(token, () => path), json),
  };
}

/** Only a whole path: /tmp/a is not within /tmp/ab, nor within /tmp/a.b. */
function replacePath(text: string, path: string, token: string): string {
  if (!text.includes(path)) return text;
  const [first = "", ...rest] = text.split(path);
  return rest.reduce((told, part) => told + (/^\.*[\w-]/.test(part) ? path : token) + part, first);
}
