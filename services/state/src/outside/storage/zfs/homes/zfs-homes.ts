import { randomBytes } from 'node:crypto';
import { readdir, rmdir } from 'node:fs/promises';
import { homeRefused } from '../../../../failures.ts';
import type { Dataset, Home } from '../../../../model/model.ts';
import type { Account } from '../../../identity/accounts.ts';
import { isBelow } from '../../../mounts.ts';
import type { Homes } from '../../storage.ts';
import { linksOf, nativePath } from '../filesystem.ts';
import type { Layout } from '../layout.ts';
import { isShownAt } from '../shown-at.ts';
import type { Tree } from '../tree.ts';
import { poolOf, type ZfsCommands } from '../zfs-commands.ts';
import { emptyTrees } from './empty-home.ts';
import type { ZfsHome } from './home-layout.ts';
import { bytesOf, checkMountPoint, giveTo, textOf } from './home-place.ts';
import { moveTrees } from './move-home.ts';

/** Homes as datasets: `<homes>/<user>_<6>`, mounted where they are to be. */
export class ZfsHomes implements Homes {
  readonly #zfs: ZfsCommands;
  readonly #layout: () => Promise<Layout>;
  readonly #container: string | undefined;

  /** @param container the dataset that homes are made in; undefined for `USERDATA` in the pool of the machine that runs */
  constructor(zfs: ZfsCommands, layout: () => Promise<Layout>, container: string | undefined) {
    this.#zfs = zfs;
    this.#layout = layout;
    this.#container = container;
  }

