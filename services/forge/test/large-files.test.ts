import { readdir, readFile } from 'node:fs/promises';
import { git } from '@croft/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { commit, type Person, pushBranch, pushedRepository, useForge } from './forge.ts';
import { scriptedGit } from './scripted-git.ts';

/* Files that are small in a push and large in the memory of whoever compares, merges or packs them. */
const MB = 1024 * 1024;
const isLinux = process.platform === 'linux';
/** Each git says how much memory it may have, in kilobytes, and what it does. */
const program = await scriptedGit((folder) => `echo "$(ulimit -S -d) $*" >> ${folder}/limits`);
afterAll(() => program[Symbol.asyncDispose]());

const scene = useForge({ environment: { FORGE_GIT_COMMAND: program.command } });
let ada: Person;
let tree: string;
beforeAll(async () => {
  ada = scene.person('ada');
  tree = await pushedRepository(ada, 'large', scene.folder);
  await git(tree, 'config', 'core.compression', '9');
});

/** Line breaks, with something between them. */
const breaks = (count: number, what = '') => `${'\n'.repeat(count / 2)}${what}${'\n'.repeat(count / 2)}`;

/** What the git process of our repositories that takes most takes while something happens, in megabytes. */
async function most<T>(work: () => Promise<T>): Promise<{ megabytes: number; result: T }> {
  let megabytes = 0;
  const look = async (pid: string) => {
    const of = (file: string) => readFile(`/proc/${pid}/${file}`, 'utf8').catch(() => '');
    if (!(await of('cmdline')).includes(scene.dataFolder)) return;
    const resident = Number(/VmRSS:\s+(\d+)/.exec(await of('status'))?.[1] ?? 0) / 1024;
    megabytes = Math.max(megabytes, resident);
  };
  const watch = setInterval(async () => {
    const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
    await Promise.all(pids.map(look));
  }, 50);
  try {
    return { result: await work(), megabytes };
  } finally {
    clearInterval(watch);
  }
}

async function open(branch: string): Promise<number> {
  const made = await ada.call('POST', '/repos/ada/large/pulls', {
    title: branch,
    head: branch,
    base: 'main',
  });
  return made.body.number;
}

it.skipIf(!isLinux)(
  'one of many lines is compared as a binary one',
  async () => {
    const id = await pushBranch(tree, 'lines', { lines: breaks(24 * MB), small: 'x\n' });
    const number = await open('lines');
    const paths = [`git/commits/${id}.diff`, `pulls/${number}.diff`, 'compare/main...lines?output=diff'];
    for (const path of paths) {
      const { megabytes, result } = await most(() => ada.call('GET', `/repos/ada/large/${path}`));
      expect(result.status, path).toBe(200);
      expect(result.text, path).toContain('\nBinary files /dev/null and b/lines differ\n');
      expect(result.text, path).toContain('\n+x\n');
      expect(megabytes, path).toBeLessThan(200);
    }
    const { megabytes, result } = await most(() => ada.call('GET', `/repos/ada/large/pulls/${number}`));
    expect(result.body).toMatchObject({ changed_files: 2, additions: 1 });
    expect(megabytes).toBeLessThan(200);
    const patch = await ada.call('GET', `/repos/ada/large/pulls/${number}.patch`);
    expect(patch.text).toContain('GIT binary patch');
  },
  60_000,
);

it.skipIf(!isLinux).each([
  ['in a conversation', 'one', {}],
  ['alone', 'other', { '.gitattributes': '*.x -text\n' }],
])(
  'one of many lines that both sides changed is in conflict, when merged %s',
  async (_how, file, others) => {
    await commit(tree, { ...others, [file]: breaks(8 * MB), 'lines.txt': `${file}\n2\n3\n4\n5\n` }, 'base');
    await pushBranch(tree, `topic-${file}`, {
      [file]: breaks(8 * MB, 'x\n'),
      'lines.txt': `${file}\n2\n3\n4\nx\n`,
    });
    await commit(tree, { [file]: `y\n${breaks(8 * MB)}`, 'lines.txt': `y\n2\n3\n4\n5\n` }, 'on main');
    await git(tree, 'push', '-q', 'origin', 'main');
    const number = await open(`topic-${file}`);
    const { megabytes, result } = await most(() => ada.call('GET', `/repos/ada/large/pulls/${number}`));
    expect(result.body).toMatchObject({ mergeable: false, conflicted_files: [file] });
    expect(megabytes).toBeLessThan(1100);
    const merge = await ada.call('POST', `/repos/ada/large/pulls/${number}/merge`, { Do: 'merge' });
    expect(merge.status).toBe(405);
    for (const style of ['merge', 'rebase']) {
      const update = await ada.call('POST', `/repos/ada/large/pulls/${number}/update?style=${style}`);
      expect(update.status, update.text).toBe(409);
    }
  },
  120_000,
);

it('one whose other changes do not meet is merged', async () => {
  await commit(tree, { large: breaks(8 * MB), 'lines.txt': '1\n2\n3\n4\n5\n' }, 'base');
  await pushBranch(tree, 'apart', { large: breaks(8 * MB, 'x\n'), 'lines.txt': '1\n2\n3\n4\nx\n' });
  await commit(tree, { 'lines.txt': 'y\n2\n3\n4\n5\n' }, 'on main');
  await git(tree, 'push', '-q', 'origin', 'main');
  const number = await open('apart');
  const merge = await ada.call('POST', `/repos/ada/large/pulls/${number}/merge`, { Do: 'merge' });
  expect(merge.status, merge.text).toBe(200);
  expect((await ada.call('GET', '/repos/ada/large/raw/lines.txt')).text).toBe('y\n2\n3\n4\nx\n');
  await git(tree, 'pull', '-q', 'origin', 'main');
});

it.skipIf(!isLinux)(
  'an archive in which words stand for gigabytes is none',
  async () => {
    const files = { '.gitattributes': 'f export-subst\n', f: '$Format:%B$'.repeat(24_000) };
    await git(tree, 'checkout', '-q', '-b', 'words');
    await commit(tree, files, 'm'.repeat(100_000));
    await git(tree, 'push', '-q', 'origin', 'words');
    const { megabytes, result } = await most(() =>
      ada.call('GET', '/repos/ada/large/archive/words.zip').catch((error: Error) => error.message),
    );
    expect(result).toBe('terminated');
    expect(megabytes).toBeLessThan(1100);
  },
  60_000,
);

it.skipIf(!isLinux)('no git goes without a limit', async () => {
  const started = (await readFile(`${program.folder}/limits`, 'utf8')).trim().split('\n');
  const without = started.filter((line) => !/^(1048576|2097152) /.test(line));
  expect(without).toEqual([]);
  for (const command of ['receive-pack', 'upload-pack', 'cat-file', 'merge-tree', 'archive', 'diff-tree'])
    expect(started.filter((line) => line.includes(command))).not.toEqual([]);
});
