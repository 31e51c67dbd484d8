import { randomUUID } from 'node:crypto';
import { chmod, lchown, readdir, rename, rmdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { Failure } from '@croft/failure';
import { homeRefused } from '../../../failures.ts';
import type { Home } from '../../../model/model.ts';
import { pathBytes } from '../../../model/path-text.ts';
import type { Account } from '../../identity/accounts.ts';
import { syncFolder } from '../../sync-folder.ts';
import { HomesFile } from '../homes-file.ts';
import type { Homes } from '../storage.ts';
import { lstat } from '../vault/files.ts';
import { emptyFolder } from '../vault/trees/empty-folder.ts';
import { homeSubvolume } from './home-places.ts';
import { STATES, WORK } from './layout.ts';
import type { Subvolumes } from './subvolumes.ts';

/** A home as it is written down. */
interface Kept extends Home {
  /** From the top level on. */
  readonly subvolume: string;
  /** With the mark `emptying`: the uuid of the subvolume that it was set for. */
  readonly emptied?: string;
  /** It is being moved: what it is to be, and which subvolume it is, so that a crash in the middle can be told from one before. */
  readonly moving?: Pick<Kept, 'path' | 'machines' | 'subvolume'> & { readonly uuid: string };
}

/** Homes on btrfs are subvolumes in the folder of homes, seen wherever that is mounted. */
export class BtrfsHomes implements Homes {
  readonly #subvolumes: Subvolumes;
  readonly #homes: string;
  readonly #file: HomesFile<Kept>;

  /** @param homes the folder of homes, from the top level on */
  constructor(subvolumes: Subvolumes, homes: string) {
    this.#subvolumes = subvolumes;
    this.#homes = homes;
    this.#file = new HomesFile(subvolumes.at(STATES), (kept) => this.#settled(kept));
  }

  async reread(): Promise<readonly Home[]> {
    return (await this.#file.reread()).map(homeOf);
  }

  async list(): Promise<readonly Home[]> {
    return (await this.#file.list()).map(homeOf);
  }

  /** The subvolume of a user's home; undefined when he has none. */
  async subvolumeOf(user: string | undefined): Promise<string | undefined> {
    return (await this.#file.list()).find((kept) => kept.user === user)?.subvolume;
  }

  async create(home: Home, owner: Account | undefined): Promise<void> {
    const subvolume = await this.#placeOf(home.path);
    const shown = await this.#subvolumes.show(subvolume);
    if (shown?.readOnly) throw homeRefused(home.path, 'it is a read-only subvolume');
    if (shown === undefined) {
      await this.#clear(
        subvolume,
        home.path,
        'it is a folder and no subvolume: move what is in it away first',
      );
      await this.#make(home, subvolume, owner);
    }
    await this.#file.put({ ...homeOf(home), subvolume });
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

  async #move(home: Home, path: string, machines: readonly string[]): Promise<void> {
    const from = await this.subvolumeOf(home.user);
    const shown = from === undefined ? undefined : await this.#subvolumes.show(from);
    if (from === undefined || shown === undefined)
      throw homeRefused(home.path, 'there is no subvolume to move');
    const to = await this.#placeOf(path);
    if (to.startsWith(`${from}/`)) throw homeRefused(path, 'it lies in the home itself');
    await this.#clear(to, path, 'it is not empty');
    const moving = { path, machines, subvolume: to, uuid: shown.uuid };
    const begun = { ...homeOf(home), subvolume: from, moving };
    await this.#file.put(begun);
    try {
      await this.#rename(from, to);
    } catch (error) {
      // It may have its new name, and only not for good.
      await this.#file.put(await this.#settled(begun));
      throw homeRefused(path, (error as Error).message);
    }
    await this.#file.put({ user: home.user, path, machines, subvolume: to });
  }

  async retarget(
    home: Home,
    path: string,
    machines: readonly string[],
    owner: Account | undefined,
  ): Promise<void> {
    const [old, place] = [await this.subvolumeOf(home.user), await this.#placeOf(path)];
    const at = this.#subvolumes.at(place);
    const isInUse = (await this.#subvolumes.isThere(place)) && (await readdir(at)).length > 0;
    const hasOld = old !== undefined && (await this.#subvolumes.isThere(old));
    if (isInUse || !hasOld) await this.create({ ...home, path, machines }, owner);
    else await this.move(home, path, machines);
  }

  async link(home: Home, machines: readonly string[], emptying = false): Promise<void> {
    const { user, path } = home;
    const subvolume = (await this.subvolumeOf(user)) ?? (await this.#placeOf(path));
    const shown = emptying ? await this.#subvolumes.show(subvolume) : undefined;
    const mark = shown === undefined ? {} : { emptying: true as const, emptied: shown.uuid };
    await this.#file.put({ user, path, machines, subvolume, ...mark });
  }

  async empty(home: Home): Promise<readonly string[]> {
    const left = await this.#empty(home);
    await this.link(home, home.machines);
    return left;
  }

  async #empty({ user, path }: Home): Promise<readonly string[]> {
    const kept = (await this.#file.list()).find((one) => one.user === user);
    const shown = kept === undefined ? undefined : await this.#subvolumes.show(kept.subvolume);
    if (kept === undefined || shown === undefined)
      return [`${path} is no subvolume any more and was left alone`];
    if (kept.emptied !== undefined && kept.emptied !== shown.uuid)
      return [`${path} is another subvolume by now and was left alone`];
    return await emptyFolder(Buffer.from(this.#subvolumes.at(kept.subvolume)).toString('latin1'));
  }

  #placeOf(path: string): Promise<string> {
    const plain = Buffer.from(pathBytes(path), 'latin1').toString('utf8');
    return homeSubvolume(plain, { root: this.#subvolumes.root, homes: this.#homes });
  }

  /** Takes an empty folder out of the way: its owner and mode are the place's and not the home's. */
  async #clear(subvolume: string, path: string, full: string): Promise<void> {
    const at = this.#subvolumes.at(subvolume);
    const stat = await lstat(at).catch(() => undefined);
    if (stat === undefined) return;
    if (!stat.isDirectory()) throw homeRefused(path, 'it is a link or no folder');
    if ((await readdir(at)).length > 0) throw homeRefused(path, full);
    await rmdir(at).catch((error) => {
      throw homeRefused(path, (error as Error).message);
    });
  }

  /** It gets its name when owner and mode are right. */
  async #make(home: Home, subvolume: string, owner: Account | undefined): Promise<void> {
    const made = `${WORK}/${randomUUID()}`;
    await this.#subvolumes.create(made);
    try {
      await chmod(this.#subvolumes.at(made), 0o700);
      if (owner !== undefined) await lchown(this.#subvolumes.at(made), owner.uid, owner.gid);
      await this.#rename(made, subvolume);
    } catch (error) {
      await this.#subvolumes.delete([made]);
      if (error instanceof Failure) throw error;
      throw homeRefused(home.path, (error as Error).message);
    }
  }

  async #rename(from: string, to: string): Promise<void> {
    await rename(this.#subvolumes.at(from), this.#subvolumes.at(to));
    for (const each of [from, to]) await syncFolder(dirname(this.#subvolumes.at(each)));
  }

  /** A move that a crash interrupted happened when the subvolume is where it was to go. */
  async #settled({ moving, ...home }: Kept): Promise<Kept> {
    if (moving === undefined) return home;
    const { uuid, ...there } = moving;
    const moved = (await this.#subvolumes.show(moving.subvolume))?.uuid === uuid;
    return moved ? { ...home, ...there } : home;
  }
}

function homeOf({ user, path, machines, emptying }: Home): Home {
  return { user, path, machines, ...(emptying === undefined ? {} : { emptying }) };
}
