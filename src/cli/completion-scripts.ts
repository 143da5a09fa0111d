// Completion scripts for three shells, made from the table of commands. None of them calls omega: a key press costs nothing.

export type Flag = { name: string; description: string; takesValue: boolean; values: readonly string[] };
export type Described = { name: string; description: string; flags: readonly Flag[] };

export const scripts = { bash, zsh, fish };

export function isShell(name: string): name is keyof typeof scripts {
  return Object.hasOwn(scripts, name);
}

function bash(commands: readonly Described[]): string {
  const flagsOf = commands.map(
    ({ name, flags }) => `    ${name}) flags="${flags.map((flag) => flag.name).join(" ")}" ;;`,
  );
  const values = [...valuesByFlag(commands)].map(([flag, words]) => `    ${flag}) words="${words.join(" ")}" ;;`);
  const free = freeFlags(commands).join("|");
  return `# omega completions for bash: source this file, or put it in /etc/bash_completion.d/
_omega() {
  local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD-1]}" words="" flags=""
  if [ "$COMP_CWORD" -eq 1 ]; then
    words="${commands.map(({ name }) => name).join(" ")} help --help --version"
    COMPREPLY=($(compgen -W "$words" -- "$current"))
    return
  fi
  case "$previous" in
${values.join("\n")}
    ${free}) COMPREPLY=($(compgen -f -- "$current")); return ;;
  esac
  if [ -n "$words" ]; then COMPREPLY=($(compgen -W "$words" -- "$current")); return; fi
  case "\${COMP_WORDS[1]}" in
    help) COMPREPLY=($(compgen -W "${commands.map(({ name }) => name).join(" ")}" -- "$current")); return ;;
    completions) COMPREPLY=($(compgen -W "${Object.keys(scripts).join(" ")}" -- "$current")); return ;;
${flagsOf.join("\n")}
  esac
  case "$current" in
    -*) COMPREPLY=($(compgen -W "$flags --help" -- "$current")) ;;
    *) COMPREPLY=($(compgen -f -- "$current")) ;;
  esac
}
complete -o filenames -F _omega omega
`;
}

function zsh(commands: readonly Described[]): string {
  const quote = (text: string) => text.replace(/[[\]:\\]/g, "\\$&").replaceAll("'", "'\\''");
  const spec = ({ name, description, takesValue, values }: Flag) => {
    const value = values.length > 0 ? `:value:(${values.join(" ")})` : takesValue ? ":value:_files" : "";
    return `'*${name}${takesValue ? "=" : ""}[${quote(description)}]${value}'`;
  };
  const cases = commands.map(
    ({ name, flags }) =>
      `    ${name}) _arguments ${[...flags.map(spec), name === "completions" ? `'*:shell:(${Object.keys(scripts).join(" ")})'` : "'*:file:_files'"].join(" ")} ;;`,
  );
  return `#compdef omega
# omega completions for zsh: put this file as _omega in a folder of $fpath
_omega() {
  local -a commands
  commands=(${commands.map(({ name, description }) => `'${name}:${quote(description)}'`).join(" ")})
  if (( CURRENT == 2 )); then
    _describe command commands
    return
  fi
  local command="\${words[2]}"
  shift words
  (( CURRENT-- ))
  case "$command" in
${cases.join("\n")}
  esac
}
if [ "$funcstack[1]" = "_omega" ]; then _omega "$@"; else compdef _omega omega; fi
`;
}

function fish(commands: readonly Described[]): string {
  const quote = (text: string) => `'${text.replace(/['\\]/g, "\\$&")}'`;
  const lines = commands.flatMap(({ name, description, flags }) => [
    `complete -c omega -n __fish_use_subcommand -f -a ${name} -d ${quote(description)}`,
    ...flags.map((flag) => {
      const value = flag.values.length > 0 ? ` -x -a ${quote(flag.values.join(" "))}` : flag.takesValue ? " -r" : "";
      return `complete -c omega -n '__fish_seen_subcommand_from ${name}' -l ${flag.name.slice(2)}${value} -d ${quote(flag.description)}`;
    }),
  ]);
  const shell = `complete -c omega -n '__fish_seen_subcommand_from completions' -f -a ${quote(Object.keys(scripts).join(" "))}`;
  return `# omega completions for fish: put this file in ~/.config/fish/completions/omega.fish\n${[...lines, shell].join("\n")}\n`;
}

function valuesByFlag(commands: readonly Described[]): Map<string, readonly string[]> {
  const withValues = commands.flatMap(({ flags }) => flags).filter(({ values }) => values.length > 0);
  return new Map(withValues.map(({ name, values }) => [name, values]));
}

function freeFlags(commands: readonly Described[]): string[] {
  const free = commands.flatMap(({ flags }) => flags).filter((flag) => flag.takesValue && flag.values.length === 0);
  return [...new Set(free.map(({ name }) => name))];
}
