import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { skipWithout } from '@croft/testing';
import { expect, it, onTestFinished, type TestContext } from 'vitest';
import { treeFacts } from './daemon.ts';
import { btrfs } from './drivers/btrfs-image.ts';
import { factsOf, fillWithEverything } from './drivers/everything.ts';
import { memberOf, openHost, type StorageFixture, statesOf } from './drivers/fixture.ts';
import { vault } from './drivers/vault-folder.ts';
import { openPool } from './drivers/zfs-image.ts';
import { useZfs, zfs } from './drivers/zfs-pool.ts';
import { callExtra, exported, importBytes } from './extras-client.ts';

useZfs();

/** A daemon on each driver. */
async function daemonsOn(context: TestContext, fixtures: readonly StorageFixture[]) {
  const missing = fixtures.map((fixture) => fixture.missing()).find((one) => one !== undefined);
  if (missing !== undefined) skipWithout(context, missing);
  return Promise.all(
    fixtures.map(async (fixture) => {
      const host = await openHost(context, fixture);
      return { ...host, fixture, daemon: await host.start() };
    }),
  );
}

it('a state goes from ZFS to the vault to btrfs to ZFS, and is what it was', {
  timeout: 150_000,
}, async (context) => {
  const [first, ...others] = await daemonsOn(context, [zfs, vault, btrfs, zfs]);
  if (first === undefined) throw new Error('there is a first one');
  fillWithEverything(first.storage.systemPath);
  const home = join(first.storage.homesFolder, 'ada');
  await first.daemon.call('CreateUserData', { user: 'ada', homepath: home });
  writeFileSync(join(home, 'letter'), 'dear');
  await first.daemon.save('one');
  const trees = [factsOf(first.storage.systemPath), treeFacts(home)];
  const withoutFifos = factsOf(first.storage.systemPath, false);
  let bytes = await exported(first.daemon, { stateName: 'one', users: true });
  for (const { daemon, storage, fixture } of others) {
    const answer = await importBytes(daemon, bytes);
    expect(answer).toMatchObject({ code: 0, results: [{ stateName: 'one' }] });
    for (const user of [null, 'ada']) {
      const { state, member } = await memberOf(daemon, 'one', user);
      expect(state).toMatchObject({ partial: false, imported: { bootable: false } });
      const content = await storage.contentOf(member);
      // The vault has fifos in its list and makes none.
      if (user === 'ada') expect(treeFacts(content)).toEqual(trees[1]);
      else if (fixture.name === 'vault') expect(factsOf(content, false)).toEqual(withoutFifos);
      else expect(factsOf(content)).toEqual(trees[0]);
    }
    expect((await daemon.call('Refresh')).lines).toEqual(['nothing differed: 2 states']);
    bytes = await exported(daemon, { stateName: 'one', users: true });
  }
});

it('no machine goes back to the state of another storage', async (context) => {
  const [there, here] = await daemonsOn(context, [vault, btrfs]);
  if (there === undefined || here === undefined) throw new Error('there are two');
  writeFileSync(join(there.storage.systemPath, 'file'), 'foreign');
  await there.daemon.save('one');
  await importBytes(here.daemon, await exported(there.daemon, { stateName: 'one' }));
  const [before, states] = [await here.storage.facts(), await statesOf(here.daemon)];
  expect(await callExtra(here.daemon, 'RequestRevert', { stateName: 'one' })).toMatchObject({
    code: 9,
    details: expect.stringContaining('no machine can go back to it'),
  });
  await here.daemon.service.close(0);
  const commandLine = join(here.storage.homesFolder, 'cmdline');
  writeFileSync(commandLine, `ro statesvc.state=${states[0]?.id}\n`);
  const booted = await here.start({ settings: { STATESVC_CMDLINE_FILE: commandLine } });
  expect(await booted.call('PrepareBoot')).toMatchObject({ code: 9, results: [] });
  expect(await here.storage.facts()).toEqual(before);
});

it('a system of several datasets on ZFS keeps them', async (context) => {
  const missing = zfs.missing() ?? btrfs.missing();
  if (missing !== undefined) skipWithout(context, missing);
  const storage = await openPool();
  onTestFinished(() => storage.close());
  const several: StorageFixture = { ...zfs, open: async () => storage };
  storage.zfs('create', '-o', 'canmount=on', `${storage.root}/var`);
  writeFileSync(join(storage.systemPath, 'var/log'), 'of the variable part');
  const [first, second] = await daemonsOn(context, [several, btrfs]);
  if (first === undefined || second === undefined) throw new Error('there are two');
  await first.daemon.save('one');
  const bytes = await exported(first.daemon, { stateName: 'one' });
  for (const { daemon } of [first, second]) {
    expect((await importBytes(daemon, bytes, 'two')).code).toBe(0);
    const state = (await statesOf(daemon)).find(({ name }) => name === 'two');
    expect(state?.members).toHaveLength(2);
    const compared = await exported(daemon, { stateName: 'two' });
    expect(compared.includes('of the variable part')).toBe(true);
  }
  const request = { stateName: 'one', otherStateName: 'two' };
  expect((await callExtra(first.daemon, 'Diff', request)).results).toEqual([
    { summary: { added: 0, changed: 0, removed: 0 } },
  ]);
  const names = (await statesOf(second.daemon))[0]?.members.map(({ dataset }) => dataset);
  expect(names).toEqual(['system', `system:${join(storage.systemPath, 'var')}`]);
});
