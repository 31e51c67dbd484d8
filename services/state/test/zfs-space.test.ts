import { join } from 'node:path';
import { expect, it, type TestContext } from 'vitest';
import { statesOf } from './drivers/fixture.ts';
import { daemonOn, poolFor } from './drivers/zfs-daemon.ts';
import { useZfs } from './drivers/zfs-pool.ts';

useZfs();

/** A machine with ada's home, and bob's in another pool that is short of space after each was saved. */
async function withShortPool(context: TestContext) {
  const storage = await poolFor(context);
  const second = storage.addPool();
  const daemon = await daemonOn(storage, { settings: { STATESVC_MIN_FREE: '20' } });
  await daemon.call('CreateUserData', { user: 'ada', homepath: join(storage.homesFolder, 'ada') });
  const marks = ['-o', `croft:links=${storage.root}`, '-o', 'croft:user=bob'];
  storage.zfs('create', '-o', 'mountpoint=/home/bob', ...marks, `${second}/bob`);
  await daemon.call('Refresh');
  for (const userName of ['ada', 'bob', 'ada', 'bob', 'ada'])
    expect((await daemon.call('SaveUserState', { userName })).code).toBe(0);
  storage.zfs('create', '-o', 'mountpoint=none', '-o', 'reservation=150M', `${second}/full`);
  return { storage, daemon, second };
}

it('a pool that is full keeps nobody from saving what lies in another, and no state goes for it', async (context) => {
  const { storage, daemon } = await withShortPool(context);
  const before = await statesOf(daemon);
  expect(await daemon.call('SaveUserState', { userName: 'ada', stateName: 'more' })).toMatchObject({
    code: 0,
  });
  expect((await statesOf(daemon)).filter(({ name }) => name !== 'more')).toEqual(before);
  await daemon.call('DissociateUser', { user: 'bob', removeHome: false });
  expect(await daemon.call('SaveSystemState', { stateName: 'system' })).toMatchObject({ code: 0 });
  const after = (await statesOf(daemon)).filter(({ name }) => !['more', 'system'].includes(name));
  expect(after).toEqual(before);
  expect(storage.zfs('list', '-H', '-t', 'snapshot', '-o', 'name')).toContain('croft_system');
});

it('only states that have something in the pool that is short go to make room in it', async (context) => {
  const { daemon, second } = await withShortPool(context);
  const before = await statesOf(daemon);
  const answer = await daemon.call('SaveUserState', { userName: 'bob', stateName: 'more' });
  expect(answer).toMatchObject({ code: 8, details: expect.stringContaining(`the pool ${second}`) });
  const after = await statesOf(daemon);
  const [oldest] = before
    .filter(({ user }) => user === 'bob')
    .sort((a, b) => (a.createdAt < b.createdAt ? -1 : 1));
  expect(after).toEqual(before.filter(({ id }) => id !== oldest?.id));
  // Nor does a collection look for room where there is enough.
  await daemon.call('GC');
  expect(await statesOf(daemon)).toEqual(after);
});
