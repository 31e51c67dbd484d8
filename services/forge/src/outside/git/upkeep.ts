import { buffer } from 'node:stream/consumers';
import { assertOutsideTransaction } from '@croft/runtime';
import type { RunningProgram } from './broker.ts';
import { gitOptions } from './environment.ts';
import type { Git } from './git.ts';

/** What the objects of a repository take, and in how many pieces they lie. */
export interface Storage {
  bytes: number;
  looseObjects: number;
  packs: number;
}

/** Looks at what a repository takes on the disk; files that forks share are counted for each of them. */
export async function measureStorage(git: Git, repositoryId: number): Promise<Storage> {
  const counted = (await git.output(repositoryId, ['count-objects', '-v'])).toString();
  const of = (name: string) => Number(new RegExp(`^${name}: (\\d+)$`, 'm').exec(counted)?.[1] ?? 0);
  const kibibytes = of('size') + of('size-pack') + of('size-garbage');
  return { bytes: kibibytes * 1024, looseObjects: of('count'), packs: of('packs') };
}

/**
 * Things that make a repository quick again and take nothing from it: refs into one file, loose objects into packs,
 * packs into larger ones where there are several, the graph of commits. None drops an object that no ref reaches: such a one may be the
 * commit of a merge whose branch is about to move.
 */
const TASKS = ['pack-refs', 'loose-objects', 'commit-graph'];
/** Fails where there is nothing to put together. */
const REPACK = 'incremental-repack';

/** What keeps it from taking the machine from those who work with it. */
const MODESTY = [
  ['pack.threads', '1'],
  ['pack.windowMemory', '64m'],
  // git's own: versions of a large file take little room as differences, and few of them are in memory at once.
  ['core.bigFileThreshold', '512m'],
  ['core.multiPackIndex', 'true'],
] as const;

/** Starts to tidy up in a repository, behind everything else that wants the processor. */
export async function startUpkeep(
  git: Git,
  repositoryId: number,
  { packs }: Storage,
): Promise<RunningProgram> {
  const tasks = packs > 1 ? [...TASKS, REPACK] : TASKS;
  return await git.startBehind([
    ...gitOptions(git.folderOf(repositoryId), MODESTY),
    'maintenance',
    'run',
    '--quiet',
    ...tasks.map((task) => `--task=${task}`),
  ]);
}

/**
 * Reads every object of a repository and follows every ref.
 * @returns what git finds wrong; nothing when all is well
 */
export async function checkObjects(
  git: Git,
  repositoryId: number,
  depth: 'everything' | 'connections',
): Promise<string[]> {
  assertOutsideTransaction('git fsck');
  const flags = ['--no-dangling', '--no-progress', depth === 'everything' ? '--full' : '--connectivity-only'];
  return await runCheck(await git.startBehind([...gitOptions(git.folderOf(repositoryId)), 'fsck', ...flags]));
}

/** The same for a copy in a folder of its own: whether everything its refs reach is there. */
export async function checkCopy(git: Git, folder: string): Promise<string[]> {
  assertOutsideTransaction('git fsck');
  const flags = ['--no-dangling', '--no-progress', '--connectivity-only'];
  return await runCheck(await git.startBehind([...gitOptions(folder), 'fsck', ...flags]));
}

async function runCheck(program: RunningProgram): Promise<string[]> {
  const [printed, { code, stderr }] = await Promise.all([buffer(program.stdout), program.exited]);
  if (code === 0) return [];
  const lines = `${printed.toString()}\n${stderr}`.split('\n').filter((line) => line.trim() !== '');
  return lines.length > 0 ? lines : [`git fsck ended with ${code}`];
}
