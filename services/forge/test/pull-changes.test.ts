import { chmod, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { git } from '@croft/testing';
import { beforeAll, expect, it } from 'vitest';
import { commit, lines, type Person, pushedRepository, useForge } from './forge.ts';

const scene = useForge();
let ada: Person;
let eve: Person;
let tree: string;
beforeAll(async () => {
  ada = scene.person('ada');
  eve = scene.person('eve');
  await eve.call('GET', '/user');
  tree = await pushedRepository(ada, 'work', scene.folder);
  const binary = Buffer.from(Array.from({ length: 3000 }, (_, index) => (index * 7) % 256));
  await commit(
    tree,
    { 'run.sh': 'echo\n', 'old.txt': lines(1, 60), 'a.bin': binary, 'gone.txt': 'x\n' },
    'ground',
  );
  await git(tree, 'push', '-q', 'origin', 'main');
});

/** Renames, binary files, modes, a link, no line break at the end, words that are not ASCII. */
async function change(branch: string): Promise<void> {
  await git(tree, 'checkout', '-q', '-B', branch, 'main');
  await git(tree, 'mv', 'old.txt', 'new.txt');
  await commit(tree, { 'new.txt': `${lines(1, 59)}end`, 'gone.txt': null }, 'renames\n\nWhy: ümläut\n');
  await chmod(join(tree, 'run.sh'), 0o755);
  await symlink('new.txt', join(tree, 'link'));
  await commit(tree, { 'a.bin': Buffer.from([9, 0, 9]), 'b.bin': Buffer.from([0, 255, 1]) }, 'binaries');
  await commit(tree, { 'naïve.txt': 'ça\r\nva\n' }, 'names');
}

const PATHS = ['.diff', '.diff?binary=true', '.patch'] as const;

/** Trees that a client gets from the texts on top of the base. */
async function rebuilt(texts: readonly string[], base: string): Promise<string[]> {
  const file = join(scene.folder, 'changes');
  const trees: string[] = [];
  for (const [text, ...args] of [
    [texts[1] ?? '', 'apply', '--index'],
    [texts[2] ?? '', 'am', '-q', '--keep-cr'],
  ] as const) {
    await git(tree, 'checkout', '-q', '-f', '--detach', base);
    await writeFile(file, text);
    await git(tree, ...args, file);
    trees.push(await git(tree, 'write-tree'));
  }
  await git(tree, 'checkout', '-q', '-f', 'main');
  return trees;
}

it.each(['merge', 'squash', 'rebase'])(
  'texts make the tree, and stay what they are after %s',
  async (style) => {
    const branch = `changes-${style}`;
    const base = await git(tree, 'rev-parse', 'main');
    await change(branch);
    const wanted = await git(tree, 'rev-parse', 'HEAD^{tree}');
    await git(tree, 'push', '-q', 'origin', branch);
    const at = '/repos/ada/work/pulls';
    const { number } = (await ada.call('POST', at, { head: branch, base: 'main', title: style })).body;
    const read = () =>
      Promise.all(PATHS.map(async (path) => (await ada.call('GET', `${at}/${number}${path}`)).text));
    const before = await read();
    expect(await rebuilt(before, base)).toEqual([wanted, wanted]);
    expect(before[2]).toContain('Subject: [PATCH 1/3] renames');

    await git(tree, 'checkout', '-q', '-f', 'main');
    await commit(tree, { [`${style}.txt`]: style }, 'meanwhile');
    await git(tree, 'push', '-q', 'origin', 'main');
    expect(await read()).toEqual(before);
    const merge = { Do: style, delete_branch_after_merge: true };
    expect((await ada.call('POST', `${at}/${number}/merge`, merge)).status).toBe(200);
    expect(await read()).toEqual(before);
    // Back to where the next one begins.
    await git(tree, 'push', '-q', '-f', 'origin', `${base}:main`);
    expect(await read()).toEqual(before);
    await git(tree, 'reset', '-q', '--hard', base);
  },
);

it('stay after the fork is gone, and after the base branch of a closed one', async () => {
  expect((await eve.call('POST', '/repos/ada/work/forks', { name: 'mine' })).status).toBe(202);
  await change('in-fork');
  await git(tree, 'push', '-q', eve.remote('eve/mine'), 'in-fork');
  await git(tree, 'push', '-q', 'origin', 'main:side');
  const at = '/repos/ada/work/pulls';
  const made = await eve.call('POST', at, { head: 'eve:in-fork', base: 'side', title: 'fork' });
  expect(made.status).toBe(201);
  const one = `${at}/${made.body.number}`;
  const read = () => Promise.all(PATHS.map(async (path) => (await ada.call('GET', `${one}${path}`)).text));
  const before = await read();
  expect(before[0]).toContain('rename from old.txt');
  expect((await eve.call('DELETE', '/repos/eve/mine')).status).toBe(204);
  expect(await read()).toEqual(before);
  expect((await ada.call('GET', one)).body).toMatchObject({
    head: { label: 'in-fork', ref: `refs/pull/${made.body.number}/head`, repo: null, repo_id: -1 },
    changed_files: 7,
  });
  await ada.call('PATCH', one, { state: 'closed' });
  await git(tree, 'push', '-q', 'origin', ':side');
  expect(await read()).toEqual(before);
});

it('are where `diff_url` and `patch_url` lead, for those who may read them', async () => {
  await eve.call('POST', '/user/repos', { name: 'hers', private: true, auto_init: true });
  const at = '/repos/eve/hers';
  await eve.call('POST', `${at}/contents/new.txt`, { content: 'bmV3Cg==', new_branch: 'more' });
  const { body: pull } = await eve.call('POST', `${at}/pulls`, { head: 'more', base: 'main', title: 'More' });
  await eve.call('POST', `${at}/issues`, { title: 'no pull request' });
  const fetched = async (url: string, person?: Person) => {
    const headers = person === undefined ? {} : { authorization: `Bearer ${person.token}` };
    const answer = await fetch(url, { headers });
    return { status: answer.status, type: answer.headers.get('content-type'), text: await answer.text() };
  };
  const [diff, patch] = [String(pull['diff_url']), String(pull['patch_url'])];
  for (const [url, path] of [
    [diff, '.diff'],
    [`${diff}?binary=true`, '.diff?binary=true'],
    [patch, '.patch'],
  ] as const) {
    const { text } = await eve.call('GET', `${at}/pulls/${pull.number}${path}`);
    expect(text).toContain('+new');
    expect(await fetched(url, eve)).toEqual({ status: 200, type: 'text/plain; charset=utf-8', text });
    expect((await fetched(url, ada)).status).toBe(404);
    expect((await fetched(url)).status).toBe(401);
  }
  const issue = diff.replace(`/${pull.number}.`, `/${pull.number + 1}.`);
  expect((await fetched(issue, eve)).status).toBe(404);
  await eve.call('PATCH', at, { name: 'renamed' });
  expect((await fetched(diff, eve)).text).toContain('+new');
});
