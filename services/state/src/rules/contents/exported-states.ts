import { badImport } from '../../failures-extras.ts';
import type { Member, State } from '../../model/model.ts';
import { pathBytes, pathText } from '../../model/path-text.ts';
import { checkUserName } from '../machines/user-data.ts';
import { checkDescription } from '../states/description.ts';
import { memberNames } from './member-names.ts';

/** What leaves with a state, in this order, so that the same state gives the same text. */
const STATE_FIELDS = [
  'id',
  'kind',
  'machine',
  'user',
  'name',
  'description',
  'kernel',
  'oneInstant',
  'createdAt',
] as const;
const MEMBER_FIELDS = [
  'dataset',
  'role',
  'user',
  'path',
  'snapshot',
  'entries',
  'bytes',
  'unreadable',
  'torn',
] as const;

const FORMAT = 1;
const DRIVERS = ['vault', 'btrfs', 'zfs'] as const;
const MAX_TEXT = 4096;
const MAX_STATES = 1000;

/** What an export says of itself. */
interface Exported {
  /** The storage that it comes from. */
  readonly driver: string;
  readonly states: readonly State[];
}

/** States that were saved together, as text that travels with what they hold. Pins and ids of snapshots stay here. */
export function exportedText(driver: string, states: readonly State[]): string {
  const exported = states.map((state) => {
    const names = memberNames(state.members);
    const members = state.members.map((member, at) =>
      pick({ ...member, dataset: names[at] as string }, MEMBER_FIELDS),
    );
    return { ...pick(state, STATE_FIELDS), members };
  });
  return `${JSON.stringify({ format: FORMAT, driver, states: exported })}\n`;
}

/**
 * Reads what {@link exportedText} wrote, from a stranger: the first state is what was exported, others are those of users that
 * were saved with it. Members have no guid yet, and what they count is what the stranger says.
 * @throws INVALID_ARGUMENT
 */
export function readExported(text: string): Exported {
  const header = objectOf(parse(text), 'its description');
  if (header['format'] !== FORMAT) throw badImport('it is of another version, or no export');
  const driver = oneOf(header, 'driver', DRIVERS);
  const { states: list } = header;
  if (!Array.isArray(list) || list.length === 0 || list.length > MAX_STATES)
    throw badImport('it has no states, or too many');
  const states = list.map(readState);
  const [first, ...others] = states;
  const users = new Set(others.map(({ user }) => user));
  if (others.length > 0 && (first?.kind !== 'system' || users.has(undefined) || users.size < others.length))
    throw badImport('its states do not belong together');
  return { driver, states };
}

function readState(given: unknown): State {
  const state = objectOf(given, 'a state');
  const kind = oneOf(state, 'kind', ['system', 'user']);
  const user = kind === 'user' ? textOf(state, 'user', 32) : undefined;
  if (user !== undefined) checkUserName(user);
  const description = textOf(state, 'description', MAX_TEXT, true);
  checkDescription(description);
  const createdAt = textOf(state, 'createdAt', 40);
  if (Number.isNaN(Date.parse(createdAt)) || new Date(createdAt).toISOString() !== createdAt)
    throw badImport('the time of a state is none');
  const name = textOf(state, 'name', 100);
  if (name === '') throw badImport('a state has no name');
  const { members } = state;
  if (!Array.isArray(members) || members.length === 0 || members.length > MAX_STATES)
    throw badImport('a state has no members, or too many');
  const read = members.map((member) => readMember(member, user));
  const names = memberNames(read);
  if (new Set(names).size < read.length) throw badImport('a state has two members of one name');
  // By its name it is compared with what is there: a user's may be of his home alone.
  if (read.some(({ dataset }, at) => dataset !== names[at]))
    throw badImport('a member does not belong to its state');
  return {
    id: textOf(state, 'id', 100),
    kind,
    machine: textOf(state, 'machine', MAX_TEXT),
    ...(user === undefined ? {} : { user }),
    name,
    automatic: false,
    pinned: false,
    description,
    kernel: textOf(state, 'kernel', 200),
    oneInstant: state['oneInstant'] === true,
    createdAt,
    members: read,
  };
}

function readMember(given: unknown, user: string | undefined): Member {
  const member = objectOf(given, 'a member');
  const role = oneOf(member, 'role', user === undefined ? ['system', 'boot'] : ['user']);
  const path = textOf(member, 'path', MAX_TEXT);
  const bytes = pathBytes(path);
  if (
    !path.startsWith('/') ||
    pathText(bytes) !== path ||
    bytes.includes('\0') ||
    bytes.split('/').includes('..')
  )
    throw badImport('the path of a member is none');
  if (member['user'] !== user) throw badImport('a member does not belong to its state');
  return {
    dataset: textOf(member, 'dataset', 2 * MAX_TEXT),
    role,
    ...(user === undefined ? {} : { user }),
    path,
    guid: '',
    snapshot: textOf(member, 'snapshot', 255),
    entries: countOf(member, 'entries'),
    bytes: countOf(member, 'bytes'),
    unreadable: countOf(member, 'unreadable'),
    torn: countOf(member, 'torn'),
  };
}

type Fields = Readonly<Record<string, unknown>>;

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw badImport('its description is no JSON');
  }
}

function objectOf(value: unknown, what: string): Fields {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw badImport(`${what} is missing`);
  return value as Fields;
}

/** A text for people and rules: bounded, one line unless told otherwise. */
function textOf(fields: Fields, field: string, most: number, lines = false): string {
  const value = fields[field];
  const isFit = typeof value === 'string' && value.length <= most && value.isWellFormed();
  if (!isFit || (!lines && /\p{Cc}/u.test(value)))
    throw badImport(`${field} is missing or no text as it should be`);
  return value;
}

function oneOf<T extends string>(fields: Fields, field: string, values: readonly T[]): T {
  const found = values.find((value) => value === fields[field]);
  if (found === undefined) throw badImport(`${field} is not one of ${values.join(', ')}`);
  return found;
}

function countOf(fields: Fields, field: string): number {
  const value = fields[field];
  if (!Number.isSafeInteger(value) || (value as number) < 0) throw badImport(`${field} is no count`);
  return value as number;
}

function pick<T extends object, K extends keyof T>(from: T, keys: readonly K[]): Partial<T> {
  return Object.fromEntries(
    keys.flatMap((key) => (from[key] === undefined ? [] : [[key, from[key]]])),
  ) as Partial<T>;
}
