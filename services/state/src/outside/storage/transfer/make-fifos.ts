import { randomUUID } from 'node:crypto';
import { mkdir, rename, rmdir } from 'node:fs/promises';
import { storageRefused } from '../../../failures.ts';
import type { Entry } from '../../../model/entry.ts';
import { pathBytes } from '../../../model/path-text.ts';
import { programsIn } from '../../programs.ts';
import { splitPath } from '../open-folder.ts';
import { readManifest } from '../vault/trees/manifest.ts';
import { applyFacts } from '../vault/trees/materialise.ts';

const run = programsIn('/usr/bin:/bin');
/** So many are made by one command. */
const BATCH = 500;

/**
 * Makes the fifos of a list in a tree that has all the rest of it and that nobody else can enter. Node has no call for it, and
 * programs take no names that are not text: they are made in a folder of their own and moved. Sockets and devices are not made:
 * the first mean nothing without who made them, the second would give a stranger's numbers of disks to whoever is their owner.
 */
export async function makeFifos(list: string, target: string): Promise<void> {
  const fifos: Entry[] = [];
  const folders = new Map<string, Entry>();
  for await (const entries of readManifest(list)) {
    for (const entry of entries) {
      if (entry.type === 'fifo') fifos.push(entry);
      if (entry.type === 'folder') folders.set(entry.path, entry);
    }
  }
  if (fifos.length === 0) return;
  const root = Buffer.from(target).toString('latin1');
  const placeOf = (path: string) => Buffer.from(path === '.' ? root : `${root}/${pathBytes(path)}`, 'latin1');
  const work = `${target}/${randomUUID()}`;
  await mkdir(work, { mode: 0o700 });
  for (let from = 0; from < fifos.length; from += BATCH) {
    const some = fifos.slice(from, from + BATCH);
    const made = some.map((_, at) => `${work}/${at}`);
    const { ok, why } = await run('mkfifo', ['-m', '600', '--', ...made]);
    if (!ok) throw storageRefused('nothing was imported', why);
    for (const [at, entry] of some.entries()) {
      await rename(made[at] as string, placeOf(entry.path));
      await applyFacts(placeOf(entry.path), entry);
    }
  }
  await rmdir(work);
  // What was put into a folder changed its time.
  const changed = new Set(['.', ...fifos.map(({ path }) => splitPath(path).parent)]);
  for (const folder of [...folders.values()].reverse())
    if (changed.has(folder.path)) await applyFacts(placeOf(folder.path), folder);
}
