import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { treeFacts } from './daemon.ts';
import { memberOf, namesOf } from './drivers/fixture.ts';
import { daemonOn, otherZfs, poolFor } from './drivers/zfs-daemon.ts';
import type { ZfsPool } from './drivers/zfs-image.ts';
import { useZfs } from './drivers/zfs-pool.ts';
import { ZFS_PATH } from './drivers/zfs-programs.ts';
import { exported, importBytes } from './extras-client.ts';

useZfs();

// Imports on ZFS lie in datasets of their own. What a crash leaves of one is in zfs-steps.test.ts.

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

it('a snapshot that somebody takes of an import is no state, and stays when the import goes', async (context) => {
  const storage = await poolFor(context);
  const daemon = await daemonOn(storage);
  await daemon.save('one');
  const bytes = await exported(daemon, { stateName: 'one' });
  const without = await storage.facts();
  expect((await importBytes(daemon, bytes, 'two')).code).toBe(0);
  const { member } = await memberOf(daemon, 'two');
  const tree = treeFacts(await storage.contentOf(member));
  const imports = `${storage.pool}/croft_imports`;
  // As a timer does that takes them of whole pools.
  storage.zfs('snapshot', '-r', `${imports}@theirs`);
  const theirs = snapshotsBelow(imports, storage).filter((name) => name.endsWith('@theirs'));
  expect(theirs).toHaveLength(3);
  expect((await daemon.call('Refresh')).lines).toEqual(['nothing differed: 2 states']);
  expect((await daemon.call('RemoveSystemState', { stateName: 'two' })).code).toBe(0);
  expect((await daemon.call('GC')).code).toBe(0);
  await daemon.service.close(0);
  const second = await daemonOn(storage);
  expect(await namesOf(second)).toEqual(['one']);
  expect(snapshotsBelow(imports, storage)).toEqual(theirs);
  const kept = { ...member, snapshot: theirs.at(-1) ?? '' };
  expect(treeFacts(await storage.contentOf(kept))).toEqual(tree);
  // When nobody needs it any more, what lies around it goes with the next thing that is removed.
  storage.zfs('destroy', '-r', `${imports}@theirs`);
  await second.save('three');
  expect((await second.call('RemoveSystemState', { stateName: 'three' })).code).toBe(0);
  expect(await storage.facts()).toEqual(without);
});

it('an import of which somebody takes a snapshot while it comes is refused, and the snapshot stays', async (context) => {
  const storage = await poolFor(context);
  const first = await daemonOn(storage);
  await first.save('one');
  const bytes = await exported(first, { stateName: 'one' });
  await first.service.close(0);
  const without = await storage.facts();
  const imports = `${storage.pool}/croft_imports`;
  const STATESVC_SEARCH_PATH = otherZfs(`
case "$1 $2" in unmount\\ */archive) PATH=${ZFS_PATH} zfs snapshot -r ${imports}@theirs; esac`);
  const daemon = await daemonOn(storage, { settings: { STATESVC_SEARCH_PATH } });
  expect(await importBytes(daemon, bytes, 'two')).toMatchObject({
    code: 9,
    details: expect.stringContaining('archive was not removed'),
  });
  expect(await namesOf(daemon)).toEqual(['one']);
  const theirs = snapshotsBelow(imports, storage);
  expect(theirs.map((name) => name.slice(name.lastIndexOf('@')))).toEqual(theirs.map(() => '@theirs'));
  expect(theirs.filter((name) => name.includes('/archive@'))).toHaveLength(1);
  expect((await daemon.call('Refresh')).lines).toContainEqual(
    expect.stringMatching(/^warning: the save \S+ could not be cleared away: \S+\/archive was not removed/),
  );
  await daemon.service.close(0);
  // Nor does a start take it away, and once it is gone the next one leaves nothing.
  const second = await daemonOn(storage);
  expect(snapshotsBelow(imports, storage)).toEqual(theirs);
  await second.service.close(0);
  storage.zfs('destroy', '-r', `${imports}@theirs`);
  const third = await daemonOn(storage);
  expect(await namesOf(third)).toEqual(['one']);
  expect(await storage.facts()).toEqual(without);
});

it('the empty place of imports that a killed daemon left goes with the next refresh, and an import makes it anew', async (context) => {
  const storage = await poolFor(context);
  const first = await daemonOn(storage);
  await first.save('one');
  const bytes = await exported(first, { stateName: 'one' });
  const without = await storage.facts();
  const imports = `${storage.pool}/croft_imports`;
  const leave = () =>
    storage.zfs(
      'create',
      ...['mountpoint=none', 'canmount=off', 'croft:imported=all'].flatMap((each) => ['-o', each]),
      imports,
    );
  leave();
  expect((await first.call('Refresh')).lines).toEqual(['nothing differed: 1 state']);
  expect(await storage.facts()).toEqual(without);
  await first.service.close(0);
  // Where it goes in the moment in which an import finds it there, the import makes another.
  const gone = join(storage.folder, 'gone');
  const STATESVC_SEARCH_PATH = otherZfs(`
case "$*" in create*${imports}/*) if [ ! -e ${gone} ]; then touch ${gone}; PATH=${ZFS_PATH} zfs destroy ${imports}; fi; esac`);
  const second = await daemonOn(storage, { settings: { STATESVC_SEARCH_PATH } });
  expect((await importBytes(second, bytes, 'two')).code).toBe(0);
  expect(existsSync(gone)).toBe(true);
  expect(await namesOf(second)).toEqual(['two', 'one']);
  expect((await second.call('RemoveSystemState', { stateName: 'two' })).code).toBe(0);
  expect(await storage.facts()).toEqual(without);
});

function snapshotsBelow(dataset: string, { zfs }: ZfsPool): string[] {
  return zfs('list', '-H', '-r', '-t', 'snapshot', '-o', 'name', dataset).trim().split('\n');
}
