import { COMMANDS, EVERYWHERE, FLAGS } from './parse-command.ts';

/** What can follow a command: its options, and words where there are only some. */
interface Completed {
  readonly name: string;
  readonly options: readonly string[];
  readonly words: readonly string[];
}

/** A script for a shell that completes the words after `croft state`. */
export function completionFor(shell: string | undefined): string {
  const script = SCRIPTS[shell as keyof typeof SCRIPTS];
  const commands = Object.entries(COMMANDS).map(([name, { needs, flags }]) => ({
    name,
    options: [...flags, ...EVERYWHERE, 'help'].map((flag) => `--${flag}`),
    words: needs.flatMap((word) => (word.includes('|') ? word.split('|') : [])),
  }));
  return script(commands);
}

const SCRIPTS = { bash, zsh, fish };

/** Names of one word, and of those of two their second. */
function firstWords(commands: readonly Completed[]): string[] {
  return [...new Set(commands.map(({ name }) => name.split(' ')[0] as string))];
}

function secondWords(commands: readonly Completed[], first: string): string[] {
  return commands.flatMap(({ name }) => (name.startsWith(`${first} `) ? [name.slice(first.length + 1)] : []));
}

/** After each first word everything that can follow it; an option that does not fit is refused with a sentence anyway. */
function following(commands: readonly Completed[]): [first: string, words: string[]][] {
  return firstWords(commands).map((first) => {
    const fitting = commands.filter(({ name }) => name === first || name.startsWith(`${first} `));
    const options = fitting.flatMap((command) => [...command.words, ...command.options]);
    return [first, [...new Set([...secondWords(commands, first), ...options])]];
  });
}

function bash(commands: readonly Completed[]): string {
  const cases = following(commands).map(([first, words]) => `    ${first}) words='${words.join(' ')}' ;;`);
  return `# croft state completion bash > /etc/bash_completion.d/croft
_croft() {
  local words
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then words='state'
  elif [ "\${COMP_WORDS[1]}" != state ]; then return
  elif [ "$COMP_CWORD" -eq 2 ]; then words='${firstWords(commands).join(' ')}'
  else case "\${COMP_WORDS[2]}" in
${cases.join('\n')}
  esac
  fi
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _croft croft
`;
}

function zsh(commands: readonly Completed[]): string {
  const cases = following(commands).map(
    ([first, words]) => `    ${first}) compadd -- ${words.join(' ')}; _files ;;`,
  );
  return `#compdef croft
# croft state completion zsh > "\${fpath[1]}/_croft"
_croft() {
  if (( CURRENT == 2 )); then compadd -- state
  elif [[ $words[2] != state ]]; then _files
  elif (( CURRENT == 3 )); then compadd -- ${firstWords(commands).join(' ')}
  else case $words[3] in
${cases.join('\n')}
  esac
  fi
}
if [[ $funcstack[1] == _croft ]]; then _croft "$@"; else compdef _croft croft; fi
`;
}

function fish(commands: readonly Completed[]): string {
  const firsts = firstWords(commands);
  const lines = following(commands).map(([first, words]) => {
    const seen = `__fish_seen_subcommand_from state; and __fish_seen_subcommand_from ${first}`;
    const options = words.filter((word) => word.startsWith('--'));
    const others = words.filter((word) => !word.startsWith('--'));
    return [
      ...(others.length === 0 ? [] : [`complete -c croft -n '${seen}' -a '${others.join(' ')}'`]),
      ...options.map((option) => `complete -c croft -n '${seen}' -l ${option.slice(2)}${valueOf(option)}`),
    ].join('\n');
  });
  return `# croft state completion fish > ~/.config/fish/completions/croft.fish
complete -c croft -f -n 'not __fish_seen_subcommand_from state' -a state
complete -c croft -f -n '__fish_seen_subcommand_from state; and not __fish_seen_subcommand_from ${firsts.join(' ')}' -a '${firsts.join(' ')}'
${lines.join('\n')}
`;
}

/** Options that need something after them. */
function valueOf(option: string): string {
  const flag = option.slice(2) as keyof typeof FLAGS;
  return FLAGS[flag].type === 'string' ? ' -r' : '';
}
