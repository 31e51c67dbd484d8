import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { temporaryFolder, treeFacts } from './daemon.ts';
import { memberOf, namesOf } from './drivers/fixture.ts';
import { daemonOn, otherZfs, poolFor } from './drivers/zfs-daemon.ts';
import { exported, importBytes } from './extras-client.ts';
import { startProcess } from './spawned-daemon.ts';

// Imports on ZFS lie in datasets of their own.

it('an import that is killed before any command of zfs is there as a whole or not at all', {
  timeout: 400_000,
}, async (context) => {
  const storage = await poolFor(context);
  writeFileSync(join(storage.systemPath, 'file'), 'precious');
  const tree = treeFacts(storage.systemPath);
  const first = await daemonOn(storage);
  await first.save('one');
  const bytes = await exported(first, { stateName: 'one' });
  await first.call('RemoveSystemState', { stateName: 'one' });
  const without = await storage.facts();
  await first.service.close(0);
  const left = join(temporaryFolder(), 'left');
  const STATESVC_SEARCH_PATH = otherZfs(`
case "$1" in create|mount|unmount|set|inherit|snapshot|destroy)
  n=$(($(cat ${left}) - 1)); echo $n > ${left}
  if [ $n -eq 0 ]; then kill -9 $PPID; exit 1; fi
esac`);
  for (let step = 1; step < 60; step++) {
    writeFileSync(left, `${step}\n`);
    const settings = { ...storage.settings, STATESVC_SEARCH_PATH };
    const killed = await startProcess(storage.folder, storage.systemPath, settings);
    const { code } = await importBytes(killed.address, bytes, 'two');
    await killed.kill();
    const daemon = await daemonOn(storage);
    const names = await namesOf(daemon);
    const at = `before command ${step}`;
    expect([at, code === 0 ? [['two']] : [[], ['two']]]).toEqual([at, expect.arrayContaining([names])]);
    if (names.length > 0) {
      const { state, member } = await memberOf(daemon, 'two');
      expect([at, state.partial, treeFacts(await storage.contentOf(member))]).toEqual([at, false, tree]);
      expect((await daemon.call('RemoveSystemState', { stateName: 'two' })).code).toBe(0);
    }
    expect([at, await storage.facts()]).toEqual([at, without]);
    expect((await daemon.call('Refresh')).lines).toEqual(['nothing differed: 0 states']);
    await daemon.service.close(0);
    if (code !== 0) continue;
    await context.annotate(`${step - Number(readFileSync(left, 'utf8'))} commands`);
    expect(step).toBeGreaterThan(10);
    return;
  }
  expect.unreachable('there is no end of commands');
});

it('what somebody else has in the place of imports stays, and is no state', async (context) => {
  const storage = await poolFor(context);
  const daemon = await daemonOn(storage);
  await daemon.save('one');
  const bytes = await exported(daemon, { stateName: 'one' });
  expect((await importBytes(daemon, bytes, 'two')).code).toBe(0);
  // A copy of an import has its marks, and they do not count; nor does it go with the import.
  const { member } = await memberOf(daemon, 'two');
  const imports = `${storage.pool}/croft_imports`;
  const copy = `${imports}/0badcafe-0000-4000-8000-000000000000`;
  storage.zfs('create', '-o', 'mountpoint=none', copy);
  storage.zfs('clone', '-o', 'mountpoint=none', member.snapshot, `${copy}/0`);
  expect((await daemon.call('Refresh')).lines).toEqual(['nothing differed: 2 states']);
  storage.zfs('destroy', `${copy}/0`);
  expect((await daemon.call('RemoveSystemState', { stateName: 'two' })).code).toBe(0);
  expect(storage.zfs('list', '-H', '-o', 'name', '-r', imports).trim().split('\n')).toEqual([imports, copy]);
  storage.zfs('destroy', copy);
  storage.zfs('destroy', imports);
  storage.zfs('create', '-o', 'mountpoint=none', imports);
  const before = await storage.facts();
  expect(await importBytes(daemon, bytes, 'three')).toMatchObject({
    code: 9,
    details: expect.stringContaining('made by somebody else'),
  });
  expect(await storage.facts()).toEqual(before);
});
