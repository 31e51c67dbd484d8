import { mkdir, readdir, rmdir } from 'node:fs/promises';
import { storageRefused } from '../../../../failures.ts';
import { type FileSystem, markOf } from '../filesystem.ts';
import type { Tree } from '../tree.ts';
import { datasetOf, poolOf, refusal, type ZfsCommands } from '../zfs-commands.ts';

/** Imported states lie beside what is saved, where nothing is mounted and no machine or home is looked for. */
const PARENT = 'croft_imports';
const MARK = 'croft:imported';
/** What it says of the parent. */
const ALL = 'all';
const NOWHERE = ['mountpoint=none', 'canmount=off'];
/** What came in, until its members are made of it. */
export const ARCHIVE = 'archive';

/** Which import a dataset is of; undefined for one that is of none, such as a received copy of one. */
export function importOf(system: FileSystem): string | undefined {
  const [, id] = /^[^/]+\/croft_imports\/([0-9a-f-]{36})(?:\/[^/]+)?$/.exec(system.name) ?? [];
  return id !== undefined && !system.isVolume && markOf(system, MARK) === id ? id : undefined;
}

/** Datasets that have the snapshot of an imported member each. */
export function importedTrees(systems: readonly FileSystem[]): readonly Tree[] {
  return systems
    .filter((system) => importOf(system) !== undefined && system.name.split('/').length === 4)
    .map((root) => ({ role: 'system', root, datasets: [root] }));
}

/** Makes datasets of one import, which are mounted in a folder that only the daemon enters. */
export class ImportDatasets {
  readonly #zfs: ZfsCommands;
  readonly #parent: string;
  readonly #root: string;
  /** Where they are mounted, as zfs is told, and as this host sees it. */
  readonly #folder: string;
  readonly #shownFolder: string;
  readonly #id: string;

  private constructor(zfs: ZfsCommands, id: string, pool: string, folder: string, altroot: string) {
    this.#zfs = zfs;
    this.#id = id;
    this.#parent = `${pool}/${PARENT}`;
    this.#root = `${this.#parent}/${id}`;
    this.#folder = `${folder}/imports/${id}`;
    this.#shownFolder = altroot + this.#folder;
  }

  /** @param folder the daemon's own */
  static async in(pool: string, id: string, folder: string, zfs: ZfsCommands): Promise<ImportDatasets> {
    const altroot = (await zfs.altroots([pool])).get(pool) ?? '';
    return new ImportDatasets(zfs, id, pool, folder, altroot);
  }

