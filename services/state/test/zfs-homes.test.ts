import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, type TestContext } from 'vitest';
import { startDaemon, temporaryFolder } from './daemon.ts';
import { memberOf } from './drivers/fixture.ts';
import { daemonOn, otherZfs, poolFor } from './drivers/zfs-daemon.ts';
import type { ZfsPool } from './drivers/zfs-image.ts';
import { useZfs } from './drivers/zfs-pool.ts';
import { attempt, run } from './drivers/zfs-programs.ts';
import { callExtra } from './extras-client.ts';

useZfs();

/** A daemon, and users with a file in their homes. */
async function withUsers(context: TestContext, users: readonly string[], settings = {}) {
  const storage = await poolFor(context);
  const daemon = await daemonOn(storage, { settings });
  for (const user of users) {
    const homepath = join(storage.homesFolder, user);
    expect((await daemon.call('CreateUserData', { user, homepath })).code).toBe(0);
    writeFileSync(join(homepath, 'file'), `of ${user}`);
  }
  return { storage, daemon };
}

const fileOf = ({ homesFolder }: ZfsPool, user: string) => join(homesFolder, user, 'file');

function datasetOf({ zfs, pool }: ZfsPool, user: string): string {
  const names = zfs('list', '-H', '-r', '-o', 'name', `${pool}/USERDATA`).split('\n');
  return names.find((name) => name.startsWith(`${pool}/USERDATA/${user}_`)) as string;
}

/** Mounts a folder in memory that goes before the pool does. */
function mountOver(path: string): void {
  run('mount', '-t', 'tmpfs', 'croft-test', path);
  onTestFinished(() => void attempt('umount', path));
}

describe('a home that is in use again after it was to be emptied', () => {
  it('is not emptied at a later start', async (context) => {
    const { storage, daemon } = await withUsers(context, ['ada']);
    const dataset = datasetOf(storage, 'ada');
    await daemon.call('DissociateUser', { user: 'ada', removeHome: false });
    // As a removal leaves it that failed after the unlinking.
    storage.zfs('set', 'croft:emptying=yes', dataset);
    await daemon.call('Refresh');
    const homepath = join(storage.homesFolder, 'ada');
    expect((await daemon.call('CreateUserData', { user: 'ada', homepath })).code).toBe(0);
    writeFileSync(fileOf(storage, 'ada'), 'new');
    expect(storage.zfs('get', '-H', '-o', 'value', 'croft:emptying', dataset).trim()).toBe('-');
    await daemon.service.close(0);
    await daemonOn(storage);
    expect(readFileSync(fileOf(storage, 'ada'), 'utf8')).toBe('new');
  });

  it('is not emptied either when the mark is still there', async (context) => {
    const { storage, daemon } = await withUsers(context, ['ada']);
    await daemon.service.close(0);
    storage.zfs('set', 'croft:emptying=yes', datasetOf(storage, 'ada'));
    const facts = await storage.facts();
    await daemonOn(storage);
    expect(readFileSync(fileOf(storage, 'ada'), 'utf8')).toBe('of ada');
    expect(await storage.facts()).toEqual(facts);
  });
});

it('a home that was being made goes at the next start, and stays when something lies in it', async (context) => {
  const { storage, daemon } = await withUsers(context, ['ada']);
  await daemon.service.close(0);
  const made = ['empty', 'used'].map((user) => `${storage.pool}/USERDATA/${user}_abcdef`);
  for (const [at, user] of ['empty', 'used'].entries())
    storage.zfs('create', '-o', `mountpoint=/home/${user}`, '-o', 'croft:making=yes', made[at] as string);
  writeFileSync(join(storage.homesFolder, 'used/file'), 'precious');
  const again = await daemonOn(storage);
  expect(storage.zfs('list', '-H', '-o', 'name').split('\n')).not.toContain(made[0]);
  expect(readFileSync(join(storage.homesFolder, 'used/file'), 'utf8')).toBe('precious');
  const homepath = join(storage.homesFolder, 'empty');
  expect((await again.call('CreateUserData', { user: 'empty', homepath })).code).toBe(0);
});

describe('what was mounted over a home', () => {
  it.for([
    ['in its place', 'ada'],
    ['over the folder that it lies in', '.'],
  ] as const)('%s is not emptied with it', async ([, at], context) => {
    const { storage, daemon } = await withUsers(context, ['ada']);
    mountOver(join(storage.homesFolder, at));
    mkdirSync(join(storage.homesFolder, 'ada'), { recursive: true });
    writeFileSync(fileOf(storage, 'ada'), 'of somebody else');
    const answer = await daemon.call('DissociateUser', { user: 'ada', removeHome: true });
    expect(answer.lines.join('\n')).toContain('shows something else than');
    expect(readFileSync(fileOf(storage, 'ada'), 'utf8')).toBe('of somebody else');
    run('umount', join(storage.homesFolder, at));
    expect(readFileSync(fileOf(storage, 'ada'), 'utf8')).toBe('of ada');
  });
});

