import { mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { assertOutsideTransaction } from '@croft/runtime';
import { gitOptions } from './environment.ts';
import type { Git } from './git.ts';

/**
 * Makes the folder of a repository; it has its final name only when it is complete.
 * @param fill puts into the unfinished folder what the repository has from the start
 */
export async function makeRepository(
  git: Git,
  repositoryId: number,
  defaultBranch: string,
  fill: (folder: string) => Promise<void> = async () => {},
): Promise<void> {
  const unfinished = unfinishedFolder(git, repositoryId);
  await rm(unfinished, { recursive: true, force: true });
  await mkdir(unfinished, { mode: 0o700 });
  const options = [
    '--quiet',
    '--bare',
    '--template=',
    '--object-format=sha1',
    `--initial-branch=${defaultBranch}`,
  ];
  const program = await git.start([...gitOptions(undefined), 'init', ...options, '--', unfinished], false);
  const [, { code, stderr }] = await Promise.all([buffer(program.stdout), program.exited]);
  if (code !== 0) throw new Error(`git init failed: ${stderr}`);
  await fill(unfinished);
  // git trusts its caller with these; an empty one after a power cut would be half a repository.
  for (const name of ['config', 'HEAD', 'objects', '.']) await sync(join(unfinished, name));
  await rename(unfinished, git.folderOf(repositoryId));
  await sync(git.folder);
}

/** Removes whatever there is of a repository's folder. */
export async function removeRepository(git: Git, repositoryId: number): Promise<void> {
  assertOutsideTransaction('removing a repository');
  git.forget(repositoryId);
  await rm(unfinishedFolder(git, repositoryId), { recursive: true, force: true });
  await rm(git.folderOf(repositoryId), { recursive: true, force: true, maxRetries: 3 });
}

function unfinishedFolder(git: Git, repositoryId: number): string {
  return join(git.folder, `${repositoryId}.making`);
}

/** What a file or folder holds is on the disk afterwards; a rename is when the folder with the name is. */
export async function sync(path: string): Promise<void> {
  const handle = await open(path, 'r');
  await handle.sync();
  await handle.close();
}

/** No git of ours holds a lock for longer than a moment; an older one is from a git that was cut down. */
const STALE_AFTER_MS = 10_000;

/**
 * At start: removes locks on refs that a power cut left: git itself would refuse to move those refs for ever.
 * @param ours the commit for which we had a lock ourselves, which nobody holds any more
 */
export async function removeStaleLocks(git: Git, repositoryId: number, ours?: string): Promise<void> {
  const folder = git.folderOf(repositoryId);
  const names = await readdir(join(folder, 'refs'), { recursive: true });
  const locks = [...names.map((name) => join('refs', name)), 'packed-refs.lock', 'HEAD.lock'];
  for (const lock of locks.filter((name) => name.endsWith('.lock'))) {
    const file = join(folder, lock);
    const made = await stat(file).catch(() => undefined);
    if (made === undefined) continue;
    const isOurs = ours !== undefined && (await readFile(file, 'latin1').catch(() => '')) === `${ours}\n`;
    if (isOurs || Date.now() - made.mtimeMs > STALE_AFTER_MS) await rm(file, { force: true });
  }
}
