import { join } from 'node:path';
import { assertOutsideTransaction } from '@croft/runtime';
import { objectsOf } from './environment.ts';
import type { Git } from './git.ts';
import { sync } from './repository.ts';

/**
 * Gives a repository a commit of another one with everything below it, as far as none of its refs leads there already:
 * one pack, complete and on the disk before it has its name. Only the id of a commit reaches git, which reads the other
 * folder's objects for as long as this takes; no ref moves.
 */
export async function copyCommit(
  git: Git,
  { from, to }: { from: number; to: number },
  commit: string,
): Promise<void> {
  assertOutsideTransaction('copying commits');
  const packs = join(git.folderOf(to), 'objects', 'pack');
  const wanted = await wantedOf(git, to, commit);
  const args = ['pack-objects', '--revs', '--non-empty', '--quiet', join(packs, 'pack')];
  await git.output(to, args, wanted, objectsOf(git, from));
  await sync(packs);
}

/** How many bytes that takes, as the other repository has them on the disk. */
export async function measureCommit(
  git: Git,
  { from, to }: { from: number; to: number },
  commit: string,
): Promise<number> {
  const wanted = await wantedOf(git, to, commit);
  const args = ['rev-list', '--objects', '--disk-usage', '--stdin'];
  return Number(await git.output(to, args, wanted, objectsOf(git, from)));
}

/** A commit, and all that is there already, as revisions. */
async function wantedOf(git: Git, to: number, commit: string): Promise<Buffer> {
  const refs = await git.output(to, ['for-each-ref', '--format=^%(objectname)']);
  return Buffer.concat([Buffer.from(`${commit}\n`), refs]);
}