describe('a property that holds lines', () => {
  it.for(['1', '1\tlocal'])('is not taken for the properties of others (%j)', async (value, context) => {
    const { storage, daemon } = await withUsers(context, ['ada', 'eve']);
    await daemon.call('DissociateUser', { user: 'ada', removeHome: false });
    await daemon.service.close(0);
    const [ada, eve] = [datasetOf(storage, 'ada'), datasetOf(storage, 'eve')];
    storage.zfs('set', `croft:turn=${value}\n${ada}\tcroft:emptying\tyes\tlocal`, eve);
    const facts = await storage.facts();
    await expect(daemonOn(storage)).rejects.toThrow(/cannot be read: one has a line break/);
    expect(readFileSync(fileOf(storage, 'ada'), 'utf8')).toBe('of ada');
    expect(await storage.facts()).toEqual(facts);
    storage.zfs('inherit', 'croft:turn', eve);
    await daemonOn(storage);
    expect(readFileSync(fileOf(storage, 'ada'), 'utf8')).toBe('of ada');
  });
});

describe('a home of several datasets', () => {
  it('moves with all that is mounted in it', async (context) => {
    const { storage, daemon } = await withUsers(context, ['ada']);
    const { zfs, pool, root, homesFolder } = storage;
    const [from, to] = [join(homesFolder, 'ada'), join(homesFolder, 'eva')];
    const mail = `${pool}/USERDATA/ada_mail01`;
    zfs('create', '-o', 'mountpoint=/home/ada/mail', mail);
    for (const [property, value] of [
      ['user', 'ada'],
      ['links', root],
    ])
      zfs('set', `croft:${property}=${value}`, mail);
    zfs('create', `${mail}/old`);
    for (const name of ['mail/new', 'mail/old/letter']) writeFileSync(join(from, name), name);
    await daemon.call('Refresh');
    expect(await daemon.call('ChangeHomeOnUserData', { home: from, newHome: to })).toMatchObject({ code: 0 });
    for (const name of ['mail/new', 'mail/old/letter'])
      expect(readFileSync(join(to, name), 'utf8')).toBe(name);
    expect(existsSync(from)).toBe(false);
    const places = zfs('list', '-H', '-o', 'mounted,mountpoint', '-r', `${pool}/USERDATA`);
    expect(places.match(/yes\t.*\/home\/eva/g)).toHaveLength(3);
    // One that cannot be moved keeps all of it where it is.
    zfs('create', '-o', 'mountpoint=/home/eva/theirs', '-o', 'croft:managed=no', `${pool}/theirs`);
    const facts = await storage.facts();
    expect((await daemon.call('ChangeHomeOnUserData', { home: to, newHome: from })).code).toBe(9);
    expect(await storage.facts()).toEqual(facts);
    for (const name of ['mail/new', 'mail/old/letter'])
      expect(readFileSync(join(to, name), 'utf8')).toBe(name);
  });

  it.for([
    { killed: 'before anything was moved', moved: [] as string[] },
    { killed: 'half-way', moved: ['ada'] },
    { killed: 'before what was unmounted was mounted again', moved: ['ada', 'mail'] },
  ])('whose move was interrupted $killed is whole after the next start', async ({ moved }, context) => {
    const { storage, daemon } = await withUsers(context, ['ada']);
    const { zfs, pool, root, homesFolder } = storage;
    const home = datasetOf(storage, 'ada');
    const mail = `${pool}/USERDATA/ada_mail01`;
    zfs('create', '-o', 'mountpoint=/home/ada/m', '-o', 'croft:user=ada', '-o', `croft:links=${root}`, mail);
    for (const name of ['file', 'm/letter']) writeFileSync(join(homesFolder, 'ada', name), name);
    await daemon.service.close(0);
    zfs('set', 'croft:moving=/home/ada', home);
    zfs('unmount', mail);
    if (moved.includes('ada')) {
      zfs('unmount', home);
      zfs('set', 'mountpoint=/home/evangeline', home);
    }
    if (moved.includes('mail')) zfs('set', 'mountpoint=/home/evangeline/m', mail);
    const again = await daemonOn(storage);
    const to = join(homesFolder, moved.length > 0 ? 'evangeline' : 'ada');
    for (const name of ['file', 'm/letter']) expect(readFileSync(join(to, name), 'utf8')).toBe(name);
    expect((await again.dump()).homes).toMatchObject([{ user: 'ada', path: to }]);
    expect((await storage.facts()).filter((line) => line.includes('croft:moving'))).toEqual([]);
    // And it can be moved.
    const back = { home: to, newHome: join(homesFolder, 'back') };
    expect(await again.call('ChangeHomeOnUserData', back)).toMatchObject({ code: 0 });
    expect(readFileSync(join(homesFolder, 'back', 'm/letter'), 'utf8')).toBe('m/letter');
  });

  it('whose move cannot be finished keeps nobody from starting, and is finished later', async (context) => {
    const { storage, daemon } = await withUsers(context, ['ada']);
    const { zfs, pool, root, homesFolder } = storage;
    const home = datasetOf(storage, 'ada');
    const mail = `${pool}/USERDATA/ada_mail01`;
    zfs('create', '-o', 'mountpoint=/home/ada/m', '-o', 'croft:user=ada', '-o', `croft:links=${root}`, mail);
    writeFileSync(join(homesFolder, 'ada/m/letter'), 'letter');
    await daemon.service.close(0);
    zfs('set', 'croft:moving=/home/ada', home);
    zfs('unmount', mail);
    zfs('set', 'mountpoint=/home/eva', home);
    const facts = await storage.facts();
    const search = otherZfs(`case "$1 $2" in 'set mountpoint='*) echo out of luck >&2; exit 1;; esac`);
    const unable = await daemonOn(storage, { settings: { STATESVC_SEARCH_PATH: search } });
    expect(await storage.facts()).toEqual(facts);
    expect(await unable.save('meanwhile')).toBe('meanwhile');
    await unable.service.close(0);
    await daemonOn(storage);
    expect(readFileSync(join(homesFolder, 'eva/m/letter'), 'utf8')).toBe('letter');
    expect((await storage.facts()).filter((line) => line.includes('croft:moving'))).toEqual([]);
  });

  it('is compared with what is there now', async (context) => {
    const { storage, daemon } = await withUsers(context, ['ada']);
    await daemon.save('before');
    const { member } = await memberOf(daemon, 'before', 'ada');
    writeFileSync(join(storage.homesFolder, 'ada', 'more'), '');
    const answer = await callExtra(daemon, 'Diff', { stateName: 'before', userName: 'ada' });
    expect(answer).toMatchObject({ code: 0, order: ['changes', 'summary'] });
    expect(answer.results[0]?.['changes']).toMatchObject({
      dataset: member.dataset,
      changes: [{ path: 'more', kind: 'DIFF_KIND_ADDED' }],
    });
    // Also where its path is written otherwise in the model than it is.
    const odd = join(storage.homesFolder, '100%');
    await daemon.call('CreateUserData', { user: 'eve', homepath: odd });
    await daemon.save('odd');
    writeFileSync(join(odd, 'more'), '');
    const other = await callExtra(daemon, 'Diff', { stateName: 'odd', userName: 'eve' });
    expect(other.results[0]?.['changes']).toMatchObject({ changes: [{ path: 'more' }] });
    mountOver(join(storage.homesFolder, 'ada'));
    expect(await callExtra(daemon, 'Diff', { stateName: 'before', userName: 'ada' })).toMatchObject({
      code: 9,
      order: [],
    });
  });
});