  async list(layout?: Layout): Promise<readonly Home[]> {
    const { homes } = layout ?? (await this.#layout());
    return homes.map(({ user, machines, emptying, trees }) => ({
      user,
      path: textOf(trees[0].root.path),
      machines,
      ...(emptying ? { emptying } : {}),
      datasets: trees.flatMap((tree) => datasetsOf(tree, user)),
    }));
  }

  /** At the first look, when nobody writes: removes homes that were being made when somebody was killed. */
  async removeUnfinished({ systems }: Layout): Promise<void> {
    for (const { name, marks, path, isMounted } of systems) {
      if (!marks.has('croft:making') || marks.has('croft:links') || !isMounted) continue;
      if (!(await isShownAt(name, path))) continue;
      // It is a folder like any other since then, so somebody may have put something into it.
      const names = await readdir(path).catch(() => undefined);
      if (names?.length !== 0) continue;
      const { ok } = await this.#zfs.zfs('destroy', name);
      if (ok) await rmdir(path).catch(() => {});
    }
  }

  async create(home: Home, owner: Account | undefined): Promise<void> {
    const layout = await this.#layout();
    if (layout.homes.some(({ user }) => user === home.user)) return await this.#bringBack(home, layout);
    const pool = poolOf(layout.machines.find(({ isCurrent }) => isCurrent)?.active.system.root.name ?? '');
    const container = this.#container ?? `${pool}/USERDATA`;
    const at = bytesOf(home.path);
    const wasThere = await checkMountPoint(home.path, at, layout.systems, poolOf(container));
    if (!layout.systems.some(({ name }) => name === container))
      await this.#zfs.zfs('create', '-o', 'canmount=off', '-o', 'mountpoint=none', container);
    // Marks are made in the end: what has none of them is no home, and goes at the next start.
    const name = `${container}/${home.user.replace(/\$$/, '')}_${suffix()}`;
    const altroot = layout.systems.find((system) => poolOf(system.name) === poolOf(container))?.altroot ?? '';
    const mountpoint = nativePath({ path: at, altroot });
    const options = [`mountpoint=${mountpoint}`, 'canmount=on', 'croft:making=yes'];
    const ran = await this.#zfs.zfs('create', ...options.flatMap((each) => ['-o', each]), name);
    try {
      if (!(await this.#isMountedAt(name, at)))
        throw homeRefused(home.path, ran.why || `${name} was not mounted`);
      await giveTo(owner, at);
      await this.#zfs.set(name, 'croft:user', home.user);
      await this.#zfs.set(name, 'croft:links', linkText(home.machines));
      await this.#zfs.unset(name, 'croft:making');
    } catch (error) {
      await this.#zfs.zfs('destroy', name);
      if (!wasThere) await rmdir(at).catch(() => {});
      throw error;
    }
  }

  async move(home: Home, path: string): Promise<void> {
    const layout = await this.#layout();
    const { trees } = this.#homeOf(home, layout);
    const { root } = trees[0];
    const to = bytesOf(path);
    if (isBelow(to, root.path)) throw homeRefused(path, 'it lies in the home itself');
    const wasThere = await checkMountPoint(path, to, layout.systems, poolOf(root.name));
    try {
      await moveTrees(trees, to, path, this.#zfs);
    } catch (error) {
      if (!wasThere) await rmdir(to).catch(() => {});
      throw error;
    }
  }

  /** He has one: it is mounted, where that is missing, and belongs to the machines. */
  async #bringBack(home: Home, layout: Layout): Promise<void> {
    const { root } = this.#homeOf(home, layout).trees[0];
    if (!root.isMounted) {
      await checkMountPoint(home.path, root.path, layout.systems, poolOf(root.name));
      const { why } = await this.#zfs.zfs('mount', root.name);
      if (!(await this.#isMountedAt(root.name, root.path))) throw homeRefused(home.path, why);
    }
    await this.link(home, home.machines);
  }

  async retarget(home: Home, path: string): Promise<void> {
    await this.move(home, path);
  }

  async link(home: Home, machines: readonly string[], emptying = false): Promise<void> {
    const { trees, heads } = this.#homeOf(home, await this.#layout());
    // What a machine went back from and may come back to is never emptied, and what is linked is not, whatever it is marked with.
    if (emptying) await this.#zfs.set(trees[0].root.name, 'croft:emptying', 'yes');
    else await this.#forgetEmptying(heads);
    for (const { root } of trees) {
      if (!root.marks.has('croft:user')) await this.#zfs.set(root.name, 'croft:user', home.user);
      await this.#zfs.set(root.name, 'croft:links', linkText(machines));
    }
  }

  async empty(home: Home): Promise<readonly string[]> {
    const { trees, heads, machines } = this.#homeOf(home, await this.#layout());
    if (machines.length > 0 || trees.some(({ root }) => linksOf(root).length > 0))
      throw homeRefused(home.path, 'it belongs to a machine, so it was not emptied');
    const left = await emptyTrees(trees);
    await this.#forgetEmptying(heads);
    return left;
  }

  async #forgetEmptying(trees: readonly Tree[]): Promise<void> {
    for (const { root } of trees)
      if (root.marks.has('croft:emptying')) await this.#zfs.unset(root.name, 'croft:emptying');
  }

  #homeOf({ user, path }: Home, { homes }: Layout): ZfsHome {
    const home = homes.find((one) => one.user === user);
    if (home === undefined) throw homeRefused(path, 'its dataset is not there any more');
    return home;
  }

  /** zfs says that it made something that it could not mount, so it is asked again. */
  async #isMountedAt(name: string, path: string): Promise<boolean> {
    const found = (await this.#zfs.properties([name], ['mounted', 'mountpoint'])).get(name);
    return found?.get('mounted')?.value === 'yes' && found.get('mountpoint')?.value === path;
  }
}

/** As the members of a state are called. What is not mounted holds nothing that anybody sees. */
function datasetsOf({ root, datasets }: Tree, user: string): readonly Dataset[] {
  return datasets
    .filter((one) => one === root || one.isMounted)
    .map(({ name, path }) => ({ name, role: 'user', user, path }));
}

/** Something to tell homes of one user apart; clones get another one. */
export function suffix(): string {
  return randomBytes(4).toString('hex').slice(0, 6);
}

/** Nothing at all cannot be told from a mark that is not set. */
function linkText(machines: readonly string[]): string {
  return machines.length === 0 ? ',' : machines.join(',');
}
