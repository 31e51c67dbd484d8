import { randomBytes } from 'node:crypto';
import { mkdir, rmdir, stat } from 'node:fs/promises';
import { storageRefused } from '../../../../failures.ts';
import type { Entry } from '../../../../model/entry.ts';
import type { EntryTree } from '../../storage.ts';
import type { Shown } from '../../transfer/send-snapshots.ts';
import { walkedTree } from '../../walked-tree.ts';
import { type FileSystem, readFileSystems } from '../filesystem.ts';
import type { Layout } from '../layout.ts';
import { datasetOf, poolOf, type ZfsCommands } from '../zfs-commands.ts';

/** What a snapshot holds, as long as somebody reads it. */
export function viewOf(snapshot: string, layout: Layout, folder: string, zfs: ZfsCommands): EntryTree {
  let tree: EntryTree | undefined;
  return {
    async *entries(signal): AsyncGenerator<readonly Entry[]> {
      const view = await showSnapshot(snapshot, layout, folder, zfs);
      try {
        tree = walkedTree(Buffer.from(view.path).toString('latin1'));
        yield* tree.entries(signal);
      } finally {
        tree = undefined;
        await view.close();
      }
    },
    hash: async (entry, signal) => tree?.hash(entry, signal),
  };
}

/** Shows it until it is closed. A snapshot that is shown as a clone cannot be removed meanwhile. */
export async function showSnapshot(
  snapshot: string,
  { systems }: Layout,
  folder: string,
  zfs: ZfsCommands,
): Promise<Shown> {
  return (await shownByZfs(snapshot, systems)) ?? (await cloned(snapshot, folder, zfs));
}

/** OpenZFS shows the snapshots of what is mounted; zfs-fuse does not. */
async function shownByZfs(snapshot: string, systems: readonly FileSystem[]): Promise<Shown | undefined> {
  const system = systems.find(({ name }) => name === datasetOf(snapshot));
  if (!system?.isMounted) return undefined;
  const path = `${system.path}/.zfs/snapshot/${snapshot.slice(snapshot.indexOf('@') + 1)}`;
  const isThere = await stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
  return isThere ? { path, close: async () => {} } : undefined;
}

async function cloned(snapshot: string, folder: string, zfs: ZfsCommands): Promise<Shown> {
  const name = `croft_view_${randomBytes(6).toString('hex')}`;
  const [clone, at] = [`${poolOf(snapshot)}/${name}`, `${folder}/views/${name}`];
  await mkdir(`${folder}/views`, { recursive: true, mode: 0o700 });
  const properties = [`mountpoint=${at}`, 'canmount=on', 'readonly=on', 'croft:view=yes'];
  const ran = await zfs.zfs('clone', ...properties.flatMap((each) => ['-o', each]), snapshot, clone);
  const close = async () => {
    const { why } = await zfs.zfs('destroy', clone);
    if ((await zfs.properties([clone], ['guid'])).size > 0)
      throw storageRefused(`${clone} was not removed`, why);
    await rmdir(at).catch(() => {});
  };
  const found = (await readFileSystems(zfs)).find((system) => system.name === clone);
  if (found?.isMounted) return { path: found.path, close };
  if (found !== undefined) await close();
  throw storageRefused(`${snapshot} cannot be looked into`, ran.why);
}

/** Whether a dataset is one that shows a snapshot, by its name. */
export function isView(name: string): boolean {
  return /^[^/]+\/croft_view_[0-9a-f]{12}$/.test(name);
}

/** Removes what looking into snapshots left behind when the daemon was killed. */
export async function removeViews(systems: readonly FileSystem[], zfs: ZfsCommands): Promise<void> {
  const views = systems.map(({ name }) => name).filter(isView);
  const found = await zfs.properties(views, ['croft:view']);
  for (const [name, marks] of found) {
    if (marks.get('croft:view')?.source === 'local') await zfs.zfs('destroy', name);
  }
}
