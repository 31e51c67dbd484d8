import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { mountSmallDisk } from '@croft/testing';
import { expect, it, vi } from 'vitest';
import { startDaemon, temporaryFolder, vaultFacts } from './daemon.ts';
import { callExtra } from './extras-client.ts';

it('a vault on a disk that takes no writes is told, every write is refused, and nothing is lost', async (context) => {
  const folder = join(temporaryFolder(), 'state');
  const vault = join(folder, 'vault');
  mkdirSync(vault, { recursive: true, mode: 0o700 });
  await using _disk = await mountSmallDisk(context, vault, '8m');
  const daemon = await startDaemon({ folder });
  const remount = (how: string) => execFileSync('mount', ['-o', `remount,${how}`, vault]);
  writeFileSync(join(daemon.tree, 'file'), 'content');
  await daemon.save('one');
  const homepath = join(temporaryFolder(), 'ada');
  await daemon.call('CreateUserData', { user: 'ada', homepath });
  writeFileSync(join(daemon.tree, 'file'), 'other content');
  await daemon.save('two');
  // How the storage is holds for a second once it is told.
  const says = async (what: string) =>
    await vi.waitFor(async () => expect((await daemon.call('Status')).lines[1]).toContain(what), 30_000);
  await says(': healthy, ');
  const before = [await daemon.dump(), vaultFacts(folder)];
  remount('ro');

  await says(': in trouble: EROFS: read-only file system');
  for (const [operation, request] of [
    ['SaveSystemState', { stateName: 'three' }],
    ['SaveUserState', { userName: 'ada', stateName: 'three' }],
    ['RemoveSystemState', { stateName: 'one' }],
    ['RemoveUserState', { userName: 'ada', stateName: 'two', force: true }],
    ['CreateUserData', { user: 'bob', homepath: join(temporaryFolder(), 'bob') }],
    ['DissociateUser', { user: 'ada' }],
    ['CommitBoot', {}],
    ['UpdateLastUsed', {}],
  ] as const)
    expect([operation, await daemon.call(operation, request)]).toMatchObject([
      operation,
      { code: 14, details: expect.stringContaining('takes no writes (EROFS') },
    ]);
  const pinned = await callExtra(daemon, 'Pin', { stateName: 'one', userName: '' });
  expect(pinned).toMatchObject({ code: 14 });
  expect([await daemon.dump(), vaultFacts(folder)]).toEqual(before);

  remount('rw');
  await says(': healthy, ');
  expect((await daemon.call('RemoveSystemState', { stateName: 'one' })).code).toBe(0);
  expect(await daemon.save('three')).toBe('three');
});
