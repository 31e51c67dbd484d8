import { git } from '@croft/testing';
import { beforeAll, describe, expect, it } from 'vitest';
import { commit, lines, type Person, pushBranch, pushedRepository, type Reply, useForge } from './forge.ts';
import { rowsOf } from './rows-of.ts';

// Paths that somebody else reads as more than a name.

const scene = useForge();
const contents = '/repos/ada/work/contents';
const base64 = (text: string) => Buffer.from(text).toString('base64');
let ada: Person;
let tree: string;
let bare: string;
beforeAll(async () => {
  ada = scene.person('ada');
  tree = await pushedRepository(ada, 'work', scene.folder);
  bare = await scene.bare('ada', 'work');
});

const show = (path: string) => git(bare, 'show', `main:${path}`);
const shaOf = (path: string) => git(bare, 'rev-parse', `main:${path}`);

/** A refusal, of which nothing stays. */
async function refused(ask: () => Promise<Reply>, status: number, message: RegExp): Promise<void> {
  const state = async () => [
    await git(bare, 'show-ref'),
    await git(bare, 'count-objects', '-v'),
    await rowsOf(scene, 'pushes', 'repositories'),
  ];
  const before = await state();
  const reply = await ask();
  expect([reply.status, reply.body.message]).toEqual([status, expect.stringMatching(message)]);
  expect(await state()).toEqual(before);
}

describe('a file that becomes .gitmodules by moving', () => {
  const EVIL = '[submodule "x"]\n\tpath = x\n\turl = -u./payload\n';
  const HARMLESS = '[submodule "x"]\n\tpath = x\n\turl = https://example.test/x\n';
  const reason = /would make git run or overwrite/;

  it('is looked at as one that is written', async () => {
    await ada.call('POST', `${contents}/evil.txt`, { content: base64(EVIL) });
    const sha = await shaOf('evil.txt');
    for (const path of ['.gitmodules', '.GitModules', 'sub/.gitmodules']) {
      for (const operation of ['rename', 'update', 'upload']) {
        const files = [{ operation, path, from_path: 'evil.txt', sha }];
        await refused(() => ada.call('POST', contents, { files }), 422, reason);
      }
      const move = { from_path: 'evil.txt', sha };
      await refused(() => ada.call('PUT', `${contents}/${path}`, { ...move, content: '' }), 422, reason);
    }
  });

  it('also one that the same request makes', async () => {
    const files = [
      { operation: 'create', path: 'fresh.txt', content: base64(`${EVIL}# fresh\n`) },
      { operation: 'rename', path: '.gitmodules', from_path: 'fresh.txt' },
    ];
    await refused(() => ada.call('POST', contents, { files }), 422, reason);
  });

  it('is refused when it is too long to be looked at', async () => {
    const content = base64(`${HARMLESS}${'# long\n'.repeat(40_000)}`);
    await ada.call('POST', `${contents}/long.txt`, { content });
    const files = [{ operation: 'rename', path: '.gitmodules', from_path: 'long.txt' }];
    await refused(() => ada.call('POST', contents, { files }), 422, /too long to be looked at/);
  });

  it('moves when there is no harm in it, and so does a harmful one to another name', async () => {
    await ada.call('POST', `${contents}/modules.txt`, { content: base64(HARMLESS) });
    const files = [
      { operation: 'rename', path: '.gitmodules', from_path: 'modules.txt' },
      { operation: 'rename', path: 'evil.md', from_path: 'evil.txt' },
    ];
    expect((await ada.call('POST', contents, { files })).status).toBe(201);
    expect([`${await show('.gitmodules')}\n`, `${await show('evil.md')}\n`]).toEqual([HARMLESS, EVIL]);
  });
});

describe('names that begin with a hyphen, which git has and programs take for options', () => {
  const NAMES = ['-dash.txt', '--output=x', '-/-n', '--'];

  it.each(NAMES)('%s is made, shown, changed, moved and deleted', async (name) => {
    const path = `${contents}/${name}`;
    const made = await ada.call('POST', path, { content: base64('one\n'), message: `add ${name}` });
    expect(made.status, made.text).toBe(201);
    const added = await git(bare, 'rev-parse', 'main');
    const shown = (await ada.call('GET', path)).body;
    expect(shown).toMatchObject({ path: name, last_commit_sha: added, content: base64('one\n') });
    expect((await ada.call('GET', `/repos/ada/work/raw/${name}`)).text).toBe('one\n');
    const { items } = await ada.call('GET', `/repos/ada/work/commits?path=${name}`);
    expect(items.map((item) => item['sha'])).toEqual([added]);
    const archive = await ada.call('GET', `/repos/ada/work/archive/main.zip?path=${name}`);
    expect([archive.status, archive.text.includes(`work/${name}`)]).toEqual([200, true]);

    const sha = await shaOf(name);
    expect((await ada.call('PUT', path, { content: base64('two\n'), sha })).status).toBe(200);
    expect(await show(name)).toBe('two');
    const rename = { operation: 'rename', path: `moved/${name}`, from_path: name };
    expect((await ada.call('POST', contents, { files: [rename] })).status).toBe(201);
    const gone = { sha: await shaOf(`moved/${name}`) };
    expect((await ada.call('DELETE', `${contents}/moved/${name}`, gone)).status).toBe(200);
    expect(await git(bare, 'ls-tree', '-r', '--name-only', 'main')).not.toContain(name);
    expect(await git(bare, 'fsck', '--strict', '--no-dangling')).toBe('');
  });

  it('are deleted where a push brought them, and merged', async () => {
    await commit(tree, Object.fromEntries(NAMES.map((name) => [name, lines(1, 9)])), 'pushed');
    await git(tree, 'push', '-qf', 'origin', 'main');
    const change = (last: string) => Object.fromEntries(NAMES.map((name) => [name, `${lines(1, 8)}${last}`]));
    await pushBranch(tree, 'topic', change('topic\n'));
    await commit(tree, Object.fromEntries(NAMES.map((name) => [name, `first\n${lines(1, 9)}`])), 'base');
    await git(tree, 'push', '-q', 'origin', 'main');
    const { number } = (
      await ada.call('POST', '/repos/ada/work/pulls', { head: 'topic', base: 'main', title: 'Topic' })
    ).body;
    const { items } = await ada.call('GET', `/repos/ada/work/pulls/${number}/files`);
    expect(items.map((item) => item['filename']).sort()).toEqual([...NAMES].sort());
    const merged = await ada.call('POST', `/repos/ada/work/pulls/${number}/merge`, { Do: 'rebase' });
    expect(merged.status, merged.text).toBe(200);
    for (const name of NAMES) {
      expect(`${await show(name)}\n`).toBe(`first\n${lines(1, 8)}topic\n`);
      const sha = await shaOf(name);
      expect((await ada.call('DELETE', `${contents}/${name}`, { sha })).status).toBe(200);
    }
  });
});
