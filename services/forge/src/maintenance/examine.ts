import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Context } from '../context.ts';
import { listRefs, readHead } from '../outside/git/copy.ts';
import { isLock, listLeftovers } from '../outside/git/leftovers.ts';
import { checkObjects } from '../outside/git/upkeep.ts';
import * as examination from '../store/upkeep/examination.ts';

/** Something that is not as it should be, and what to do about it. */
export interface Finding {
  /** `owner/name`, or nothing for what belongs to none. */
  repository: string;
  problem: string;
  remedy: string;
}

/** What a push or merge writes first is a file or folder of this name; older than this, nobody writes it any more. */
const ABANDONED_MS = 24 * 60 * 60_000;
const LOCK_MS = 10 * 60_000;
// A push brings what was lost back to none: git's clients do not send what the server says it has, and a row without its folder
// takes no push at all.
const RESTORE =
  'put its folder of a backup, repositories/<id>.git, in place of this one while Croft does not run, or restore the backup into another schema and data folder and clone from there; without a backup remove the repository, with its issues (DELETE /api/v1/repos/{owner}/{repo}), and push a clone that is whole to a new one';
const START = 'start Croft: a start settles this';

/**
 * Holds the database against the disk, and lets git read every repository. Nothing is changed, and a Croft that runs
 * meanwhile is not disturbed.
 * @param depth whether git reads every object or only follows the connections
 * @param tell is called for each finding as it comes
 */
export async function examine(
  context: Pick<Context, 'database' | 'git'>,
  depth: 'everything' | 'connections',
  tell: (finding: Finding) => void,
): Promise<{ repositories: number }> {
  const tx = context.database.autocommit();
  // The folders first: one that comes later belongs to a repository that was made meanwhile.
  const folders = new Set(await readdir(context.git.folder));
  const rows = await examination.listRepositories(tx);
  for (const name of folders) {
    const id = Number(/^(\d+)\.(?:git|making)$/.exec(name)?.[1] ?? 0);
    if (!rows.some((row) => row.id === id)) {
      tell({
        repository: '',
        problem: `the folder ${join(context.git.folder, name)} belongs to no repository`,
        remedy: 'look at it, and remove it when nobody misses it',
      });
    }
  }
  for (const finding of await examination.listWrongCounts(tx)) {
    const { repository, counter, kept, counted } = finding;
    const problem = `${counter} is ${kept}, and there are ${counted}`;
    tell({ repository, problem, remedy: 'report this: it should not happen' });
  }
  for (const row of rows) {
    const repository = `${row.owner}/${row.name}`;
    const found = (problem: string, remedy: string) => tell({ repository, problem, remedy });
    if (row.state !== 'ready') {
      found(`its ${row.state === 'making' ? 'creation' : 'removal'} was not finished`, START);
    } else if (!folders.has(`${row.id}.git`)) {
      found(`its folder ${row.id}.git is missing`, RESTORE);
    } else {
      await examineOne(context, row, depth, found);
    }
  }
  return { repositories: rows.length };
}

async function examineOne(
  context: Pick<Context, 'database' | 'git'>,
  row: examination.ExaminedRepository,
  depth: 'everything' | 'connections',
  found: (problem: string, remedy: string) => void,
): Promise<void> {
  const { git, database } = context;
  try {
    for (const line of await checkObjects(git, row.id, depth)) found(`git fsck: ${line}`, RESTORE);
    const refs = new Map((await listRefs(git, row.id, ['refs'])).map(({ ref, id }) => [ref, id]));
    const head = await readHead(git, row.id);
    if (head !== `refs/heads/${row.default_branch}`)
      found(`HEAD is ${head}, and the default branch ${row.default_branch}`, 'set the default branch again');
    const branches = [...refs.keys()].filter((ref) => ref.startsWith('refs/heads/')).length;
    if (row.empty && branches > 0) found('it counts as empty, and has branches', START);
    else if (row.branches !== null && row.branches !== branches)
      found(`it counts ${row.branches} branches, and has ${branches}`, 'add a branch, or remove one');
    for (const pull of await examination.listPulls(database.autocommit(), row.id)) {
      const kept = refs.get(`refs/pull/${pull.number}/head`);
      if (kept === undefined && pull.written_sha !== null)
        found(`the ref of pull request ${pull.number} is missing`, RESTORE);
      else if (kept !== pull.head_sha && pull.written_sha === pull.head_sha)
        found(`the ref of pull request ${pull.number} is not where the database has it`, START);
    }
    for (const tag of await examination.listReleasedTags(database.autocommit(), row.id))
      if (!refs.has(`refs/tags/${tag}`))
        found(
          `the tag of release ${tag} is missing`,
          'push the tag, or edit the release, which makes it anew',
        );
    for (const name of await leftovers(git.folderOf(row.id))) {
      found(`${name} was left behind`, START);
    }
  } catch (error) {
    found(`it cannot be read: ${error instanceof Error ? error.message : String(error)}`, RESTORE);
  }
}

/** Locks and half-written files of programs that were cut down. */
async function leftovers(folder: string): Promise<string[]> {
  const isOld = ({ name, madeAt }: { name: string; madeAt: number }) =>
    Date.now() - madeAt > (isLock(name) ? LOCK_MS : ABANDONED_MS);
  return (await listLeftovers(folder)).filter(isOld).map(({ name }) => name);
}
