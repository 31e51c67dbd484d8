import { randomBytes } from 'node:crypto';
import { rmdir } from 'node:fs/promises';
import { homeRefused } from '../../../../failures.ts';
import type { Home } from '../../../../model/model.ts';
import { isBelow } from '../../../mounts.ts';
import type { Homes } from '../../storage.ts';
import { emptyFolder } from '../../vault/trees/empty-folder.ts';
import { nativePath } from '../filesystem.ts';
import type { Layout } from '../layout.ts';
import { poolOf, type ZfsCommands } from '../zfs-commands.ts';
import type { ZfsHome } from './home-layout.ts';
import { bytesOf, checkPlace, giveTo, textOf } from './home-place.ts';

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
    return homes.map(({ user, machines, emptying, trees: [{ root }] }) => ({
      user,
      path: textOf(root.path),
      machines,
      ...(emptying ? { emptying } : {}),
    }));
  }

  async create(home: Home): Promise<void> {
    const layout = await this.#layout();
    if (layout.homes.some(({ user }) => user === home.user)) return await this.#bringBack(home, layout);
    const pool = poolOf(layout.machines.find(({ isCurrent }) => isCurrent)?.active.system.root.name ?? '');
    const container = this.#container ?? `${pool}/USERDATA`;
    const at = bytesOf(home.path);
    const wasThere = await checkPlace(home.path, at, layout.systems, poolOf(container));
    await this.#removeUnfinished(layout);
    if (!layout.systems.some(({ name }) => name === container))
      await this.#zfs.zfs('create', '-o', 'canmount=off', '-o', 'mountpoint=none', container);
    // Marks are made in the end: what has none of them is no home, and goes at the next call.
    const name = `${container}/${home.user.replace(/\$$/, '')}_${suffix()}`;
    const altroot = layout.systems.find((system) => poolOf(system.name) === poolOf(container))?.altroot ?? '';
    const mountpoint = nativePath({ path: at, altroot });
    const options = [`mountpoint=${mountpoint}`, 'canmount=on', 'croft:making=yes'];
    const ran = await this.#zfs.zfs('create', ...options.flatMap((each) => ['-o', each]), name);
    try {
      if (!(await this.#isMountedAt(name, at)))
        throw homeRefused(home.path, ran.why || `${name} was not mounted`);
      await giveTo(home.user, at);
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
    const { root, datasets } = this.#homeOf(home, layout).trees[0];
    const [from, to] = [root.path, bytesOf(path)];
    if (isBelow(to, from)) throw homeRefused(path, 'it lies in the home itself');
    const wasThere = await checkPlace(path, to, layout.systems, poolOf(root.name));
    const { altroot } = root;
    const others = datasets.filter((one) => one !== root && one.hasOwnPath && isBelow(one.path, from));
    const places = [
      { name: root.name, old: from, now: to },
      ...others.map((one) => ({ name: one.name, old: one.path, now: `${to}${one.path.slice(from.length)}` })),
    ];
    try {
      for (const { name, now } of places) await this.#put(name, nativePath({ path: now, altroot }));
      if (root.isMounted && !(await this.#isMountedAt(root.name, to)))
        throw homeRefused(path, 'it was not mounted');
    } catch (error) {
      for (const { name, old } of places.reverse())
        await this.#put(name, nativePath({ path: old, altroot })).catch(() => {});
      await this.#zfs.zfs('mount', root.name);
      if (!wasThere) await rmdir(to).catch(() => {});
      throw homeRefused(path, (error as Error).message);
    }
    // Only what is empty goes, and that is what a mount point is.
    await rmdir(from).catch(() => {});
  }

  /** He has one: it is mounted, where that is missing, and belongs to the machines. */
  async #bringBack(home: Home, layout: Layout): Promise<void> {
    const { root } = this.#homeOf(home, layout).trees[0];
    if (!root.isMounted) {
      await checkPlace(home.path, root.path, layout.systems, poolOf(root.name));
      const { why } = await this.#zfs.zfs('mount', root.name);
      if (!(await this.#isMountedAt(root.name, root.path))) throw homeRefused(home.path, why);
    }
    await this.link(home, home.machines);
  }

  async retarget(home: Home, path: string): Promise<void> {
    await this.move(home, path);
  }

  async link(home: Home, machines: readonly string[], emptying = false): Promise<void> {
    const { trees } = this.#homeOf(home, await this.#layout());
    for (const { root } of trees) {
      if (!root.marks.has('croft:user')) await this.#zfs.set(root.name, 'croft:user', home.user);
      await this.#zfs.set(root.name, 'croft:links', linkText(machines));
    }
    // In this order: what is still linked is never emptied.
    if (emptying) await this.#zfs.set(trees[0].root.name, 'croft:emptying', 'yes');
  }

  async empty(home: Home): Promise<readonly string[]> {
    const { trees } = this.#homeOf(home, await this.#layout());
    const left: string[] = [];
    const systems = trees.flatMap(({ datasets }) => datasets);
    for (const { name, path, isMounted } of [...systems].reverse()) {
      // Where it is not mounted its folder holds something else.
      if (!isMounted) left.push(`${name} is not mounted and was left alone`);
      else left.push(...(await emptyFolder(Buffer.from(path).toString('latin1'))));
    }
    const own = new Set(
      systems.map(({ path }) => `${textOf(path)} is another file system and was left alone`),
    );
    await this.#zfs.unset(trees[0].root.name, 'croft:emptying');
    return left.filter((line) => !own.has(line));
  }

  #homeOf({ user, path }: Home, { homes }: Layout): ZfsHome {
    const home = homes.find((one) => one.user === user);
    if (home === undefined) throw homeRefused(path, 'its dataset is not there any more');
    return home;
  }

  async #put(name: string, mountpoint: string): Promise<void> {
    await this.#zfs.set(name, 'mountpoint', mountpoint);
  }

  /** zfs says that it made something that it could not mount, so it is asked again. */
  async #isMountedAt(name: string, path: string): Promise<boolean> {
    const found = (await this.#zfs.properties([name], ['mounted', 'mountpoint'])).get(name);
    return found?.get('mounted')?.value === 'yes' && found.get('mountpoint')?.value === path;
  }

  async #removeUnfinished({ systems }: Layout): Promise<void> {
    for (const { name, marks } of systems) {
      if (marks.has('croft:making') && !marks.has('croft:links')) await this.#zfs.zfs('destroy', name);
    }
  }
}

/** Something to tell homes of one user apart; clones get another one. */
export function suffix(): string {
  return randomBytes(4).toString('hex').slice(0, 6);
}

/** Nothing at all cannot be told from a mark that is not set. */
function linkText(machines: readonly string[]): string {
  return machines.length === 0 ? ',' : machines.join(',');
}
