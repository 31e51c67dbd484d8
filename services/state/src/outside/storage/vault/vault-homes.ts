import { lchown, mkdir, readdir, realpath, rename } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { homeRefused } from '../../../failures.ts';
import type { Dataset, Home } from '../../../model/model.ts';
import { pathBytes, pathText } from '../../../model/path-text.ts';
import { isAnswering, NO_ANSWER } from '../../answering.ts';
import type { Account } from '../../identity/accounts.ts';
import { syncFolder } from '../../sync-folder.ts';
import { HomesFile } from '../homes-file.ts';
import type { Homes } from '../storage.ts';
import { bytesOf, errorCode, lstat, type Stat } from './files.ts';
import { checkMount, identityOf, type MountedHome, mountedAt, mountOfHome } from './mounted-home.ts';
import { emptyFolder } from './trees/empty-folder.ts';

const COPY = 'copy the home there with "cp -a", then call CreateUserData with the new path';
const NO_FOLDER = 'the folder it is to lie in is not there';

/** A home as it is written down. */
interface Kept extends Home, MountedHome {
  /** Which folder is being emptied. Whatever lies there later is somebody else's. */
  readonly emptied?: string;
  /** It is being moved: what it is to be, and which folder it is, so that a crash in the middle can be told from one before. */
  readonly moving?: {
    readonly path: string;
    readonly machines?: readonly string[];
    readonly dev: string;
    readonly ino: string;
  };
}

/** Homes on the vault are ordinary folders; a file beside the states says which. */
export class VaultHomes implements Homes {
  readonly #file: HomesFile<Kept>;
  readonly #leaveOut: string;

  /** @param folder the vault's @param leaveOut the folder that is no part of any home: the vault lies in it */
  constructor(folder: string, leaveOut: string) {
    this.#file = new HomesFile(folder, settled);
    this.#leaveOut = leaveOut;
  }

