import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { diskFolder, hasProgram, skipWithout, withOwnMounts } from '@croft/testing';
import { expect, it, onTestFinished, type TestContext, vi } from 'vitest';
import { callAt, type Dump } from './daemon.ts';
import { type BtrfsImage, missingForBtrfs, openBtrfs, run } from './drivers/btrfs-image.ts';

// A machine whose root is a subvolume, as far as there can be one without booting: a mount namespace and a changed root in which
// `/` is what the kernel would have mounted.

const REPOSITORY = join(import.meta.dirname, '../../..');
/** What a daemon needs of the host that runs the test; the rest is the machine's own. */
const SHOWN = [
  '/usr',
  '/lib',
  '/lib64',
  '/bin',
  '/sbin',
  '/dev',
  '/proc',
  '/opt',
  dirname(process.execPath),
  REPOSITORY,
];
const STATE = '/var/lib/croft/state';
const MOUNTS = `for shown in "$@"; do [ ! -e "$shown" ] || { mkdir -p "$ROOT$shown"; mount --rbind "$shown" "$ROOT$shown"; }; done
mkdir -p "$ROOT/home"; mount -o subvol=@home "$DEVICE" "$ROOT/home"
exec chroot "$ROOT" "$NODE" "$SCRIPT" ${STATE} /nonexistent "$SETTINGS"`;

/** Boots a machine from a subvolume: its daemon runs when this returns. */
async function boot(
  storage: BtrfsImage,
  subvolume: string,
  commandLine: string,
  more: Readonly<Record<string, string>> = {},
) {
  const root = join(storage.base, `root-${Math.random().toString(36).slice(2)}`);
  mkdirSync(root);
  run('mount', '-o', `subvol=${subvolume}`, storage.device, root);
  mkdirSync(join(root, 'etc'), { recursive: true });
  for (const [name, text] of [
    ['cmdline', commandLine],
    ['boot_id', root],
  ] as const)
    writeFileSync(join(root, 'etc', name), text);
  for (const kernel of ['boot/vmlinuz-6.1', 'boot/grub/grub.cfg']) {
    mkdirSync(dirname(join(root, kernel)), { recursive: true });
    writeFileSync(join(root, kernel), '');
  }
  const settings = {
    STATESVC_STORAGE: 'auto',
    STATESVC_CMDLINE_FILE: '/etc/cmdline',
    STATESVC_BOOT_ID_FILE: '/etc/boot_id',
    ...more,
  };
  const [unshare = '', ...own] = withOwnMounts(MOUNTS);
  const child: ChildProcess = spawn(unshare, [...own, ...new Set(SHOWN)], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      ...process.env,
      ROOT: root,
      DEVICE: storage.device,
      NODE: process.execPath,
      SCRIPT: join(import.meta.dirname, 'daemon-process.ts'),
      SETTINGS: JSON.stringify(settings),
    },
  });
  const exited = once(child, 'exit');
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (data) => (said += String(data)));
  const stop = async () => {
    child.kill('SIGKILL');
    await exited;
  };
  onTestFinished(stop);
  // What it logs comes before its address.
  const started = await Promise.race([
    vi.waitFor(() => expect(said).toMatch(/^unix:/m), { timeout: 40_000 }).then(() => true),
    exited.then(() => undefined),
  ]);
  if (started === undefined) throw new Error(`the daemon did not start: ${said}`);
  const address = `unix:${root}${STATE}/statesvc.sock`;
  const must = async (operation: string, request: object = {}) => {
    const answer = await callAt(address, operation, request);
    expect([operation, answer]).toEqual([operation, expect.objectContaining({ code: 0 })]);
    return answer;
  };
  return {
    root,
    must,
    said: () => said,
    read: (path: string) => readFileSync(join(root, path), 'utf8'),
    write: (path: string, text: string) => writeFileSync(join(root, path), text),
    dump: async () =>
      JSON.parse((await must('DumpStates')).results.map(({ states }) => states).join('')) as Dump,
    async shutDown() {
      await must('DaemonStop');
      await exited;
      run('umount', root);
    },
  };
}

async function disk(context: TestContext): Promise<BtrfsImage> {
  const missing = missingForBtrfs() ?? ['unshare', 'chroot', 'perl'].find((name) => !hasProgram(name));
  if (missing !== undefined) skipWithout(context, missing);
  // Below /dev, which the machine gets as it is, it would see the disk mounted.
  const storage = await openBtrfs({ parent: diskFolder });
  onTestFinished(() => storage.close());
  run('umount', storage.systemPath, storage.homesFolder);
  return storage;
}