it('asks again what zfs it is when it got no answer', async (context) => {
  const storage = await poolFor(context);
  const flag = join(storage.base, 'hangs');
  const search = otherZfs(`if [ -e ${flag} ] && [ "$1" = version ]; then exec sleep 600; fi`);
  const settings = { STATESVC_SEARCH_PATH: search, STATESVC_ZFS_TIMEOUT: '1' };
  const daemon = await daemonOn(storage, { settings });
  writeFileSync(flag, '');
  const facts = await storage.facts();
  expect(await daemon.call('SaveSystemState', { stateName: 'hangs' })).toMatchObject({ code: 14 });
  expect(await storage.facts()).toEqual(facts);
  run('rm', flag);
  expect(await daemon.save('works')).toBe('works');
});

it('a second daemon that is refused changes nothing', async (context) => {
  const { storage, daemon } = await withUsers(context, []);
  await daemon.save('one');
  const { member } = await memberOf(daemon, 'one');
  // What the first one looks into a state with.
  const view = `${storage.pool}/croft_view_0123456789ab`;
  storage.zfs('clone', '-o', 'mountpoint=none', '-o', 'croft:view=yes', member.snapshot, view);
  const facts = await storage.facts();
  const second = startDaemon({ folder: join(temporaryFolder(), 'state'), settings: storage.settings });
  await expect(second).rejects.toThrow('by the lock');
  expect(await storage.facts()).toEqual(facts);
  await daemon.service.close(0);
  await daemonOn(storage);
  expect(storage.zfs('list', '-H', '-o', 'name')).not.toContain(view);
});
