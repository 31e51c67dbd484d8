import { randomBytes } from 'node:crypto';
import { git } from '@croft/testing';
import { expect, it } from 'vitest';
import { commit, pushedRepository, useForge } from './forge.ts';

const scene = useForge({
  environment: { FORGE_GIT_MAX_REPOSITORY_BYTES: '1000000', FORGE_GIT_MAX_REVIEW_BYTES: '300000' },
});

it('a repository takes what it has room for, by pushes and by the API, and deletions always', async () => {
  const ada = scene.person('ada');
  const tree = await pushedRepository(ada, 'small', scene.folder);
  const bare = await scene.bare('ada', 'small');
  const large = { content: randomBytes(720_000).toString('base64') };
  const first = await ada.call('POST', '/repos/ada/small/contents/first.bin', large);
  expect(first.status).toBe(201);
  const before = await git(bare, 'show-ref');
  expect((await ada.call('POST', '/repos/ada/small/contents/second.bin', large)).status).toBe(413);
  await git(tree, 'pull', '-q', 'origin', 'main');
  await git(tree, 'push', '-q', 'origin', 'main:refs/heads/other');
  await commit(tree, { 'third.bin': randomBytes(500_000) }, 'third');
  await expect(git(tree, 'push', 'origin', 'main')).rejects.toThrow(/exceeds maximum allowed size/);
  await git(tree, 'push', '-q', 'origin', ':other');
  expect(await git(bare, 'show-ref')).toBe(before);
  // Beyond the limit nothing is taken at all.
  await git(tree, 'push', '-q', bare, 'main:refs/heads/by-hand');
  await expect(git(tree, 'push', 'origin', 'main')).rejects.toThrow(
    /remote rejected.*\(the repository has reached its size limit\)/,
  );
  await git(tree, 'push', '-q', 'origin', ':by-hand');
  expect(await git(bare, 'show-ref')).toBe(before);
});

it('it takes no more from those who push for review', async () => {
  const [zoe, bob] = [scene.person('zoe'), scene.person('bob')];
  const tree = await pushedRepository(zoe, 'reviewed', scene.folder);
  const bare = await scene.bare('zoe', 'reviewed');
  const before = await git(bare, 'show-ref');
  const push = () => git(tree, 'push', bob.remote('zoe/reviewed'), 'HEAD:refs/for/main/large');
  await commit(tree, { 'large.bin': randomBytes(1_200_000) }, 'large');
  await expect(push()).rejects.toThrow(/exceeds maximum allowed size/);
  expect(await git(bare, 'show-ref')).toBe(before);
  await git(tree, 'push', '-q', bare, 'HEAD:refs/heads/by-hand');
  await expect(push()).rejects.toThrow(/the repository has reached its size limit/);
  await git(bare, 'update-ref', '-d', 'refs/heads/by-hand');
  expect(await git(bare, 'show-ref')).toBe(before);
  expect((await zoe.call('GET', '/repos/zoe/reviewed/pulls')).items).toEqual([]);
});

it('somebody who may not write pushes little for review', async () => {
  const [ivy, max] = [scene.person('ivy'), scene.person('max')];
  const tree = await pushedRepository(ivy, 'guarded', scene.folder);
  const bare = await scene.bare('ivy', 'guarded');
  const before = await git(bare, 'show-ref');
  const push = (who: typeof ivy, topic: string) =>
    git(tree, 'push', who.remote('ivy/guarded'), `HEAD:refs/for/main/${topic}`);
  await commit(tree, { 'large.bin': randomBytes(400_000) }, 'large');
  await expect(push(max, 'large')).rejects.toThrow(/exceeds maximum allowed size/);
  expect(await git(bare, 'show-ref')).toBe(before);
  await push(ivy, 'large');
  expect(await git(bare, 'show-ref')).toContain('refs/pull/1/head');
});