  /** Reads the list again: somebody else may have written it. A move that a crash interrupted is at its end then. */
  async reread(): Promise<readonly Home[]> {
    return (await this.#file.reread()).map(homeOf);
  }

  async list(): Promise<readonly Home[]> {
    return (await this.#file.list()).map(homeOf);
  }

  async create(home: Home, owner: Account | undefined): Promise<void> {
    const at = bytesOf(pathBytes(home.path));
    const there = await factsOf(at);
    await this.#checkHoldsNoStates(at, home.path);
    if (there === undefined) await makeHome(home, at, owner);
    else if (!there.isDirectory()) throw homeRefused(home.path, 'it is a link or no folder');
    const mounted = await mountedAt(home.path);
    await this.#file.put({ user: home.user, path: home.path, machines: home.machines, ...mounted });
  }

  async move(home: Home, path: string, machines = home.machines): Promise<void> {
    try {
      await this.#move(home, path, machines);
    } catch (error) {
      // It may have moved all the same: what lies there says it.
      await this.#file.reread().catch(() => {});
      throw error;
    }
  }

  async #move({ user, ...home }: Home, path: string, machines: readonly string[]): Promise<void> {
    const mounted = mountOfHome(await this.#kept(user));
    const before = { user, path: home.path, machines: home.machines, ...mounted };
    const [from, to] = [bytesOf(pathBytes(home.path)), bytesOf(pathBytes(path))];
    const stat = await factsOf(from);
    if (!stat?.isDirectory()) throw homeRefused(home.path, 'there is no folder to move');
    await this.#checkHoldsNoStates(from, home.path);
    await checkTarget(to, path);
    await this.#checkHoldsNoStates(to, path);
    const { dev, ino } = stat;
    const moving = { path, machines, dev: String(dev), ino: String(ino) };
    await this.#file.put({ ...before, moving });
    try {
      // An empty folder is replaced by it, and nothing else is.
      await rename(from, to);
    } catch (error) {
      await this.#file.put(before);
      throw homeRefused(path, moveError(error));
    }
    for (const each of [from, to]) await syncFolder(bytesOf(dirname(each.toString('latin1'))));
    await this.#file.put({ user, path, machines });
  }

  async retarget(
    home: Home,
    path: string,
    machines: readonly string[],
    owner: Account | undefined,
  ): Promise<void> {
    const there = await factsOf(bytesOf(pathBytes(path)));
    const isInUse = there?.isDirectory() && (await readdir(bytesOf(pathBytes(path)))).length > 0;
    const old = await factsOf(bytesOf(pathBytes(home.path)));
    if (isInUse || old === undefined) await this.create({ ...home, path, machines }, owner);
    else await this.move(home, path, machines);
  }

  async link({ user, path }: Home, machines: readonly string[], emptying = false): Promise<void> {
    const known = await this.#kept(user);
    const folder = emptying ? await factsOf(bytesOf(pathBytes(path))) : undefined;
    if (emptying) await checkMount(path, known);
    const mark = folder === undefined ? {} : { emptying: true as const, emptied: identityOf(folder) };
    await this.#file.put({ user, path, machines, ...mountOfHome(known), ...mark });
  }

  async empty(home: Home): Promise<readonly string[]> {
    const left = await this.#empty(home, (await this.#kept(home.user))?.emptied);
    await this.link(home, home.machines);
    return left;
  }

  /** Whether a dataset is a home that was a file system of its own when it was registered, and that is not mounted now. */
  async isAway({ user, path }: Dataset): Promise<boolean> {
    const kept = user === undefined ? undefined : await this.#kept(user);
    return kept?.mounted !== undefined && (await mountedAt(path)).mounted === undefined;
  }

  async #kept(user: string): Promise<Kept | undefined> {
    return (await this.#file.list()).find((kept) => kept.user === user);
  }

  async #empty(home: Home, mark: string | undefined): Promise<readonly string[]> {
    const stat = await factsOf(bytesOf(pathBytes(home.path)));
    if (stat === undefined) return [];
    if (!stat.isDirectory()) return [`${home.path} is a link or no folder and was left alone`];
    await this.#checkHoldsNoStates(bytesOf(pathBytes(home.path)), home.path);
    return await emptyFolder(
      pathBytes(home.path),
      (folder) => mark === undefined || mark === identityOf(folder),
    );
  }

  /** What holds the states is in no home and no home is in it, whatever links lead there: else they would go with it. */
  async #checkHoldsNoStates(at: Buffer, path: string): Promise<void> {
    const own = await realpath(this.#leaveOut, { encoding: 'latin1' });
    const text = at.toString('latin1');
    const place = await realpath(at, { encoding: 'latin1' }).catch(() => undefined);
    const parent = await realpath(bytesOf(dirname(text)), { encoding: 'latin1' }).catch(() => dirname(text));
    const real = place ?? `${parent}/${basename(text)}`;
    if (`${own}/`.startsWith(`${real}/`) || `${real}/`.startsWith(`${own}/`))
      throw homeRefused(path, 'the states are kept there');
  }
}

function homeOf({ user, path, machines, emptying }: Kept): Home {
  return { user, path, machines, ...(emptying === undefined ? {} : { emptying }) };
}

/** A move that a crash interrupted happened when the folder is where it was to go. */
async function settled({ moving, ...home }: Kept): Promise<Kept> {
  if (moving === undefined) return home;
  const there = await factsOf(bytesOf(pathBytes(moving.path)));
  const moved = String(there?.dev) === moving.dev && String(there?.ino) === moving.ino;
  return moved ? { ...home, path: moving.path, machines: moving.machines ?? home.machines } : home;
}

/** Nobody else can enter it. */
async function makeHome(home: Home, at: Buffer, owner: Account | undefined): Promise<void> {
  try {
    await mkdir(at, { mode: 0o700 });
    if (owner !== undefined) await lchown(at, owner.uid, owner.gid);
  } catch (error) {
    if (errorCode(error) === undefined) throw error;
    throw homeRefused(home.path, errorCode(error) === 'ENOENT' ? NO_FOLDER : (error as Error).message);
  }
}

async function checkTarget(to: Buffer, path: string): Promise<void> {
  const there = await factsOf(to);
  if (there === undefined) return;
  if (!there.isDirectory()) throw homeRefused(path, 'it is a link or no folder');
  if ((await readdir(to)).length > 0) throw homeRefused(path, 'it is not empty');
}

function moveError(error: unknown): string {
  if (errorCode(error) === 'EINVAL')
    return 'it lies in the home itself: put what is to be the home there, then call CreateUserData with that path';
  if (errorCode(error) === 'EXDEV') return `it is on another file system: ${COPY}`;
  if (errorCode(error) === 'EBUSY')
    return `it or the home is where a file system is mounted: mount that of the home there, or ${COPY}`;
  return errorCode(error) === 'ENOENT' ? NO_FOLDER : (error as Error).message;
}

/** @throws FAILED_PRECONDITION when nobody can tell, such as where links lead in a circle */
async function factsOf(at: Buffer): Promise<Stat | undefined> {
  const path = at.toString('latin1');
  if (!(await isAnswering(path))) throw homeRefused(pathText(path), NO_ANSWER);
  try {
    return await lstat(at);
  } catch (error) {
    const code = errorCode(error);
    if (code === undefined) throw error;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw homeRefused(pathText(path), (error as Error).message);
  }
}
