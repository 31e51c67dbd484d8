import { constants } from 'node:fs';
import { copyFile, link, mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { assertOutsideTransaction } from '@croft/runtime';
import { unlessMissing } from '../unless-missing.ts';
import type { Git } from './git.ts';
import { sync } from './repository.ts';

/** Files handled at once. */
const AT_ONCE = 32;
/** Packs may be replaced while they are read; more often than this in a row they are not. */
const TRIES = 20;

/** A ref and the object it names. */
export interface RefValue {
  ref: string;
  id: string;
}

/** All refs below some prefixes, such as `refs/heads`, as one moment has them. */
export async function listRefs(
  git: Git,
  repositoryId: number,
  prefixes: readonly string[],
): Promise<RefValue[]> {
  const format = '--format=%(objectname) %(refname)';
  return (await git.output(repositoryId, ['for-each-ref', format, ...prefixes]))
    .toString()
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => ({ id: line.slice(0, 40), ref: line.slice(41) }));
}

/**
 * Gives a folder of objects everything another one has: as second names of the same files, which git never changes, or
 * as copies where the disk cannot do that. Neither folder depends on the other afterwards; a file stays as long as one
 * of its names does.
 *
 * It may happen while objects are added or packed together, because nothing of ours drops an object before a pack that
 * has it, too, is complete: what is gone when its turn comes is in a pack that is looked for later.
 */
export async function shareObjects(from: string, to: string, how: 'link' | 'copy'): Promise<void> {
  assertOutsideTransaction('copying git objects');
  for (const prefix of (await readdir(from)).filter((name) => /^[0-9a-f]{2}$/.test(name))) {
    const names = await readdir(join(from, prefix)).catch(unlessMissing<string[]>([]));
    await shareAll(
      names.filter((name) => /^[0-9a-f]{38}$/.test(name)),
      join(from, prefix),
      join(to, prefix),
      how,
    );
  }
  for (let tries = 1; ; tries++) {
    const packs = (await readdir(join(from, 'pack')).catch(unlessMissing<string[]>([]))).filter((name) =>
      /^[a-z]+-[0-9a-f]{40}\.(pack|idx|rev)$/.test(name),
    );
    // An index without its pack, or the other way round, belongs to a pack that comes or goes.
    const whole = packs.filter((name) =>
      ['pack', 'idx'].every((kind) => packs.includes(name.replace(/\.\w+$/, `.${kind}`))),
    );
    const missed = await shareAll(whole, join(from, 'pack'), join(to, 'pack'), how);
    if (missed === 0) return;
    if (tries === TRIES) throw new Error(`the packs of ${from} changed too often to be copied`);
  }
}

/** Puts everything below a tree into the objects of a repository nobody works with yet, and nothing else. */
export async function packTree(git: Git, repositoryId: number, tree: string, folder: string): Promise<void> {
  const packs = join(folder, 'objects', 'pack');
  const args = ['pack-objects', '--revs', '--quiet', join(packs, 'pack')];
  await git.output(repositoryId, args, `${tree}\n`);
  await sync(packs);
}

/** Writes refs to a repository nobody works with yet. */
export async function writePackedRefs(folder: string, refs: readonly RefValue[]): Promise<void> {
  if (refs.length === 0) return;
  const sorted = refs.toSorted((a, b) => Buffer.compare(Buffer.from(a.ref), Buffer.from(b.ref)));
  const lines = sorted.map(({ id, ref }) => `${id} ${ref}\n`);
  await writeFile(join(folder, 'packed-refs'), ['# pack-refs with: sorted \n', ...lines].join(''), {
    flush: true,
  });
}

/** Returns how many files were gone when their turn came. */
async function shareAll(
  names: readonly string[],
  from: string,
  to: string,
  how: 'link' | 'copy',
): Promise<number> {
  if (names.length === 0) return 0;
  await mkdir(to, { recursive: true });
  let missed = 0;
  for (let start = 0; start < names.length; start += AT_ONCE) {
    const results = await Promise.all(
      names.slice(start, start + AT_ONCE).map((name) => shareOne(join(from, name), join(to, name), how)),
    );
    missed += results.filter((done) => !done).length;
  }
  await sync(to);
  return missed;
}

async function shareOne(from: string, to: string, how: 'link' | 'copy'): Promise<boolean> {
  try {
    await (how === 'link' ? linkOrCopy(from, to) : copy(from, to));
    return true;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // An earlier pass had it.
    if (code === 'EEXIST') return true;
    if (code === 'ENOENT') return false;
    throw error;
  }
}

/** Some disks know no second names, and all have a limit of them. */
async function linkOrCopy(from: string, to: string): Promise<void> {
  try {
    await link(from, to);
  } catch (error) {
    if (!['EMLINK', 'EPERM', 'ENOTSUP', 'EXDEV'].includes((error as NodeJS.ErrnoException).code ?? ''))
      throw error;
    await copy(from, to);
  }
}

async function copy(from: string, to: string): Promise<void> {
  await copyFile(from, to, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
  await sync(to);
}

/** What HEAD names, as a full ref. */
export async function readHead(git: Git, repositoryId: number): Promise<string> {
  return (await git.output(repositoryId, ['symbolic-ref', 'HEAD'])).toString().trim();
}
