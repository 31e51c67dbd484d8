import {
  badPath,
  badUserName,
  homeNotFound,
  homeTaken,
  machineNotManaged,
  userNotFound,
} from '../../failures.ts';
import type { Home, Machine, Model } from '../../model/model.ts';
import { pathText } from '../../model/path-text.ts';

const MAX_USER_NAME = 32;
/** No file system has longer names. */
const MAX_NAME_BYTES = 255;

/**
 * A login name as useradd takes it, with capitals, points and a trailing `$` for hosts where others made it. It becomes part
 * of the names of datasets.
 * @throws INVALID_ARGUMENT
 */
export function checkUserName(user: string): void {
  if (user === '') throw badUserName(user, 'it is empty');
  if (user.length > MAX_USER_NAME) throw badUserName(user, `it has more than ${MAX_USER_NAME} characters`);
  if (!/^[A-Za-z_][A-Za-z0-9._-]*\$?$/.test(user))
    throw badUserName(user, 'it is a letter or _, then letters, digits and . _ -');
}

/**
 * The path of a home as path text, without double slashes, `.` and a slash at the end.
 * @throws INVALID_ARGUMENT
 */
export function homePath(given: string): string {
  if (given === '') throw badPath(given, 'it is empty');
  if (!given.startsWith('/')) throw badPath(given, 'it does not begin with /');
  if (/\p{Cc}/u.test(given) || !given.isWellFormed()) throw badPath(given, 'it has control characters in it');
  if (Buffer.byteLength(given) > 4000) throw badPath(given, 'it is longer than 4,000 bytes');
  const parts = given.split('/').filter((part) => part !== '' && part !== '.');
  if (parts.includes('..')) throw badPath(given, 'it has .. in it');
  if (parts.some((part) => Buffer.byteLength(part) > MAX_NAME_BYTES))
    throw badPath(given, `a name in it is longer than ${MAX_NAME_BYTES} bytes`);
  if (parts.length === 0) throw badPath(given, 'it is the root of everything');
  return pathText(Buffer.from(`/${parts.join('/')}`).toString('latin1'));
}

/** What is to be done for CreateUserData. */
export type HomePlan =
  | { readonly do: 'create'; readonly home: Home }
  | { readonly do: 'link'; readonly home: Home; readonly machines: readonly string[] }
  | { readonly do: 'move'; readonly home: Home; readonly path: string; readonly machines: readonly string[] };

/**
 * A new user gets a home; one who has one is linked to the machine, and his home moved when it is to lie elsewhere. What is
 * another user's by now is not moved: he gets a new one.
 * @throws ALREADY_EXISTS, FAILED_PRECONDITION
 */
export function planHome(model: Model, machine: Machine, user: string, path: string): HomePlan {
  checkManaged(machine);
  checkFree(model, user, path, machine);
  const home = model.homes.find((other) => other.user === user);
  if (home === undefined) return { do: 'create', home: { user, path, machines: [machine.id] } };
  const machines = [...new Set([...home.machines, machine.id])];
  if (home.path === path) return { do: 'link', home, machines };
  if (isOthersNow(model, home)) return { do: 'create', home: { user, path, machines } };
  return { do: 'move', home, path, machines };
}

/** While a home belongs to no machine, others may take its place. What has datasets of its own is told from theirs. */
function isOthersNow({ homes }: Model, { user, path, datasets }: Home): boolean {
  return datasets === undefined && homes.some((other) => isInTheWay(other, user, path));
}

/**
 * The home that lies at a path, which is to move to another one.
 * @throws NOT_FOUND, ALREADY_EXISTS, FAILED_PRECONDITION
 */
export function planMove(model: Model, machine: Machine, path: string, to: string): Home {
  checkManaged(machine);
  const home = model.homes.find((other) => other.path === path && other.machines.includes(machine.id));
  if (home === undefined) throw homeNotFound(path, machine.id);
  checkFree(model, home.user, to, machine);
  return home;
}

/** What is to be done for DissociateUser. */
export interface DissociatePlan {
  readonly home: Home;
  /** The machines it still belongs to. */
  readonly machines: readonly string[];
  /** Its content goes, too. */
  readonly empty: boolean;
}

/** @throws NOT_FOUND, FAILED_PRECONDITION */
export function planDissociation(
  model: Model,
  machine: Machine,
  user: string,
  removeHome: boolean,
): DissociatePlan {
  checkManaged(machine);
  const isHis = ({ user: other, machines, emptying }: Home) =>
    other === user && (machines.includes(machine.id) || (emptying === true && removeHome));
  const home = model.homes.find(isHis);
  if (home === undefined) throw userNotFound(user, machine.id);
  const machines = home.machines.filter((id) => id !== machine.id);
  return { home, machines, empty: removeHome && machines.length === 0 };
}

function checkManaged(machine: Machine): void {
  if (!machine.managed) throw machineNotManaged();
}

/** Whether a home is in the way of others: one that belongs to no machine any more is in nobody's. */
export function holdsPlace({ machines, emptying }: Home): boolean {
  return machines.length > 0 || emptying !== undefined;
}

function isInTheWay(other: Home, user: string, path: string): boolean {
  return other.user !== user && holdsPlace(other) && areNested(other.path, path);
}

/**
 * No home lies in another one, in a machine's system, or around one: what is saved and deleted would be both.
 */
function checkFree(model: Model, user: string, path: string, machine: Machine): void {
  for (const other of model.homes)
    if (isInTheWay(other, user, path)) throw homeTaken(path, `the home of ${other.user}`);
  for (const dataset of machine.datasets) {
    if (dataset.holdsMounts ? isWithin(dataset.path, path) : areNested(dataset.path, path))
      throw homeTaken(path, `${dataset.name} of this machine`);
  }
}

/** A home may be mounted in a dataset, but not in its place or around it. */
function isWithin(path: string, folder: string): boolean {
  return path === folder || contains(folder, path);
}

function areNested(one: string, other: string): boolean {
  return one === other || contains(one, other) || contains(other, one);
}

function contains(folder: string, path: string): boolean {
  return path.startsWith(folder.endsWith('/') ? folder : `${folder}/`);
}
