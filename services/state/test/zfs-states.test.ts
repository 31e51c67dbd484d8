import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, type TestContext } from 'vitest';
import type { Daemon } from './daemon.ts';
import { memberOf, namesOf, statesOf } from './drivers/fixture.ts';
import { daemonOn, otherZfs, poolFor } from './drivers/zfs-daemon.ts';
import type { ZfsPool } from './drivers/zfs-image.ts';
import { useZfs } from './drivers/zfs-pool.ts';
import { run, ZFS_PATH } from './drivers/zfs-programs.ts';

useZfs();

const snapshots = ({ zfs }: ZfsPool, pool: string) =>
  zfs('list', '-H', '-r', '-t', 'snapshot', '-o', 'name', pool)
    .split('\n')
    .filter((name) => name !== '')
    .sort();

/** Properties of a snapshot that are set, as `name value`. */
const marks = ({ zfs }: ZfsPool, snapshot: string, names: string) =>
  zfs('get', '-H', '-p', '-s', 'local', '-o', 'property,value', names, snapshot).trim();

it('a record of several properties is replaced as a whole, and a set that fails loses no state', {
  timeout: 150_000,
}, async (context) => {
  const storage = await poolFor(context);
  const flag = join(storage.base, 'fails');
  const search = otherZfs(
    `if [ -e ${flag} ]; then case "$*" in set*croft:complete=*) echo "cannot set: out of luck" >&2; exit 1;; esac; fi`,
  );
  const daemon = await daemonOn(storage, { settings: { STATESVC_SEARCH_PATH: search } });
  const users = Array.from({ length: 24 }, (_, at) => `user-with-a-rather-long-name${at}`);
  for (const user of users)
    await daemon.call('CreateUserData', { user, homepath: join(storage.homesFolder, user) });
  await daemon.save('large');
  const { member } = await memberOf(daemon, 'large');
  expect(marks(storage, member.snapshot, 'croft:complete.1')).not.toBe('');
  writeFileSync(flag, '');
  const failed = await daemon.call('RemoveUserState', {
    userName: users[3],
    stateName: 'large',
    force: true,
  });
  expect(failed.code).toBe(9);
  const shown = (await statesOf(daemon)).filter(({ removing }) => removing);
  expect(shown.map(({ user }) => user)).toEqual([users[3]]);
  await daemon.service.close(0);
  // Whatever the set did not write, all other states are there after the next start.
  rmSync(flag);
  const next = await daemonOn(storage);
  const others = users.filter((user) => user !== users[3]);
  expect((await namesOf(next)).toSorted()).toEqual(
    ['large', ...others.map((user) => `${user} large`)].toSorted(),
  );
  expect(marks(storage, member.snapshot, 'croft:complete')).toMatch(/\t2b:/);
  expect((await next.call('Refresh')).lines).toEqual(['nothing differed: 24 states']);
  const again = { userName: users[4], stateName: 'large', force: true };
  expect((await next.call('RemoveUserState', again)).code).toBe(0);
  expect(marks(storage, member.snapshot, 'croft:complete')).toMatch(/\t2:/);
  expect((await next.call('Refresh')).lines).toEqual(['nothing differed: 23 states']);
});

