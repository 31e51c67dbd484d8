import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { silentLog } from '@croft/runtime';
import { Git } from '../services/forge/src/outside/git/git.ts';
import { beginMerge, readAhead } from '../services/forge/src/outside/git/merging/merge.ts';
import { writeRebase } from '../services/forge/src/outside/git/merging/rebase.ts';
import { commitObject } from '../services/forge/src/outside/git/objects.ts';
import { branchRef, moveRefs, readRef, readRefs } from '../services/forge/src/outside/git/refs.ts';
import { makeRepository } from '../services/forge/src/outside/git/repository.ts';
import { type Figure, median } from './figure.ts';

const run = promisify(execFile);
const REPOSITORY = 1;
const FILES_PER_FOLDER = 100;
const OURS_PER_ROUND = 5;
const ENVIRONMENT = {
  PATH: process.env['PATH'] ?? '',
  HOME: '/nonexistent',
  LC_ALL: 'C',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_AUTHOR_NAME: 'Bench',
  GIT_AUTHOR_EMAIL: 'bench@example.test',
  GIT_COMMITTER_NAME: 'Bench',
  GIT_COMMITTER_EMAIL: 'bench@example.test',
};
/** Both sides have objects and refs on the disk before they say that they are done. */
const DURABLE = ['-c', 'core.fsync=all'];

/**
 * Merging a branch into a bare repository: the forge's way against that of Gitea, which makes a temporary repository that shares
 * the objects, fetches both branches, merges in a sparse work tree and pushes; its steps are those of plain git, one process
 * each. Every merge has a branch of its own and moves the base, so nothing is ever in a cache of outcomes. Hooks, HTTP and the
 * database are left out on both sides.
 */
export async function* figures(): AsyncGenerator<Figure> {
  yield await compare({ files: 500, rounds: 9, goal: 50 });
  const large = await compare({ files: 50_000, rounds: 3, goal: 300 });
  yield large;
  yield within(`merge into ${(50_000).toLocaleString('en')} files, fsync on`, large.ours, 2);
  yield await rebase();
}

function within(figure: string, ours: number, limitMs: number): Figure {
  return { bench: 'merge', figure, ratio: limitMs / ours, ours, theirs: limitMs, unit: 'ms', limit: '≥ 1' };
}

const REBASED = 20;

/** Branches of twenty commits on a base that has moved on. */
async function rebase(): Promise<Figure> {
  return await inRepository(async (git) => {
    const rounds = 11;
    await build(git, 500, rounds + 1, REBASED);
    const signature = { name: 'Bench', email: 'bench@example.test', at: new Date() };
    const times: number[] = [];
    await mergeHere(git, `b${rounds}`, await headOf(git, `b${rounds}`));
    for (let round = 0; round < rounds; round++) {
      const [onto = '', head = ''] = await readRefs(git, REPOSITORY, [
        branchRef('main'),
        branchRef(`b${round}`),
      ]);
      times.push(
        await timed(async () => {
          const done = await writeRebase(git, REPOSITORY, { onto, head, committer: signature });
          if (done.conflict !== undefined) throw new Error(`b${round} does not fit`);
        }),
      );
    }
    return within(`rebase of ${REBASED} commits in 500 files, fsync on`, median(times.slice(1)), 60);
  });
}

async function inRepository(work: (git: Git, folder: string) => Promise<Figure>): Promise<Figure> {
  const folder = await mkdtemp(join(tmpdir(), 'croft-bench-merge-'));
  const git = await Git.open({
    folder,
    command: 'git',
    searchPath: ENVIRONMENT.PATH,
    warmProcesses: 8,
    log: silentLog,
  });
  try {
    return await work(git, folder);
  } finally {
    await git.close();
    await rm(folder, { recursive: true, force: true });
  }
}

async function compare(size: { files: number; rounds: number; goal: number }): Promise<Figure> {
  return await inRepository(async (git, folder) => {
    await build(git, size.files, size.rounds * (OURS_PER_ROUND + 1) + 1);
    let branch = 0;
    const next = () => `b${branch++}`;
    // The first starts the processes that later ones find at hand.
    const first = next();
    await mergeHere(git, first, await headOf(git, first));
    await settle();
    const ours: number[] = [];
    const theirs: number[] = [];
    // One way after the other: for each new file ext4 looks through what was deleted in the last minutes, as a temporary
    // repository is after each merge, and ours leave nothing to delete.
    for (let turn = 0; turn < OURS_PER_ROUND * size.rounds; turn++) {
      const name = next();
      const pushed = await headOf(git, name);
      ours.push(await timed(() => mergeHere(git, name, pushed)));
    }
    await settle();
    for (let round = 0; round < size.rounds; round++) {
      const name = next();
      theirs.push(await timed(() => mergeElsewhere(git.folderOf(REPOSITORY), join(folder, 'work'), name)));
    }
    return {
      bench: 'merge',
      figure: `merge into ${size.files.toLocaleString('en')} files, fsync on, against a temporary repository`,
      ratio: median(theirs) / median(ours),
      ours: median(ours),
      theirs: median(theirs),
      unit: 'ms',
      limit: `≥ ${size.goal}`,
    };
  });
}

