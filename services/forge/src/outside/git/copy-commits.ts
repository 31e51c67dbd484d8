import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { assertOutsideTransaction } from '@croft/runtime';
import { objectsOf } from './environment.ts';
import { type Git, quarantined } from './git.ts';
import { sync } from './repository.ts';

/** A fork may be gigabytes ahead. */
const TIMEOUT_MS = 30 * 60_000;

/**
 * Gives a repository a commit of another one with everything below it, as far as none of its refs leads there already:
 * one pack, complete and on the disk before it has its name; of one that does not get so far nothing stays. Only the id of a
 * commit reaches git, which reads the other folder's objects for as long as this takes; no ref moves.
 */
export async function copyCommit(
  git: Git,
  { from, to }: { from: number; to: number },
  commit: string,
): Promise<void> {
  assertOutsideTransaction('copying commits');
  const packs = join(git.folderOf(to), 'objects', 'pack');
  const quarantine = git.quarantineFor(to, 'copies');
  const wanted = await wantedOf(git, to, commit);
  const args = ['pack-objects', '--revs', '--non-empty', '--quiet', join(packs, 'pack')];
  const environment = quarantined([git.folderOf(to), git.folderOf(from)], quarantine);
  await mkdir(quarantine);
  try {
    await git.output(to, args, wanted, environment, { timeoutMs: TIMEOUT_MS });
  } finally {
    await rm(quarantine, { recursive: true, force: true });
  }
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