it('states of a machine whose root is gone are listed, and those that a user saved himself can be removed', async (context) => {
  const storage = await poolFor(context);
  const { zfs, pool } = storage;
  const daemon = await daemonOn(storage);
  const homepath = join(storage.homesFolder, 'ada');
  await daemon.call('CreateUserData', { user: 'ada', homepath });
  await daemon.save('whole');
  expect((await daemon.call('SaveUserState', { userName: 'ada', stateName: 'own' })).code).toBe(0);
  await daemon.service.close(0);
  const { root } = storage;
  run('zfs', 'unmount', '-f', root);
  for (const name of snapshots(storage, root)) zfs('destroy', name);
  zfs('destroy', root);
  const policy = join(storage.base, 'policy.yaml');
  writeFileSync(policy, 'keep: {days: 0, newest: 0, rules: []}\n');
  const next = await daemonOn(storage, { settings: { STATESVC_POLICY: policy } });
  const listed = async () =>
    (await next.dump()).machines.map(({ id, states }) => [id, states.map(({ name }) => name)]);
  expect(await listed()).toEqual([
    ['zfs:none', []],
    [root, ['own', 'whole', 'whole']],
  ]);
  expect(String((await next.call('MachineList')).results[0]?.['machineList'])).toContain(root);
  const shown = await next.call('MachineShow', { machineId: root });
  expect(String(shown.results[0]?.['machineInfo'])).toMatch(/^ada +.* 2$/m);
  const before = await storage.facts();
  // It may be away for a while: what is left of it is for people to decide.
  expect(await next.call('GC', { all: true })).toMatchObject({
    code: 0,
    lines: ['there was nothing to remove'],
  });
  expect(await storage.facts()).toEqual(before);
  expect((await next.call('RemoveUserState', { userName: 'ada', stateName: 'own' })).code).toBe(0);
  expect(await listed()).toEqual([
    ['zfs:none', []],
    [root, ['whole', 'whole']],
  ]);
  expect(snapshots(storage, pool).filter((name) => name.includes('@own'))).toEqual([]);
});

it('a completion mark that cannot be read keeps what was saved', async (context) => {
  const storage = await poolFor(context);
  const daemon = await daemonOn(storage);
  await daemon.save('kept');
  const { member } = await memberOf(daemon, 'kept');
  await daemon.service.close(0);
  for (const [property, value] of [
    ['croft:complete', '2:{'],
    ['croft:complete.1', 'half of it'],
  ])
    storage.zfs('set', `${property}=${value}`, member.snapshot);
  const before = await storage.facts();
  const next = await daemonOn(storage);
  expect(await namesOf(next)).toEqual([]);
  const refreshed = await next.call('Refresh');
  expect(refreshed.lines.join('\n')).toContain(`the completion mark on ${member.snapshot} cannot be read`);
  expect(await storage.facts()).toEqual(before);
  // Only parts of a mark are kept as well, as nobody knows that the save was just begun.
  storage.zfs('inherit', 'croft:complete', member.snapshot);
  expect((await next.call('Refresh')).lines.join('\n')).toContain('cannot be read');
  expect(snapshots(storage, storage.pool)).toEqual([member.snapshot]);
});

it('a save that lost its mark is kept for good', async (context) => {
  const storage = await poolFor(context);
  const daemon = await daemonOn(storage);
  await daemon.save('kept');
  const { member } = await memberOf(daemon, 'kept');
  await daemon.service.close(0);
  storage.zfs('inherit', 'croft:complete', member.snapshot);
  for (const _ of [1, 2]) {
    const next = await daemonOn(storage);
    expect((await next.call('Refresh')).lines.join('\n')).toContain('is kept');
    expect(snapshots(storage, storage.pool)).toEqual([member.snapshot]);
    await next.service.close(0);
  }
});

it('a start without one of two pools destroys nothing of states in both, and removes none', async (context) => {
  const storage = await poolFor(context);
  const { zfs, pool } = storage;
  const second = storage.addPool();
  const daemon = await daemonOn(storage);
  await daemon.call('CreateUserData', { user: 'ada', homepath: join(storage.homesFolder, 'ada') });
  const mail = [
    '-o',
    'mountpoint=/home/ada/mail',
    '-o',
    `croft:links=${storage.root}`,
    '-o',
    'croft:user=ada',
  ];
  zfs('create', ...mail, `${second}/mail`);
  await daemon.call('Refresh');
  await daemon.save('both');
  const { state, member } = await memberOf(daemon, 'both', 'ada');
  expect(state.members.map(({ dataset }) => dataset)).toEqual([member.dataset, `${second}/mail`]);
  const before = [await daemon.dump(), snapshots(storage, pool), snapshots(storage, second)];
  await daemon.service.close(0);
  const without = await daemonOn(storage, { settings: { STATESVC_ZFS_POOLS: second } });
  expect(snapshots(storage, second)).toEqual(before[2]);
  expect((await without.call('Refresh')).lines.join('\n')).toContain('is not there now');
  expect(snapshots(storage, second)).toEqual(before[2]);
  await without.service.close(0);
  run('zfs', 'unmount', `${second}/mail`);
  run('zpool', 'export', second);
  const other = await daemonOn(storage, { settings: { STATESVC_ZFS_POOLS: pool } });
  const removing = await other.call('RemoveUserState', { userName: 'ada', stateName: 'both', force: true });
  expect(removing).toMatchObject({ code: 14 });
  expect(removing.details).toContain('is not imported');
  expect((await statesOf(other)).some(({ removing: is }) => is)).toBe(false);
  await other.service.close(0);
  run('zpool', 'import', '-o', 'cachefile=none', '-R', storage.base, '-d', storage.base, second);
  const again = await daemonOn(storage);
  expect([await again.dump(), snapshots(storage, pool), snapshots(storage, second)]).toEqual(before);
});

