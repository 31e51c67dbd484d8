import { parseArgs } from 'node:util';
import { nearestName } from '@croft/settings';

/** What somebody typed, understood. */
export interface Command {
  readonly name: CommandName;
  readonly words: readonly string[];
  readonly flags: ReadonlySet<Flag>;
  /** The values of options that have one. */
  readonly values: Readonly<Partial<Record<Flag, string>>>;
}

/** The argument lines cannot be understood; the message says why. */
export class Misuse extends Error {
  override readonly name = 'Misuse';
}

/** An option. */
export type Flag = keyof typeof FLAGS;

/** What may come after `croft state`. */
export type CommandName = keyof typeof COMMANDS;

export const FLAGS = {
  help: { type: 'boolean', short: 'h' },
  json: { type: 'boolean' },
  full: { type: 'boolean' },
  user: { type: 'string', short: 'u' },
  'boot-menu': { type: 'boolean' },
  auto: { type: 'boolean' },
  all: { type: 'boolean', short: 'a' },
  force: { type: 'boolean' },
  'dry-run': { type: 'boolean' },
  'remove-home': { type: 'boolean' },
  output: { type: 'string', short: 'o' },
  duration: { type: 'string' },
  users: { type: 'boolean' },
  times: { type: 'boolean' },
  yes: { type: 'boolean', short: 'y' },
  debug: { type: 'boolean' },
  address: { type: 'string' },
  ca: { type: 'string' },
  cert: { type: 'string' },
  key: { type: 'string' },
  token: { type: 'string' },
} as const;

/** What every command takes: how the daemon is reached, and what it says. */
export const EVERYWHERE = [
  'debug',
  'address',
  'ca',
  'cert',
  'key',
  'token',
] as const satisfies readonly Flag[];

/** Per command: the words it needs (with `|` one of some), those it may have besides, and its flags. In the order of the help. */
export const COMMANDS = {
  save: { needs: [], may: ['name'], flags: ['user', 'json', 'boot-menu', 'auto'] },
  show: { needs: [], may: ['machine'], flags: ['json', 'full'] },
  list: { needs: [], may: [], flags: ['json'] },
  diff: { needs: ['state'], may: ['other state'], flags: ['user', 'times', 'json'] },
  restore: { needs: ['state', 'folder'], may: [], flags: ['user'] },
  revert: { needs: ['state'], may: [], flags: ['users', 'yes'] },
  'revert-cancel': { needs: [], may: [], flags: [] },
  remove: { needs: ['state'], may: [], flags: ['user', 'force', 'dry-run', 'yes'] },
  describe: { needs: ['state', 'text'], may: [], flags: ['user'] },
  pin: { needs: ['state'], may: [], flags: ['user'] },
  unpin: { needs: ['state'], may: [], flags: ['user'] },
  export: { needs: ['state'], may: [], flags: ['user', 'users', 'output'] },
  import: { needs: ['file'], may: ['name'], flags: ['json'] },
  watch: { needs: [], may: [], flags: ['json'] },
  gc: { needs: [], may: [], flags: ['all', 'yes'] },
  users: { needs: [], may: [], flags: ['json'] },
  'users create': { needs: ['user', 'home'], may: [], flags: [] },
  'users move': { needs: ['home', 'new home'], may: [], flags: [] },
  'users dissociate': { needs: ['user'], may: [], flags: ['remove-home', 'yes'] },
  status: { needs: [], may: [], flags: ['json'] },
  version: { needs: [], may: [], flags: ['json'] },
  // It is JSON either way.
  dump: { needs: [], may: [], flags: ['json'] },
  refresh: { needs: [], may: [], flags: [] },
  reload: { needs: [], may: [], flags: [] },
  'log-level': { needs: ['0|1|2'], may: [], flags: [] },
  trace: { needs: ['cpu|heap|trace'], may: [], flags: ['output', 'duration'] },
  stop: { needs: [], may: [], flags: [] },
  completion: { needs: ['bash|zsh|fish'], may: [], flags: [] },
  adopt: { needs: [], may: ['machine'], flags: ['dry-run', 'json', 'yes'] },
  'update-menu': { needs: [], may: [], flags: ['auto'] },
  'prepare-boot': { needs: [], may: [], flags: ['json'] },
  'commit-boot': { needs: [], may: [], flags: ['json'] },
  'last-used': { needs: [], may: [], flags: [] },
} as const satisfies Record<
  string,
  { needs: readonly string[]; may: readonly string[]; flags: readonly Flag[] }
>;

