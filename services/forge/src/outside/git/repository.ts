import { access, mkdir, open, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { assertOutsideTransaction } from '@croft/runtime';
import { gitOptions } from './environment.ts';
import type { Git } from './git.ts';

/**
 * Makes the folder of a repository; it has its final name only when it is complete.
 * @param fill puts into the unfinished folder what the repository has from the start
 * @throws {FolderTaken} before anything is made
 */
export async function makeRepository(
  git: Git,
  repositoryId: number,
  defaultBranch: string,
  fill: (folder: string) => Promise<void> = async () => {},
): Promise<void> {
  const folder = git.folderOf(repositoryId);
  if (await isThere(folder)) throw new FolderTaken(folder);
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
  await rename(unfinished, folder);
  await sync(git.folder);
}

/** A new repository has the number of one whose folder is still there, as where the database was put back to an older state. */
export class FolderTaken extends Error {
  readonly folder: string;

  constructor(folder: string) {
    super(`${folder} is there already`);
    this.folder = folder;
  }
}

const isThere = (path: string) =>
  access(path).then(
    () => true,
    () => false,
  );

/** Removes whatever there is of a repository's folder. */
export async function removeRepository(git: Git, repositoryId: number): Promise<void> {
  assertOutsideTransaction('removing a repository');
  await git.forget(repositoryId);
  await rm(unfinishedFolder(git, repositoryId), { recursive: true, force: true });
  await rm(git.folderOf(repositoryId), { recursive: true, force: true, maxRetries: 3 });
}

function unfinishedFolder(git: Git, repositoryId: number): string {
  return join(git.folder, `${repositoryId}.making`);
}

/** What a file or folder holds is on the disk afterwards; a rename is when the folder with the name is. */
export async function sync(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