it('a copy that somebody received below the root stays when a state goes', async (context) => {
  const storage = await poolFor(context);
  const { zfs, root } = storage;
  const daemon = await daemonOn(storage);
  zfs('create', `${root}/var`);
  await daemon.save('one');
  const { member } = await memberOf(daemon, 'one');
  zfs('create', '-o', 'mountpoint=none', `${root}/backup`);
  const copy = `${root}/backup${member.snapshot.slice(member.snapshot.indexOf('@'))}`;
  zfs('snapshot', copy);
  expect((await daemon.call('RemoveSystemState', { stateName: 'one' })).code).toBe(0);
  expect(snapshots(storage, storage.pool)).toEqual([copy]);
});

/** A daemon whose `zfs` destroys nothing of the root any more as soon as there is a file, and the states `half` and `whole`. */
async function withBusyRoot(context: TestContext, prepare: (storage: ZfsPool, daemon: Daemon) => unknown) {
  const storage = await poolFor(context);
  const flag = join(storage.base, 'busy');
  const search = otherZfs(
    `if [ -e ${flag} ]; then case "$*" in destroy*ROOT/debian@*) echo "cannot destroy: it is read" >&2; exit 1;; esac; fi`,
  );
  const settings = { STATESVC_SEARCH_PATH: search };
  const daemon = await daemonOn(storage, { settings });
  await prepare(storage, daemon);
  await daemon.save('half');
  await daemon.save('whole');
  const told = async (some: Daemon) =>
    (await statesOf(some)).map(({ name, user, removing }) => [user ?? '', name, removing]);
  return { storage, flag, settings, daemon, told };
}

it.for<[string, string, (storage: ZfsPool, daemon: Daemon) => unknown]>([
  [
    'between two trees',
    'ada',
    ({ homesFolder }, daemon) =>
      daemon.call('CreateUserData', { user: 'ada', homepath: join(homesFolder, 'ada') }),
  ],
  ['in a tree', '', ({ zfs, root }) => zfs('create', `${root}/var`)],
])(
  'a removal that stops %s is told as one, and the next start finishes it',
  async ([, user, prepare], context) => {
    const { storage, flag, settings, daemon, told } = await withBusyRoot(context, prepare);
    writeFileSync(flag, '');
    const answer = await daemon.call('RemoveSystemState', { stateName: 'half' });
    expect(answer).toMatchObject({ code: 9 });
    expect(answer.details).toContain('has begun');
    const all = (name: string, removing: boolean) =>
      ['', user].slice(user === '' ? 1 : 0).map((one) => [one, name, removing]);
    const expected = [...all('whole', false), ...all('half', true)];
    expect(await told(daemon)).toEqual(expected);
    expect((await daemon.call('RemoveSystemState', { stateName: 'half' })).code).toBe(10);
    await daemon.service.close(0);
    // It still cannot go: the daemon starts all the same, and the removal stays begun.
    const busy = await daemonOn(storage, { settings });
    expect(await told(busy)).toEqual(expected);
    await busy.service.close(0);
    rmSync(flag);
    const next = await daemonOn(storage);
    expect(await told(next)).toEqual(all('whole', false));
    expect(snapshots(storage, storage.pool).every((name) => name.includes('whole'))).toBe(true);
  },
);