async function machine(context: TestContext) {
  const storage = await disk(context);
  const first = await boot(storage, '@', 'root=UUID=1 ro rootflags=subvol=@');
  await first.must('CreateUserData', { user: 'ada', homepath: '/home/ada' });
  writeFileSync(join(storage.root, '@home/ada/file'), 'good');
  first.write('etc/release', 'good');
  run('btrfs', 'subvolume', 'create', join(first.root, 'var/machines'));
  writeFileSync(join(first.root, 'var/machines/file'), 'precious');
  await first.must('SaveSystemState', { stateName: 'good', updateBootMenu: true });
  const { machines, homes, storage: kept } = await first.dump();
  expect(machines[0]).toMatchObject({ id: 'btrfs:@', datasets: [{ path: '/' }] });
  expect(homes).toMatchObject([{ user: 'ada', path: '/home/ada' }]);
  // Nobody mounted the top level, so the daemon did, and takes it away again.
  expect(kept).toEqual({ driver: 'btrfs', location: `${STATE}/btrfs` });
  first.write('etc/release', 'bad');
  writeFileSync(join(storage.root, '@home/ada/file'), 'bad');
  return { storage, first, id: machines[0]?.states.find(({ user }) => user === null)?.id as string };
}

it('a machine that boots a state from its menu goes on in it', async (context) => {
  const { storage, first, id } = await machine(context);
  const menu = first.read('boot/grub/croft.cfg');
  // To GRUB subvolumes are folders; and the kernel mounts a copy of the state that can be written to.
  expect(menu).toContain(
    `linux '/@/boot/vmlinuz-6.1' 'root=UUID=1' 'ro' 'rootflags=subvol=@states/boot/${id}'`,
  );
  await first.shutDown();
  const line = `root=UUID=1 ro rootflags=subvol=@states/boot/${id} statesvc.state=${id}`;
  const second = await boot(storage, `@states/boot/${id}`, line);
  expect(second.read('etc/release')).toBe('good');
  second.write('etc/since', 'written in this boot');
  expect(await second.must('PrepareBoot')).toMatchObject({ results: [{ changed: true }] });
  expect(await second.must('PrepareBoot')).toMatchObject({ results: [{ changed: false }] });
  expect(await second.must('CommitBoot')).toMatchObject({ results: [{ changed: true }] });
  // What it runs on is what every boot from now on runs on, without another one in between.
  expect(readFileSync(join(storage.root, '@/etc/since'), 'utf8')).toBe('written in this boot');
  expect(second.read('var/machines/file')).toBe('precious');
  expect(readFileSync(join(storage.root, '@home/ada/file'), 'utf8')).toBe('bad');
  expect(readdirSync(join(storage.root, '@states/work'))).toEqual([]);
  const states = (await second.dump()).machines[0]?.states ?? [];
  const before = states.find(({ name, user }) => name.startsWith('auto_') && user === null);
  expect(readFileSync(join(storage.root, before?.members[0]?.snapshot ?? '', 'etc/release'), 'utf8')).toBe(
    'bad',
  );
  await second.shutDown();
  const third = await boot(storage, '@', 'root=UUID=1 ro rootflags=subvol=@');
  expect([third.read('etc/release'), third.read('etc/since')]).toEqual(['good', 'written in this boot']);
  expect(await third.must('PrepareBoot')).toMatchObject({ results: [{ changed: false }] });
  // The menu names what was before, too, and a copy that a boot has written to is made anew.
  await third.must('UpdateBootMenu');
  expect(third.read('boot/grub/croft.cfg')).toContain(`subvol=@states/boot/${before?.id}`);
  await third.must('RemoveSystemState', { stateName: 'good' });
  expect(readdirSync(join(storage.root, '@states/boot'))).toEqual([before?.id]);
  await third.shutDown();
});

it('a machine that is told of a state by words alone runs on it after one more boot', {
  timeout: 150_000,
}, async (context) => {
  const { storage, first, id } = await machine(context);
  await first.shutDown();
  const second = await boot(storage, '@', `root=UUID=1 ro statesvc.state=${id} statesvc.revert=userdata`);
  const { lines, results } = await second.must('PrepareBoot');
  expect(results).toEqual([{ changed: true }]);
  expect(lines.join('\n')).toMatch(/^warning: this machine runs on what it was before until the next boot$/m);
  // It runs on what it was, which is kept until nothing runs on it.
  expect(second.read('etc/release')).toBe('bad');
  expect(readdirSync(join(storage.root, '@states/work'))).toHaveLength(1);
  expect(readFileSync(join(storage.root, '@home/ada/file'), 'utf8')).toBe('good');
  await second.shutDown();
  const third = await boot(storage, '@', 'root=UUID=1 ro rootflags=subvol=@');
  expect(third.read('etc/release')).toBe('good');
  expect(third.read('var/machines/file')).toBe('precious');
  expect(readdirSync(join(storage.root, '@states/work'))).toEqual([]);
  expect(await third.must('CommitBoot')).toMatchObject({ results: [{ changed: true }] });
  await third.shutDown();
});

