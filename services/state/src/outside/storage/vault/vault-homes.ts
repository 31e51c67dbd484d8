import { lchown, mkdir, readdir, readFile, realpath, rename, rmdir } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { contentDamaged, homeRefused } from '../../../failures.ts';
import type { Home } from '../../../model/model.ts';
import { pathBytes } from '../../../model/path-text.ts';
import { syncFolder } from '../../sync-folder.ts';
import type { Homes } from '../storage.ts';
import { emptyFolder } from './empty-folder.ts';
import { bytesOf, errorCode, lstat, type Stat, writeDurably } from './files.ts';
import { ownerOf } from './passwd.ts';

/** A home as it is written down. */
interface Kept extends Home {
  /** It is being moved: where to, and which folder it is, so that a crash in the middle can be told from one before. */
  readonly moving?: { readonly path: string; readonly dev: string; readonly ino: string };
}

/** Homes on the vault are ordinary folders; a file beside the states says which. */
export class VaultHomes implements Homes {
  readonly #folder: string;
  readonly #leaveOut: string;
  #kept: readonly Kept[] | undefined;

  /** @param folder the vault's @param leaveOut the folder that is no part of any home: the vault lies in it */
  constructor(folder: string, leaveOut: string) {
    this.#folder = folder;
    this.#leaveOut = leaveOut;
  }

  /** Reads the list again: somebody else may have written it. */
  async reread(): Promise<readonly Home[]> {
    this.#kept = undefined;
    return this.list();
  }

  async list(): Promise<readonly Home[]> {
    const kept = await this.#load();
    return kept.map(({ user, path, machines }) => ({ user, path, machines }));
  }

  async create(home: Home): Promise<void> {
    const at = bytesOf(pathBytes(home.path));
    await this.#checkPlace(at, home.path);
    const there = await factsOf(at);
    if (there === undefined) await makeHome(home, at);
    else if (!there.isDirectory()) throw homeRefused(home.path, 'it is a link or no folder');
    await this.#replace(home.user, home);
  }

  async move(home: Home, path: string): Promise<void> {
    const [from, to] = [bytesOf(pathBytes(home.path)), bytesOf(pathBytes(path))];
    const stat = await factsOf(from);
    if (!stat?.isDirectory()) throw homeRefused(home.path, 'there is no folder to move');
    await this.#checkPlace(from, home.path);
    await this.#checkPlace(to, path);
    await checkTarget(to, path);
    const { dev, ino } = stat;
    await this.#replace(home.user, { ...home, moving: { path, dev: String(dev), ino: String(ino) } });
    try {
      // An empty folder is replaced by it, and nothing else is.
      await rename(from, to);
    } catch (error) {
      await this.#replace(home.user, home);
      throw homeRefused(path, moveError(error));
    }
    for (const each of [from, to]) await syncFolder(bytesOf(dirname(each.toString('latin1'))));
    await this.#replace(home.user, { ...home, path });
  }

  async retarget(home: Home, path: string): Promise<void> {
    const there = await factsOf(bytesOf(pathBytes(path)));
    const isInUse = there?.isDirectory() && (await readdir(bytesOf(pathBytes(path)))).length > 0;
    const old = await factsOf(bytesOf(pathBytes(home.path)));
    if (isInUse || old === undefined) await this.create({ ...home, path });
    else await this.move(home, path);
  }

  async link(home: Home, machines: readonly string[]): Promise<void> {
    await this.#replace(home.user, { ...home, machines });
  }

  async empty(home: Home): Promise<readonly string[]> {
    const stat = await factsOf(bytesOf(pathBytes(home.path)));
    if (stat === undefined) return [];
    if (!stat.isDirectory()) return [`${home.path} is a link or no folder and was left alone`];
    await this.#checkPlace(bytesOf(pathBytes(home.path)), home.path);
    return await emptyFolder(pathBytes(home.path));
  }

  /** What holds the states is in no home and no home is in it, whatever links lead there: else they would go with it. */
  async #checkPlace(at: Buffer, path: string): Promise<void> {
    const own = await realpath(this.#leaveOut, { encoding: 'latin1' });
    const text = at.toString('latin1');
    const place = await realpath(at, { encoding: 'latin1' }).catch(() => undefined);
    const parent = await realpath(bytesOf(dirname(text)), { encoding: 'latin1' }).catch(() => dirname(text));
    const real = place ?? `${parent}/${basename(text)}`;
    if (`${own}/`.startsWith(`${real}/`) || `${real}/`.startsWith(`${own}/`))
      throw homeRefused(path, 'the states are kept there');
  }

  async #replace(user: string, home: Kept): Promise<void> {
    const others = (await this.#load()).filter((other) => other.user !== user);
    const kept = [...others, home].sort((a, b) => (a.user < b.user ? -1 : 1));
    const text = `${JSON.stringify({ version: 1, homes: kept })}\n`;
    await writeDurably(`${this.#folder}/homes.json`, this.#folder, text);
    this.#kept = kept;
  }

  async #load(): Promise<readonly Kept[]> {
    this.#kept ??= await Promise.all((await readHomes(`${this.#folder}/homes.json`)).map(settled));
    return this.#kept;
  }
}

async function readHomes(file: string): Promise<readonly Kept[]> {
  try {
    const { version, homes } = JSON.parse(await readFile(file, 'utf8')) as {
      version: unknown;
      homes: readonly Kept[];
    };
    if (version === 1 && Array.isArray(homes)) return homes;
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return [];
    if (errorCode(error) !== undefined) throw error;
  }
  throw contentDamaged(`the list of homes ${file}`);
}

/** A move that a crash interrupted happened when the folder is where it was to go. */
async function settled({ moving, ...home }: Kept): Promise<Kept> {
  if (moving === undefined) return home;
  const there = await factsOf(bytesOf(pathBytes(moving.path)));
  const moved = String(there?.dev) === moving.dev && String(there?.ino) === moving.ino;
  return moved ? { ...home, path: moving.path } : home;
}

/** Nobody else can enter it; it belongs to its user when the daemon may say so and the user has an account. */
async function makeHome(home: Home, at: Buffer): Promise<void> {
  try {
    await mkdir(at, { mode: 0o700 });
    const owner = await ownerOf(home.user);
    if (owner !== undefined && process.geteuid?.() === 0) await lchown(at, owner.uid, owner.gid);
  } catch (error) {
    if (errorCode(error) === undefined) throw error;
    const missing = errorCode(error) === 'ENOENT' ? 'the folder it is to lie in is not there' : undefined;
    throw homeRefused(home.path, missing ?? (error as Error).message);
  }
}

async function checkTarget(to: Buffer, path: string): Promise<void> {
  const there = await factsOf(to);
  if (there === undefined) return;
  if (!there.isDirectory()) throw homeRefused(path, 'it is a link or no folder');
  if ((await readdir(to)).length > 0) throw homeRefused(path, 'it is not empty');
  // Replacing it would leave its owner and mode behind, which are the home's and not the place's.
  await rmdir(to);
}

function moveError(error: unknown): string {
  if (errorCode(error) === 'EXDEV')
    return 'it is on another file system: copy the home there with "cp -a", then call CreateUserData with the new path';
  return (error as Error).message;
}

async function factsOf(at: Buffer): Promise<Stat | undefined> {
  try {
    return await lstat(at);
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(errorCode(error) ?? '')) return undefined;
    throw error;
  }
}