/** What snapper, zsysctl and file managers call it. */
const ELSEWHERE: ReadonlyMap<string, CommandName> = new Map([
  ['ls', 'show'],
  ['info', 'show'],
  ['create', 'save'],
  ['snapshot', 'save'],
  ['delete', 'remove'],
  ['rm', 'remove'],
  ['rollback', 'revert'],
  ['undochange', 'restore'],
  ['cleanup', 'gc'],
  ['modify', 'describe'],
  ['service', 'status'],
]);

/** Somebody wants to know, of a command or of all. */
interface Question {
  readonly helpOn: CommandName | 'all';
}

/** Understands the words after `croft state`. @throws Misuse */
export function parseCommand(argv: readonly string[]): Command | Question {
  const { values, positionals } = parse(argv);
  const flags = new Set(Object.keys(values) as Flag[]);
  const isQuestion = flags.has('help') || positionals[0] === 'help';
  if (isQuestion) {
    const about = positionals[0] === 'help' ? positionals.slice(1) : positionals;
    return { helpOn: about.length === 0 ? 'all' : splitName(about)[0] };
  }
  const [name, words] = splitName(positionals);
  const command = COMMANDS[name];
  const needs: readonly string[] = command.needs;
  const most = needs.length + command.may.length;
  if (words.length < needs.length) throw new Misuse(`${name} needs <${needs[words.length]}>`);
  if (words.length > most) {
    const why = needs.includes('text') ? '; put the text in quotation marks' : '';
    throw new Misuse(`${name} does not take ${JSON.stringify(words[most])}${why}`);
  }
  for (const [at, need] of needs.entries()) checkChoice(name, need, words[at] as string);
  const allowed: readonly Flag[] = [...command.flags, ...EVERYWHERE];
  for (const flag of flags) {
    if (!allowed.includes(flag)) throw new Misuse(`${name} has no option --${flag}`);
  }
  const texts = Object.entries(values).filter(([, value]) => typeof value === 'string');
  // Such as a variable that is not set: without the name of a user it would be about the system.
  const empty = texts.find(([, value]) => value === '');
  if (empty !== undefined) throw new Misuse(`--${empty[0]} needs a value that is not empty`);
  return { name, words, flags, values: Object.fromEntries(texts) as Command['values'] };
}

/** A word of which there are only some, such as `cpu|heap|trace`. */
function checkChoice(name: CommandName, need: string, word: string): void {
  const choices = need.split('|');
  if (choices.length === 1 || choices.includes(word)) return;
  const listed = `${choices.slice(0, -1).join(', ')} or ${choices.at(-1)}`;
  throw new Misuse(`${name} takes ${listed}, not ${JSON.stringify(word)}`);
}

/** The command that is meant, whatever is wrong with the rest. */
export function commandNamed(argv: readonly string[]): CommandName | undefined {
  const { positionals } = parseArgs({
    args: [...argv],
    options: FLAGS,
    allowPositionals: true,
    strict: false,
  });
  return findName(positionals);
}

/** The longest name counts: `users create` is another command than `users`. */
function splitName(words: readonly string[]): [CommandName, readonly string[]] {
  if (words.length === 0) throw new Misuse('a command is missing');
  const name = findName(words);
  if (name === undefined) {
    const typed = words[0] as string;
    const nearest = ELSEWHERE.get(typed) ?? nearestName(typed, Object.keys(COMMANDS));
    throw new Misuse(`there is no command ${JSON.stringify(typed)}${didYouMean(nearest)}`);
  }
  return [name, words.slice(name.split(' ').length)];
}

function findName(words: readonly string[]): CommandName | undefined {
  const names = [words.slice(0, 2), words.slice(0, 1)].map((some) => some.join(' '));
  return names.find((name): name is CommandName => Object.hasOwn(COMMANDS, name));
}

function parse(argv: readonly string[]) {
  try {
    return parseArgs({ args: [...argv], options: FLAGS, allowPositionals: true, strict: true });
  } catch (error) {
    const why = (error as Error).message.split('. ')[0] as string;
    const unknown = /^Unknown option '(-[^']+)'/.exec(why)?.[1];
    throw new Misuse(`${why}${unknown === undefined ? '' : didYouMean(optionMeant(argv, unknown))}`);
  }
}

function optionMeant(argv: readonly string[], unknown: string): string | undefined {
  if (['--version', '-V'].includes(unknown)) return 'version';
  const name = commandNamed(argv);
  const flags = name === undefined ? EVERYWHERE : [...COMMANDS[name].flags, ...EVERYWHERE];
  return nearestName(
    unknown,
    flags.map((flag) => `--${flag}`),
  );
}

function didYouMean(what: string | undefined): string {
  return what === undefined ? '' : `; did you mean ${what}?`;
}
