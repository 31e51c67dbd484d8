import { type CommandText, commandTexts, everywhereTexts } from './command-texts.ts';
import { COMMANDS, type CommandName, EVERYWHERE, FLAGS, type Flag } from './parse-command.ts';

/** What stands for the value of an option. */
const VALUES: Readonly<Partial<Record<Flag, string>>> = {
  user: 'NAME',
  output: 'FILE',
  duration: 'SECONDS',
  address: 'HOST:PORT',
  ca: 'FILE',
  cert: 'FILE',
  key: 'FILE',
  token: 'FILE',
};

const COMMAND_NAMES = Object.keys(COMMANDS) as CommandName[];

/** Before the first command of each group. */
const HEADINGS: Readonly<Partial<Record<CommandName, string>>> = {
  save: 'States',
  users: 'Homes of users',
  status: 'The daemon',
  adopt: 'The machine and its boots',
};

const STATES = 'A state goes by its name, its id, or the end of its name (x7k2m1 for auto_x7k2m1).';

/** What `croft state --help` prints. */
export function overview(): string {
  return `Usage: croft state <command> [options]

${groups()}

Options of every command:
${table([...EVERYWHERE.map((flag) => optionRow(flag, everywhereTexts)), HELP_ROW])}

\`croft state <command> --help\` tells a command's own options, with examples.
${STATES}
Exit codes: 0 done, 1 failed, 2 not understood, 130 interrupted.`;
}

/** All commands, those below each other that are needed together. */
function groups(): string {
  const width = Math.max(...COMMAND_NAMES.map((name) => synopsis(name).length));
  const lines = COMMAND_NAMES.flatMap((name) => {
    const heading = HEADINGS[name];
    const row = table([[synopsis(name), commandTexts[name].about]], width);
    return heading === undefined ? [row] : ['', `${heading}:`, row];
  });
  return lines.join('\n').trim();
}

/** What `croft state <command> --help` prints. */
export function commandHelp(name: CommandName): string {
  const { about, more, options, examples }: CommandText = commandTexts[name];
  const { needs, flags }: { needs: readonly string[]; flags: readonly Flag[] } = COMMANDS[name];
  const below = COMMAND_NAMES.filter((other) => other.startsWith(`${name} `));
  const paragraphs = [
    usageLine(name),
    [`${about[0]?.toUpperCase()}${about.slice(1)}.`, more, needs.includes('state') ? STATES : undefined],
    below.length === 0
      ? []
      : ['Commands:', table(below.map((other) => [synopsis(other), commandTexts[other].about]))],
    ['Options:', table([...flags.map((flag) => optionRow(flag, options)), HELP_ROW])],
    `Besides, as \`croft state --help\` tells: ${EVERYWHERE.map((flag) => `--${flag}`).join(', ')}`,
    ['Examples:', ...examples.map((words) => `  croft state ${words}`)],
  ];
  return paragraphs
    .map((lines) =>
      [lines]
        .flat()
        .filter((line) => line !== undefined)
        .join('\n'),
    )
    .filter((paragraph) => paragraph !== '')
    .join('\n\n');
}

/** For whoever did not say it right. @param name the command that was meant, as far as that is known */
export function hint(name: CommandName | undefined): string {
  if (name === undefined)
    return 'Usage: croft state <command> [options]\n`croft state --help` lists the commands.';
  return `${usageLine(name)}\n\`croft state ${name} --help\` tells more.`;
}

function usageLine(name: CommandName): string {
  return `Usage: croft state ${synopsis(name)} [options]`;
}

function synopsis(name: CommandName): string {
  const { needs, may } = COMMANDS[name];
  return [name, ...needs.map((word) => `<${word}>`), ...may.map((word) => `[${word}]`)].join(' ');
}

const HELP_ROW = ['-h, --help', 'this text'] as const;

function optionRow(flag: Flag, texts: Readonly<Record<string, string>>): readonly [string, string] {
  const option = FLAGS[flag];
  const short = 'short' in option ? `-${option.short}, ` : '';
  const value = VALUES[flag] === undefined ? '' : ` ${VALUES[flag]}`;
  return [`${short}--${flag}${value}`, texts[flag] as string];
}

/** Two columns. */
function table(
  rows: readonly (readonly [string, string])[],
  width = Math.max(...rows.map(([left]) => left.length)),
): string {
  return rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`).join('\n');
}
