import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { git } from '@croft/testing';
import { beforeAll, describe, expect, it } from 'vitest';
import { commit, type Person, pushBranch, pushedRepository, useForge } from './forge.ts';

const scene = useForge();
let ada: Person;
let eve: Person;
let tree: string;
let head: string;
beforeAll(async () => {
  [ada, eve] = [scene.person('ada'), scene.person('eve')];
  await eve.call('GET', '/user');
  tree = await pushedRepository(ada, 'kit', scene.folder, { private: true });
  head = await commit(tree, { 'bin/install.sh': 'echo main\n' }, 'an installer');
  await git(tree, 'push', '-q', 'origin', 'main');
  await pushBranch(tree, 'next/one', { 'bin/install.sh': 'echo next\n' });
  // A tag that is called like a branch.
  await git(tree, 'checkout', '-q', '--detach', 'main');
  await commit(tree, { 'bin/install.sh': 'echo tag\n' }, 'tagged');
  await git(tree, 'tag', 'next/one');
  await git(tree, 'push', '-q', 'origin', 'refs/tags/next/one');
});

async function fetched(path: string, person?: Person) {
  const headers = person === undefined ? {} : { authorization: `Bearer ${person.token}` };
  const answer = await fetch(`${scene.address}${path}`, { headers });
  const bytes = Buffer.from(await answer.arrayBuffer());
  return { status: answer.status, type: answer.headers.get('content-type'), bytes, text: bytes.toString() };
}

describe('what programs find beside the API', () => {
  it('files as they are, by branch, tag or commit', async () => {
    for (const [at, text] of [
      ['branch/main', 'echo main\n'],
      ['branch/next/one', 'echo next\n'],
      ['branch/next%2Fone', 'echo next\n'],
      ['tag/next/one', 'echo tag\n'],
      [`commit/${head}`, 'echo main\n'],
    ])
      expect(await fetched(`/ada/kit/raw/${at}/bin/install.sh`, ada)).toMatchObject({
        status: 200,
        type: 'text/plain; charset=utf-8',
        text,
      });
    for (const at of [
      'branch/v1',
      'tag/main',
      'commit/main',
      'branch',
      `branch/${head}`,
      'blob/main',
      'main',
    ])
      expect((await fetched(`/ada/kit/raw/${at}/bin/install.sh`, ada)).status, at).toBe(404);
  });

  it('archives, and what a commit changed, as in the API', async () => {
    for (const [path, inApi] of [
      ['archive/main.tar.gz', 'archive/main.tar.gz'],
      ['archive/next/one.zip', 'archive/next/one.zip'],
      [`archive/${head}.tar.gz`, `archive/${head}.tar.gz`],
      [`commit/${head}.diff`, `git/commits/${head}.diff`],
      [`commit/${head}.patch`, `git/commits/${head}.patch`],
    ]) {
      const wanted = await fetched(`/api/v1/repos/ada/kit/${inApi}`, ada);
      expect(wanted.status).toBe(200);
      expect(await fetched(`/ada/kit/${path}`, ada)).toEqual(wanted);
    }
    await mkdir(join(scene.folder, 'unpacked'));
    const archive = join(scene.folder, 'unpacked', 'kit.patch');
    await writeFile(archive, (await fetched(`/ada/kit/commit/${head}.patch`, ada)).bytes);
    await git(tree, 'checkout', '-q', '--detach', `${head}~1`);
    await git(tree, 'am', '-q', archive);
    expect(await git(tree, 'rev-parse', 'HEAD^{tree}')).toBe(await git(tree, 'rev-parse', `${head}^{tree}`));
  });

  it('nothing for those who may not read the code', async () => {
    for (const path of ['raw/branch/main/bin/install.sh', 'archive/main.zip', `commit/${head}.patch`]) {
      expect((await fetched(`/ada/kit/${path}`, eve)).status).toBe(404);
      expect((await fetched(`/ada/kit/${path}`)).status).toBe(401);
    }
  });

  it('under the name that a repository had before', async () => {
    await pushedRepository(ada, 'old', scene.folder);
    await ada.call('PATCH', '/repos/ada/old', { name: 'new' });
    expect((await fetched('/ada/old/raw/branch/main/README.md', ada)).text).toBe('# old\n');
  });
});

it('the go command finds where a module is, whether it is there or not', async () => {
  const host = new URL(scene.address).host;
  for (const path of ['/ada/kit', '/ada/kit/deep/er', '/ada/kit/archive/tar', '/eve/nothing']) {
    const repository = path.split('/').slice(0, 3).join('/');
    expect(await fetched(`${path}?go-get=1`)).toMatchObject({
      status: 200,
      type: 'text/html; charset=utf-8',
      text: `<meta name="go-import" content="${host}${repository} git ${scene.address}${repository}.git">\n`,
    });
  }
  for (const path of ['/ada', '/api/v1/version', '/ada/<b>', '/ada/"x'])
    expect((await fetched(`${path}?go-get=1`)).text).not.toContain('go-import');
  expect((await fetched('/ada/kit?go-get=2')).status).toBe(404);
});