it('a removal that fails at once has destroyed nothing', async (context) => {
  const { storage, flag, daemon, told } = await withBusyRoot(context, () => {});
  const before = await storage.facts();
  writeFileSync(flag, '');
  const { code, details } = await daemon.call('RemoveSystemState', { stateName: 'half' });
  expect([code, details]).toEqual([9, expect.stringContaining('it is read')]);
  expect(details).not.toContain('has begun');
  expect(await storage.facts()).toEqual(before);
  expect(await told(daemon)).toEqual([
    ['', 'whole', false],
    ['', 'half', false],
  ]);
  rmSync(flag);
  expect((await daemon.call('RemoveSystemState', { stateName: 'half' })).code).toBe(0);
});

/** A daemon with a state of a root and `var`, and what is run with the programs' own `zfs` as soon as one of it is destroyed. */
async function removingWhile(
  context: TestContext,
  meanwhile: (root: string, end: string) => { first: string; run: string },
) {
  const storage = await poolFor(context);
  storage.zfs('create', `${storage.root}/var`);
  const script = join(storage.base, 'meanwhile');
  const search = otherZfs(`if [ -e ${script} ]; then . ${script}; fi`);
  const daemon = await daemonOn(storage, { settings: { STATESVC_SEARCH_PATH: search } });
  await daemon.save('one');
  const { snapshot } = (await memberOf(daemon, 'one')).member;
  const { first, run: line } = meanwhile(storage.root, snapshot.slice(snapshot.indexOf('@')));
  writeFileSync(script, `case "$*" in ${first}) rm ${script}; PATH=${ZFS_PATH}; ${line};; esac`);
  const answer = await daemon.call('RemoveSystemState', { stateName: 'one' });
  return { storage, daemon, snapshot, answer };
}

it('what somebody snapshots under the same name while a state goes stays', async (context) => {
  const { storage, answer } = await removingWhile(context, (root, end) => ({
    first: 'destroy*',
    run: `zfs create ${root}/later; zfs snapshot ${root}/later${end}`,
  }));
  expect(answer.code).toBe(0);
  expect(snapshots(storage, storage.pool)).toEqual([expect.stringMatching(/\/later@/)]);
});

it('what somebody clones while a state goes keeps it, and the pool goes on', async (context) => {
  const { storage, daemon, snapshot, answer } = await removingWhile(context, (root, end) => ({
    first: `"destroy ${root}/var${end}"`,
    run: `zfs clone -o mountpoint=none ${root}/var${end} ${root}/clone`,
  }));
  expect([answer.code, answer.details]).toEqual([9, expect.stringContaining('/var@')]);
  const [dataset, end] = snapshot.split('@');
  expect(snapshots(storage, storage.pool)).toEqual([`${dataset}/var@${end}`, snapshot]);
  storage.zfs('destroy', `${dataset}/clone`);
  expect(await namesOf(daemon)).toEqual(['one']);
  expect((await daemon.call('RemoveSystemState', { stateName: 'one' })).code).toBe(0);
  expect(snapshots(storage, storage.pool)).toEqual([]);
});

it('a removal is told as begun when nothing can be read after it', async (context) => {
  const storage = await poolFor(context);
  const flag = join(storage.base, 'away');
  const search = otherZfs(
    `if [ -e ${flag} ]; then case "$1" in destroy) echo gone > ${flag};; get) if [ -s ${flag} ]; then echo "failed to initialize ZFS" >&2; exit 1; fi;; esac; fi`,
  );
  const daemon = await daemonOn(storage, { settings: { STATESVC_SEARCH_PATH: search } });
  await daemon.save('one');
  writeFileSync(flag, '');
  const { code, details } = await daemon.call('RemoveSystemState', { stateName: 'one' });
  expect([code, details]).toEqual([14, expect.stringContaining('has begun')]);
  expect((await statesOf(daemon)).map(({ name, removing }) => [name, removing])).toEqual([['one', true]]);
  expect(snapshots(storage, storage.pool)).toEqual([]);
  await daemon.service.close(0);
  rmSync(flag);
  expect(await namesOf(await daemonOn(storage))).toEqual([]);
});

it('a pool that is named and away is told as that', async (context) => {
  const storage = await poolFor(context);
  const settings = { STATESVC_ZFS_POOLS: `${storage.pool},no-such-pool` };
  const start = daemonOn(storage, { settings });
  await expect(start).rejects.toThrow('the pool no-such-pool is not imported');
  await expect(start).rejects.not.toThrow('zfsutils');
});
