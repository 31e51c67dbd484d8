import { git } from '@croft/testing';
import { beforeAll, describe, expect, it } from 'vitest';
import { type Person, pushedRepository, type Reply, useForge } from './forge.ts';
import { rowsOf } from './rows-of.ts';

// Paths that somebody else reads as more than a name.

const scene = useForge();
const contents = '/repos/ada/work/contents';
const base64 = (text: string) => Buffer.from(text).toString('base64');
let ada: Person;
let bare: string;
beforeAll(async () => {
  ada = scene.person('ada');
  await pushedRepository(ada, 'work', scene.folder);
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