async function headOf(git: Git, branch: string): Promise<string> {
  const id = await readRef(git, REPOSITORY, branchRef(branch));
  if (id === undefined) throw new Error(`no branch ${branch}`);
  return id;
}

/** What mergePull does in the repository; where the head was at the last push it knows from the row. */
async function mergeHere(git: Git, branch: string, pushed: string): Promise<void> {
  const [[base, head]] = await Promise.all([
    readRefs(git, REPOSITORY, [branchRef('main'), branchRef(branch)]),
    readAhead(git, REPOSITORY, pushed),
  ]);
  if (base === undefined || head === undefined) throw new Error(`no branch ${branch}`);
  const signature = { name: 'Bench', email: 'bench@example.test', at: new Date() };
  const parents = [base, head];
  const { made } = await beginMerge(git, REPOSITORY, { ours: base, theirs: head }, (tree) =>
    commitObject({ tree, parents, author: signature, committer: signature, message: branch }),
  );
  if (made === undefined) throw new Error(`${branch}: conflicts`);
  const move = { ref: branchRef('main'), new: made.id, old: base };
  const moved = await moveRefs(git, REPOSITORY, [move], { written: made.written });
  if (moved !== 'done') throw new Error(`${branch}: the base moved`);
}

/** Neither side waits for what the other, or the making of the repository, left for the disk to write. */
async function settle(): Promise<void> {
  await run('sync', { env: ENVIRONMENT });
}

/** About twenty processes; no work tree but for the files that the branch changes. */
async function mergeElsewhere(bare: string, work: string, branch: string): Promise<void> {
  const git = async (...args: string[]) => {
    const { stdout } = await run('git', [...DURABLE, ...args], { env: ENVIRONMENT });
    return stdout.trim();
  };
  const there = (...args: string[]) => git('-C', work, ...args);
  await git('init', '-q', work);
  await writeFile(join(work, '.git/objects/info/alternates'), `${join(bare, 'objects')}\n`);
  await there('remote', 'add', '-t', 'main', '-m', 'main', 'origin', bare);
  await there('fetch', '-q', '--no-tags', 'origin', 'main:base', 'main:original');
  await there('symbolic-ref', 'HEAD', branchRef('base'));
  await there('remote', 'add', 'head', bare);
  await there('fetch', '-q', '--no-tags', 'head', `${branch}:tracking`);
  const changed = await there(
    'diff-tree',
    '--no-commit-id',
    '--name-only',
    '-r',
    '--root',
    'base',
    'tracking',
  );
  await mkdir(join(work, '.git/info'), { recursive: true });
  await writeFile(join(work, '.git/info/sparse-checkout'), changed.replace(/^/gm, '/'));
  for (const [name, value] of FILTERS) await there('config', '--local', name, value);
  await there('read-tree', 'HEAD');
  await there('merge', '-q', '--no-ff', '--no-commit', 'tracking');
  await there('commit', '-q', '--no-gpg-sign', '-m', branch);
  for (const name of ['HEAD', 'original', 'tracking']) await there('rev-parse', name);
  await there('push', '-q', 'origin', 'base:refs/heads/main');
  await rm(work, { recursive: true });
}

const FILTERS = [
  ['filter.lfs.process', ''],
  ['filter.lfs.required', 'false'],
  ['filter.lfs.clean', ''],
  ['filter.lfs.smudge', ''],
  ['core.sparseCheckout', 'true'],
] as const;

/** A history of one commit with many files, and branches whose commits change one file each. */
async function build(git: Git, files: number, branches: number, commits = 1): Promise<void> {
  await makeRepository(git, REPOSITORY, 'main');
  const load = spawn('git', ['--git-dir', git.folderOf(REPOSITORY), 'fast-import', '--quiet'], {
    env: ENVIRONMENT,
    stdio: ['pipe', 'ignore', 'inherit'],
  });
  const path = (index: number) => `folder-${Math.floor(index / FILES_PER_FOLDER)}/file-${index}.txt`;
  const data = (text: string) => `data ${Buffer.byteLength(text)}\n${text}\n`;
  const head = (ref: string) =>
    `commit ${branchRef(ref)}\ncommitter Bench <bench@example.test> 1700000000 +0000\n${data(ref)}`;
  const script = [head('main')];
  for (let index = 0; index < files; index++)
    script.push(`M 100644 inline ${path(index)}\n${data(`file ${index}\n`)}`);
  for (let index = 0; index < branches; index++) {
    const first = Math.floor((index * files) / branches);
    for (let turn = 0; turn < commits; turn++) {
      const from = turn === 0 ? 'from refs/heads/main\n' : '';
      const changed = path((first + turn) % files);
      script.push(
        `${head(`b${index}`)}${from}M 100644 inline ${changed}\n${data(`changed by ${index}, ${turn}\n`)}`,
      );
    }
  }
  load.stdin.end(script.join(''));
  const [code] = (await once(load, 'exit')) as [number];
  if (code !== 0) throw new Error(`git fast-import ended with ${code}`);
}

async function timed(work: () => Promise<void>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}
