import { parseArgs } from 'node:util';

/** What somebody typed, understood. */
export interface Command {
  readonly name: CommandName;
  readonly words: readonly string[];
  readonly flags: ReadonlySet<Flag>;
}

/** The argument lines cannot be understood; the message says why. */
export class Misuse extends Error {
  override readonly name = 'Misuse';
}

type Flag = keyof typeof FLAGS;
type CommandName = keyof typeof COMMANDS;

const FLAGS = {
  help: { type: 'boolean', short: 'h' },
  json: { type: 'boolean' },
  full: { type: 'boolean' },
  'boot-menu': { type: 'boolean' },
  auto: { type: 'boolean' },
  force: { type: 'boolean' },
  'dry-run': { type: 'boolean' },
  yes: { type: 'boolean', short: 'y' },
  debug: { type: 'boolean' },
} as const;

/** Per command: the words it needs, those it may have besides, and its flags. */
const COMMANDS = {
  list: { needs: [], may: [], flags: ['json'] },
  show: { needs: [], may: ['machine'], flags: ['json', 'full'] },
  save: { needs: [], may: ['name'], flags: ['json', 'boot-menu', 'auto'] },
  remove: { needs: ['state'], may: [], flags: ['force', 'dry-run', 'yes'] },
  restore: { needs: ['state', 'folder'], may: [], flags: [] },
  status: { needs: [], may: [], flags: [] },
  dump: { needs: [], may: [], flags: [] },
  version: { needs: [], may: [], flags: ['json'] },
} as const satisfies Record<
  string,
  { needs: readonly string[]; may: readonly string[]; flags: readonly Flag[] }
>;

/** Understands the words after `croft state`. @returns undefined when help is asked for @throws Misuse */
export function parseCommand(argv: readonly string[]): Command | undefined {
  const { values, positionals } = parse(argv);
  const flags = new Set(Object.keys(values) as Flag[]);
  if (flags.has('help')) return undefined;
  const [name, ...words] = positionals;
  if (name === undefined) throw new Misuse('a command is missing');
  if (!Object.hasOwn(COMMANDS, name)) throw new Misuse(`there is no command ${JSON.stringify(name)}`);
  const command = COMMANDS[name as CommandName];
  const needs: readonly string[] = command.needs;
  const most = needs.length + command.may.length;
  if (words.length < needs.length) throw new Misuse(`${name} needs <${needs[words.length]}>`);
  if (words.length > most) throw new Misuse(`${name} does not take ${JSON.stringify(words[most])}`);
  const allowed: readonly Flag[] = [...command.flags, 'debug'];
  for (const flag of flags) {
    if (!allowed.includes(flag)) throw new Misuse(`${name} has no option --${flag}`);
  }
  return { name: name as CommandName, words, flags };
}

function parse(argv: readonly string[]) {
  try {
    return parseArgs({ args: [...argv], options: FLAGS, allowPositionals: true, strict: true });
  } catch (error) {
    throw new Misuse((error as Error).message.split('. ')[0] as string);
  }
}