it('what a boot wrote to a copy that did not become the machine is kept', {
  timeout: 150_000,
}, async (context) => {
  const { storage, first, id } = await machine(context);
  await first.shutDown();
  const copies = join(storage.root, '@states/boot');
  const second = await boot(storage, `@states/boot/${id}`, 'root=UUID=1 ro');
  second.write('etc/since', 'a day of work');
  await second.shutDown();
  // Somebody else's, under no name and under a name of ours.
  const foreign = ['of-somebody', '11111111-1111-4111-8111-111111111111'];
  for (const name of foreign) run('btrfs', 'subvolume', 'create', join(copies, name));
  const third = await boot(storage, '@', 'root=UUID=1 ro rootflags=subvol=@');
  const { lines } = await third.must('UpdateBootMenu');
  const [aside = ''] = readdirSync(copies).filter((name) => name.includes('.written-'));
  expect(lines.join('\n')).toContain(`warning: what a boot wrote to the copy @states/boot/${id} is kept in`);
  expect(lines.join('\n')).toContain(aside);
  expect(readFileSync(join(copies, aside, 'etc/since'), 'utf8')).toBe('a day of work');
  expect(readdirSync(join(copies, id, 'etc'))).not.toContain('since');
  // The same when the state goes while nothing names the copy, and when the storage is read anew.
  writeFileSync(join(copies, id, 'etc/late'), 'written a moment ago');
  await third.must('RemoveSystemState', { stateName: 'good' });
  await third.must('Refresh');
  expect(readdirSync(copies).sort()).toEqual([...foreign, id, aside].sort());
  expect(readFileSync(join(copies, id, 'etc/late'), 'utf8')).toBe('written a moment ago');
  expect(third.said()).toContain(`the copy @states/boot/${id} of a state that is gone is kept`);
  await third.shutDown();
});

it('the system is what runs, whatever else lies on the disk', async (context) => {
  const storage = await disk(context);
  const at = (path: string) => join(storage.root, path);
  mkdirSync(at('@/etc'));
  writeFileSync(at('@/etc/release'), 'debian');
  run('btrfs', 'subvolume', 'create', at('fedora'));
  const first = await boot(storage, 'fedora', 'root=UUID=1 ro rootflags=subvol=fedora');
  first.write('etc/release', 'fedora');
  await first.must('SaveSystemState', { stateName: 'good', updateBootMenu: true });
  const { machines } = await first.dump();
  expect(machines).toMatchObject([{ id: 'btrfs:fedora', datasets: [{ path: '/' }] }]);
  const [state] = machines[0]?.states ?? [];
  expect(readFileSync(at(`${state?.members[0]?.snapshot}/etc/release`), 'utf8')).toBe('fedora');
  await first.shutDown();

  const list = () => [
    run('btrfs', 'subvolume', 'list', '-u', storage.root).replaceAll(/ gen \d+/g, ''),
    readdirSync(at('@states/records')),
  ];
  const before = list();
  const copy = `@states/boot/${state?.id}`;
  for (const subvolume of ['fedora', copy])
    await expect(boot(storage, subvolume, 'ro', { STATESVC_BTRFS_SYSTEM: '@' })).rejects.toThrow(
      'STATESVC_BTRFS_SYSTEM=@: this machine runs from the subvolume fedora',
    );
  expect(list()).toEqual(before);

  run('btrfs', 'subvolume', 'delete', at('@'));
  for (const subvolume of ['fedora', copy]) {
    const next = await boot(storage, subvolume, 'ro');
    expect((await next.dump()).machines).toMatchObject([{ id: 'btrfs:fedora', states: [{ name: 'good' }] }]);
    await next.shutDown();
  }
});

it('a machine that runs from the top level keeps its states in the vault, and says so', {
  timeout: 150_000,
}, async (context) => {
  const storage = await disk(context);
  await expect(boot(storage, '/', 'ro', { STATESVC_STORAGE: 'btrfs' })).rejects.toThrow(
    'runs from the top level',
  );
  const machine = await boot(storage, '/', 'ro', { STATESVC_VAULT_SYSTEM: '/etc' });
  expect((await machine.dump()).storage.driver).toBe('vault');
  expect(machine.said()).toMatch(/states are kept in the vault: .+ runs from the top level/);
  expect(readdirSync(storage.root)).not.toContain('@states');
  await machine.shutDown();
});
