import { chmodSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { type Daemon, temporaryFolder } from './daemon.ts';
import { type BtrfsImage, btrfs, run } from './drivers/btrfs-image.ts';
import { memberOf, openHost, statesOf } from './drivers/fixture.ts';
import { daemonOn, poolFor } from './drivers/zfs-daemon.ts';
import { useZfs } from './drivers/zfs-pool.ts';
import { ZFS_PATH } from './drivers/zfs-programs.ts';

useZfs();

// What an operation costs is what it starts: a program takes as long as the step that it is for.

function writeProgram(file: string, script: string): void {
  writeFileSync(file, `#!/bin/sh\n${script}\n`);
  chmodSync(file, 0o755);
}

/** A search path in which a program writes down its arguments first, and what it was asked since the last look. */
function counted(name: string, words: number) {
  const folder = temporaryFolder();
  const [file, log] = [join(folder, name), join(folder, 'log')];
  writeProgram(file, `echo "$${words}" >> ${log}\nPATH=${ZFS_PATH} exec ${name} "$@"`);
  const asked = () => {
    const text = existsSync(log) ? readFileSync(log, 'utf8') : '';
    rmSync(log, { force: true });
    return text.split('\n').filter(Boolean).sort();
  };
  return { folder, search: `${folder}:${ZFS_PATH}`, asked };
}

const remove = async (daemon: Daemon, stateName: string) =>
  expect((await daemon.call('RemoveSystemState', { stateName })).code).toBe(0);

/** How the kernel is asked for snapshots on btrfs: `perl` is a script in its place. */
const ways: readonly { way: string; perl?: string; save: string[]; deletion: string[] }[] = [
  { way: 'by calls of the kernel', save: [], deletion: [] },
  {
    way: 'by programs where Perl cannot be started',
    perl: 'exit 1',
    save: ['list', 'snapshot', 'snapshot'],
    deletion: ['delete'],
  },
];

it.for(ways)(
  'btrfs lists subvolumes once in a save at most, and in a removal only what it does not know, $way',
  async ({ perl, save, deletion }, context) => {
    const { storage, start } = await openHost(context, btrfs);
    const { folder, search, asked } = counted('btrfs', 2);
    if (perl !== undefined) writeProgram(join(folder, 'perl'), perl);
    const open = () => start({ settings: { STATESVC_SEARCH_PATH: search } });
    const daemon = await open();
    const { homesFolder } = storage as BtrfsImage;
    await daemon.call('CreateUserData', { user: 'ada', homepath: join(homesFolder, 'ada') });
    asked();
    await daemon.save('one');
    expect(asked()).toEqual(save);
    await remove(daemon, 'one');
    expect(asked()).toEqual(deletion);
    for (const name of ['two', 'three']) await daemon.save(name);
    const saved = await statesOf(daemon);
    await daemon.service.close(0);
    const next = await open();
    // What lies there has the uuids that were written down.
    expect(await statesOf(next)).toEqual(saved);
    expect(saved.some(({ partial }) => partial)).toBe(false);
    asked();
    await remove(next, 'two');
    expect(asked()).toEqual([...deletion, 'list']);
  },
);

it('btrfs lists subvolumes when some lie in what is saved', async (context) => {
  const { storage, start } = await openHost(context, btrfs);
  const { search, asked } = counted('btrfs', 2);
  const daemon = await start({ settings: { STATESVC_SEARCH_PATH: search } });
  run('btrfs', 'subvolume', 'create', join(storage.systemPath, 'machines'));
  asked();
  const { lines } = await daemon.call('SaveSystemState', { stateName: 'one' });
  expect(lines.join('\n')).toContain('machines is a subvolume of its own and was left out');
  expect(asked()).toEqual(['list']);
});

it('what tells the daemon to end, and reaches its Perl as well, ends no save', async (context) => {
  const { start } = await openHost(context, btrfs);
  const { search, asked } = counted('btrfs', 2);
  const daemon = await start({ settings: { STATESVC_SEARCH_PATH: search } });
  const [pid = 0] = childrenOf(process.pid, 'perl');
  // It listens by then.
  await daemon.save('one');
  asked();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.kill(pid, signal);
  expect(await daemon.save('two')).toBe('two');
  expect(asked()).toEqual([]);
  await daemon.service.close(0);
  await expect.poll(() => childrenOf(process.pid, 'perl')).toEqual([]);
});

/** Processes of that name that one has started. */
function childrenOf(parent: number, name: string): number[] {
  const children = readFileSync(`/proc/${parent}/task/${parent}/children`, 'utf8').trim().split(' ');
  return children
    .filter(Boolean)
    .map(Number)
    .filter((pid) => nameOf(pid) === name);
}

function nameOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/comm`, 'utf8').trim();
  } catch {
    // It has just ended.
    return '';
  }
}

it('a Perl that ends in the middle of a call costs that call, and nothing is left of it', async (context) => {
  const { storage, start } = await openHost(context, btrfs);
  const { folder, search, asked } = counted('btrfs', 2);
  writeProgram(join(folder, 'perl'), 'echo ready; read line; exit 1');
  const daemon = await start({ settings: { STATESVC_SEARCH_PATH: search } });
  const before = await storage.facts();
  const answer = await daemon.call('SaveSystemState', { stateName: 'one' });
  expect(answer).toMatchObject({ code: 9, results: [], details: expect.stringContaining('perl ended') });
  expect(await storage.facts()).toEqual(before);
  expect(await statesOf(daemon)).toEqual([]);
  asked();
  expect(await daemon.save('one')).toBe('one');
  expect(asked()).toEqual(['list', 'snapshot']);
});

it('ZFS reads once what lies where when the daemon starts, and again only after it put something right', async (context) => {
  const storage = await poolFor(context);
  const { search, asked } = counted('zfs', 1);
  const open = () => daemonOn(storage, { settings: { STATESVC_SEARCH_PATH: search } });
  const first = await open();
  await first.call('CreateUserData', { user: 'ada', homepath: join(storage.homesFolder, 'ada') });
  await first.save('one');
  const saved = await statesOf(first);
  await first.service.close(0);
  asked();
  const second = await open();
  // Whose pool it is, what lies where, and the snapshots.
  expect(asked()).toEqual(['get', 'get', 'get', 'list', 'list']);
  expect(await statesOf(second)).toEqual(saved);
  await second.service.close(0);
  const view = `${storage.pool}/croft_view_0123456789ab`;
  storage.zfs('create', '-o', 'mountpoint=none', '-o', 'croft:view=yes', view);
  asked();
  const third = await open();
  expect(asked()).toEqual(['destroy', ...Array(5).fill('get'), ...Array(3).fill('list')]);
  expect(await statesOf(third)).toEqual(saved);
  expect(storage.zfs('list', '-H', '-o', 'name')).not.toContain(view);
});

it('ZFS reads before and after what it changes, and no more', async (context) => {
  const storage = await poolFor(context);
  for (const name of ['var', 'var/log', 'srv']) storage.zfs('create', `${storage.root}/${name}`);
  const { search, asked } = counted('zfs', 1);
  const daemon = await daemonOn(storage, { settings: { STATESVC_SEARCH_PATH: search } });
  await daemon.call('CreateUserData', { user: 'ada', homepath: join(storage.homesFolder, 'ada') });
  await daemon.save('one');
  asked();
  await daemon.save('two');
  // Pruning what is not ours is zfs-fuse's only.
  expect(asked().filter((word) => word !== 'destroy')).toEqual([
    'get',
    'get',
    'get',
    'list',
    'set',
    'snapshot',
  ]);
  await remove(daemon, 'two');
  // Four of the system and one home, the first alone; never `-r`, which takes what others made.
  expect(asked()).toEqual([...Array(5).fill('destroy'), 'get', 'get', 'get', 'list']);
  // Of what somebody else took under the same name nothing goes.
  const end = (await memberOf(daemon, 'one')).member.snapshot.split('@')[1];
  storage.zfs('create', `${storage.root}/later`);
  storage.zfs('snapshot', `${storage.root}/later@${end}`);
  await remove(daemon, 'one');
  expect(storage.zfs('list', '-H', '-r', '-t', 'snapshot', '-o', 'name', storage.pool).trim()).toBe(
    `${storage.root}/later@${end}`,
  );
});
