import { randomBytes } from 'node:crypto';
import { git } from '@croft/testing';
import { expect, it } from 'vitest';
import { commit, pushedRepository, useForge } from './forge.ts';

const scene = useForge({ environment: { FORGE_GIT_MAX_REPOSITORY_BYTES: '1000000' } });

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
