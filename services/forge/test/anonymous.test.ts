import { join } from 'node:path';
import { git } from '@croft/testing';
import { expect, it } from 'vitest';
import { pushedRepository, request, useForge } from './forge.ts';

const scene = useForge({ environment: { FORGE_REQUIRE_SIGNIN: 'false' } });

it('without required sign-in, nobody in particular reads what is public, and only that', async () => {
  const ada = scene.person('ada');
  const tree = await pushedRepository(ada, 'open', scene.folder);
  await ada.call('POST', '/user/repos', { name: 'closed', private: true, auto_init: true });
  const get = (path: string) => request(`${scene.address}/api/v1${path}`, 'GET');

  const { body } = await get('/repos/ada/open');
  expect(body['permissions']).toEqual({ admin: false, push: false, pull: true });
  expect(body['owner']).toMatchObject({ email: 'ada@noreply.127.0.0.1' });
  expect((await get('/repos/ada/open/issues')).items).toEqual([]);
  expect((await get('/repos/ada/closed')).status).toBe(404);
  expect((await get('/user')).status).toBe(401);
  expect(
    (await request(`${scene.address}/api/v1/repos/ada/open/issues`, 'POST', { title: 't' })).status,
  ).toBe(401);

  await git(scene.folder, 'clone', '-q', `${scene.address}/ada/open.git`, 'copy');
  expect(await git(join(scene.folder, 'copy'), 'rev-parse', 'HEAD')).toBe(
    await git(tree, 'rev-parse', 'HEAD'),
  );
  // Asked for a password, because somebody known might see it; git, which may not ask here, gives up.
  await expect(git(scene.folder, 'clone', '-q', `${scene.address}/ada/closed.git`, 'x')).rejects.toThrow(
    /Username/,
  );
  await expect(git(tree, 'push', '-q', `${scene.address}/ada/open.git`, 'main:y')).rejects.toThrow(
    /Username/,
  );
});
