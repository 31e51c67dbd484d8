import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { git } from '@croft/testing';
import { beforeAll, describe, expect, it } from 'vitest';
import { commit, type Person, pushedRepository, useForge } from './forge.ts';

const run = promisify(execFile);
const scene = useForge();
let ada: Person;
beforeAll(async () => {
  ada = scene.person('ada');
  const tree = await pushedRepository(ada, 'kit', scene.folder);
  const names = ['a/b/c.txt', 'a/d.txt', 'x/[a-c].md', 'x/a.md', '-dash/ü.txt', '.gitattributes'];
  const files = Object.fromEntries(names.map((name) => [name, name]));
  await commit(tree, { ...files, '.gitattributes': 'lines.txt export-ignore\n' }, 'files');
  await git(tree, 'push', '-q', 'origin', 'main');
});

const fetched = (path: string) =>
  fetch(`${scene.address}${path}`, { headers: { authorization: `Bearer ${ada.token}` } });

/** The files in an archive, without the folder around them. */
async function filesIn(answer: Response): Promise<string[]> {
  expect(answer.status).toBe(200);
  const archive = join(scene.folder, 'archive.tar.gz');
  await writeFile(archive, Buffer.from(await answer.arrayBuffer()));
  const { stdout } = await run('tar', ['tzf', archive, '--quoting-style=literal']);
  const names = stdout.split('\n').filter((name) => name !== '' && !name.endsWith('/'));
  return names.map((name) => name.replace(/^kit\//, '')).sort();
}

describe.each(['/api/v1/repos/ada/kit/archive', '/ada/kit/archive'])('an archive at %s', (at) => {
  const archive = (query: string) => fetched(`${at}/main.tar.gz${query}`);

  it.each([
    ['?path=a', ['a/b/c.txt', 'a/d.txt']],
    ['?path=/a/b/', ['a/b/c.txt']],
    ['?path=a/b/c.txt', ['a/b/c.txt']],
    ['?path=a/b&path=x/a.md', ['a/b/c.txt', 'x/a.md']],
    ['?path=x/[a-c].md', ['x/[a-c].md']],
    ['?path=-dash', ['-dash/ü.txt']],
  ])('has with %s only what is there', async (query, names) => {
    expect(await filesIn(await archive(query))).toEqual(names);
  });

  it.each(['', '?path=', '?path=/', '?path=a&path=', '?other=a'])(
    'has everything with "%s"',
    async (query) => {
      expect(await filesIn(await archive(query))).toEqual([
        '-dash/ü.txt',
        '.gitattributes',
        'README.md',
        'a/b/c.txt',
        'a/d.txt',
        'x/[a-c].md',
        'x/a.md',
      ]);
    },
  );

  it.each(['none', 'a/none', 'a&path=none', '*', ':/a', ':(glob)*', '--output=x', '../a', 'a//b', 'a%00'])(
    'is none with path=%s',
    async (path) => {
      for (const format of ['zip', 'tar.gz'])
        expect((await fetched(`${at}/main.${format}?path=${path}`)).status).toBe(404);
    },
  );
});