  /** What all others of this import lie in. */
  async begin(): Promise<void> {
    await this.#makeParent();
    const create = () => this.#create(this.#root, [...NOWHERE, `${MARK}=${this.#id}`]);
    await create().catch(async (error) => {
      // The parent went with the last import that was in it, just now.
      if (await this.#isThere(this.#parent)) throw error;
      await this.#makeParent();
      await create();
    });
    await mkdir(this.#shownFolder, { recursive: true, mode: 0o700 });
  }

  async #makeParent(): Promise<void> {
    const parent = this.#parent;
    const there = (await this.#zfs.properties([parent], [MARK])).get(parent);
    if (there === undefined) await this.#create(parent, [...NOWHERE, 'croft:managed=no', `${MARK}=${ALL}`]);
    else if (there.get(MARK)?.value !== ALL || there.get(MARK)?.source !== 'local')
      throw storageRefused('nothing was imported', `${parent} is there and was made by somebody else`);
  }

  /** One that is mounted. @returns where */
  async make(name: string): Promise<string> {
    const dataset = `${this.#root}/${name}`;
    const properties = [`mountpoint=${this.#folder}/${name}`, 'canmount=noauto', `${MARK}=${this.#id}`];
    await this.#create(dataset, properties);
    if (!(await this.#zfs.isMounted(dataset))) {
      const ran = await this.#zfs.zfs('mount', dataset);
      if (!(await this.#zfs.isMounted(dataset))) throw refusal(`${dataset} was not mounted`, ran);
    }
    return `${this.#shownFolder}/${name}`;
  }

  /** Is mounted no longer, and nowhere from now on. @returns its name */
  async close(name: string): Promise<string> {
    const dataset = `${this.#root}/${name}`;
    const ran = await this.#zfs.zfs('unmount', dataset);
    if (await this.#zfs.isMounted(dataset)) throw refusal(`${dataset} was not unmounted`, ran);
    await this.#zfs.set(dataset, 'mountpoint', 'none');
    await this.#zfs.set(dataset, 'canmount', 'off');
    return dataset;
  }

  async destroy(name: string): Promise<void> {
    await destroyDataset(await this.close(name), this.#zfs);
  }

  async #create(name: string, properties: readonly string[]): Promise<void> {
    const ran = await this.#zfs.zfs('create', ...properties.flatMap((each) => ['-o', each]), name);
    // `created, but not mounted` is no success for zfs.
    if (!(await this.#isThere(name)) || (!ran.ok && !/but not mounted/.test(ran.stderr)))
      throw refusal(`${name} was not made`, ran);
  }

  async #isThere(name: string): Promise<boolean> {
    return (await this.#zfs.properties([name], ['type'])).size > 0;
  }

  /** The folders in which they were mounted. What is still mounted there stays. */
  async removeFolders(): Promise<void> {
    const names = await readdir(this.#shownFolder).catch(() => []);
    for (const name of names) await rmdir(`${this.#shownFolder}/${name}`).catch(() => {});
    await rmdir(this.#shownFolder).catch(() => {});
  }
}

/**
 * Destroys the datasets of an import, without what somebody made below or of them: then it says so.
 * @param systems all that lies in the pools
 */
export async function destroyImport(
  id: string,
  systems: readonly FileSystem[],
  folder: string,
  zfs: ZfsCommands,
): Promise<void> {
  const its = systems.filter((system) => importOf(system) === id);
  if (its.length === 0) return;
  await destroyDeepestFirst(its, systems, zfs);
  for (const pool of new Set(its.map(({ name }) => poolOf(name))))
    await (await ImportDatasets.in(pool, id, folder, zfs)).removeFolders();
}

/** Destroys the datasets of imports whose snapshots are gone. @param busy ids of those that come in @returns how many */
export async function collectImports(
  systems: readonly FileSystem[],
  busy: ReadonlySet<string>,
  zfs: ZfsCommands,
): Promise<number> {
  const ours = systems.filter((system) => {
    const id = importOf(system);
    return id !== undefined && !busy.has(id);
  });
  const names = ours.map(({ name }) => name);
  const used = new Set((await zfs.snapshotsOf(names)).map(datasetOf));
  const idle = ours.filter(
    ({ name, isMounted }) => !isMounted && ![...used].some((each) => `${each}/`.startsWith(`${name}/`)),
  );
  await destroyDeepestFirst(idle, systems, zfs);
  return idle.length;
}

async function destroyDeepestFirst(
  some: readonly FileSystem[],
  systems: readonly FileSystem[],
  zfs: ZfsCommands,
): Promise<void> {
  const names = some.map(({ name }) => name).sort((a, b) => (a < b ? 1 : -1));
  for (const name of names) await destroyDataset(name, zfs);
  await destroyEmptyParents(
    systems.filter(({ name }) => !names.includes(name)),
    zfs,
  );
}

/** Also what is left when the daemon was killed before anything was in it. Whoever made a snapshot of it needs it. */
export async function destroyEmptyParents(systems: readonly FileSystem[], zfs: ZfsCommands): Promise<void> {
  const parents = systems.filter(({ name, marks }) => {
    const isOurs = name === `${poolOf(name)}/${PARENT}` && marks.get(MARK) === ALL;
    return isOurs && !systems.some((other) => other.name.startsWith(`${name}/`));
  });
  for (const { name } of parents) await zfs.zfs('destroy', name);
}

async function destroyDataset(name: string, zfs: ZfsCommands): Promise<void> {
  const ran = await zfs.zfs('destroy', name);
  if ((await zfs.properties([name], ['type'])).size > 0)
    throw storageRefused(`${name} was not removed`, ran.why);
}
