import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { hasProgram, skipWithout } from '@croft/testing';
import { expect, it, type TestContext } from 'vitest';
import { type Daemon, temporaryFolder, treeFacts } from './daemon.ts';
import { statesOf } from './drivers/fixture.ts';
import { bootPartition, environment, fillBoot, GRUB_CFG } from './drivers/grub-boot.ts';
import { daemonOn, otherZfs, poolFor } from './drivers/zfs-daemon.ts';
import { useZfs } from './drivers/zfs-pool.ts';
import { run, ZFS_PATH } from './drivers/zfs-programs.ts';
import { callExtra } from './extras-client.ts';

useZfs();

// A root on ZFS that runs is not exchanged, so the boot loader is asked to start the state, once.

/** A search path in which GRUB's environment cannot be written. @param words what the editor has to be given to fail */
function brokenEditor(words = ''): string {
  const folder = temporaryFolder();
  const script = `#!/bin/sh
case "$*" in *'${words}'*) echo out of luck >&2; exit 1;; esac
PATH=/usr/sbin:/usr/bin:/sbin:/bin exec grub-editenv "$@"
`;
  writeFileSync(join(folder, 'grub-editenv'), script, { mode: 0o755 });
  return `${folder}:${ZFS_PATH}`;
}

/** The words that GRUB would give the kernel for the entry it is to boot next, which it strikes out before. */
function bootNext(folder: string): string {
  const wanted = environment(folder).find((line) => line.startsWith('next_entry='));
  run('grub-editenv', join(folder, 'grub/grubenv'), 'unset', 'next_entry');
  const [, submenu, id] = /^next_entry=([^>]+)>(.+)$/.exec(wanted ?? '') ?? [];
  const menu = readFileSync(join(folder, 'grub/croft.cfg'), 'utf8');
  expect(menu).toContain(`submenu 'Earlier states' --id '${submenu}' {`);
  const entry = menu.split('menuentry ').find((each) => each.includes(`--id '${id}' {`));
  const [, words] = /^ +linux '[^']+' (.*)$/m.exec(entry ?? '') ?? [];
  return words?.replaceAll("'", '') ?? '';
}

/** A machine with ada's home, the state `good` of both, and something bad in both since. */
async function machine(context: TestContext) {
  if (!hasProgram('grub-editenv')) skipWithout(context, 'grub-editenv (apt install grub-common)');
  const storage = await poolFor(context);
  const [cmdline, bootId] = [join(storage.base, 'cmdline'), join(storage.base, 'boot_id')];
  const partition = bootPartition(join(temporaryFolder(), 'boot'));
  const restart = (settings: Record<string, string> = {}): Promise<Daemon> =>
    daemonOn(storage, {
      settings: {
        STATESVC_CMDLINE_FILE: cmdline,
        STATESVC_BOOT_ID_FILE: bootId,
        STATESVC_BOOT_LOADER: 'grub',
        STATESVC_BOOT_FOLDER: partition,
        ...settings,
      },
    });
  const boot = (words: string, settings: Record<string, string> = {}): Promise<Daemon> => {
    writeFileSync(cmdline, `BOOT_IMAGE=/vmlinuz-6.1.0 ${words}\n`);
    writeFileSync(bootId, randomUUID());
    return restart(settings);
  };
  const normal = `root=ZFS=${storage.root} ro quiet`;
  const daemon = await boot(normal);
  const home = join(storage.homesFolder, 'ada');
  const files = [join(storage.systemPath, 'file'), join(home, 'file')];
  await daemon.call('CreateUserData', { user: 'ada', homepath: home });
  for (const file of files) writeFileSync(file, 'good');
  await daemon.save('good');
  for (const file of files) writeFileSync(file, 'bad');
  const now = () => files.map((file) => readFileSync(file, 'utf8'));
  return { storage, daemon, boot, restart, normal, partition, now };
}

const next = async (daemon: Daemon) => (await daemon.dump()).machines[0]?.nextState ?? null;

it('has GRUB start the state at the next boot, which goes back, and no boot after it', async (context) => {
  const { storage, daemon, boot, restart, partition, now } = await machine(context);
  const answer = await callExtra(daemon, 'RequestRevert', { stateName: 'good' });
  expect(answer).toMatchObject({ code: 0, results: [] });
  expect(answer.lines.at(-1)).toContain('the next boot goes back to');
  expect((await daemon.call('RemoveSystemState', { stateName: 'good', force: true })).code).toBe(9);
  await daemon.service.close(0);
  const words = bootNext(partition);
  expect(words).toMatch(/^ro quiet root=ZFS=\S+@croft_good_\w+$/);
  const second = await boot(words);
  expect(await second.call('PrepareBoot')).toMatchObject({ code: 0, results: [{ changed: true }] });
  await second.service.close(0);
  await storage.reopen();
  expect(now()).toEqual(['good', 'bad']);
  const arrived = await restart();
  expect([await next(arrived), environment(partition)]).toEqual([null, ['saved_entry=0']]);
  expect((await arrived.call('CommitBoot')).results).toEqual([{ changed: true }]);
  await arrived.service.close(0);
  const head = storage.zfs('list', '-H', '-r', '-o', 'name', storage.pool).match(/^\S+_[0-9a-f]{6}$/m)?.[0];
  const third = await boot(`root=ZFS=${head} ro quiet`);
  expect((await third.call('PrepareBoot')).results).toEqual([{ changed: false }]);
  expect(now()).toEqual(['good', 'bad']);
  // Nor is it left on the root in which it was asked for.
  expect(storage.zfs('get', '-H', '-o', 'value', 'croft:next', storage.root).trim()).toBe('-');
});

it('takes homes along when asked to', async (context) => {
  const { storage, daemon, boot, partition, now } = await machine(context);
  await callExtra(daemon, 'RequestRevert', { stateName: 'good', users: true });
  await daemon.service.close(0);
  const second = await boot(bootNext(partition));
  expect(await second.call('PrepareBoot')).toMatchObject({ code: 0, results: [{ changed: true }] });
  await second.service.close(0);
  await storage.reopen();
  expect(now()).toEqual(['good', 'good']);
});

it('leaves no mark when ZFS tells that as failed which it did', async (context) => {
  const { storage, daemon, restart, partition } = await machine(context);
  await daemon.service.close(0);
  const once = join(storage.base, 'once');
  const lies = `if [ ! -e ${once} ]; then case "$*" in 'set croft:next='*) touch ${once}; PATH=${ZFS_PATH} zfs "$@"; echo out of luck >&2; exit 1;; esac; fi`;
  const second = await restart({ STATESVC_SEARCH_PATH: otherZfs(lies) });
  const before = await storage.facts();
  expect(await callExtra(second, 'RequestRevert', { stateName: 'good' })).toMatchObject({
    code: 9,
    details: expect.stringContaining('out of luck'),
  });
  expect([existsSync(once), await storage.facts(), await next(second)]).toEqual([true, before, null]);
  expect(environment(partition)).toEqual(['saved_entry=0']);
  expect((await callExtra(second, 'RequestRevert', { stateName: 'good' })).code).toBe(0);
});

it('is taken back where nobody else asked for something', async (context) => {
  const { daemon, partition } = await machine(context);
  const good = (await statesOf(daemon)).find(({ user }) => user === null)?.id;
  await daemon.save('later');
  const later = (await statesOf(daemon)).find(({ name, user }) => name === 'later' && user === null)?.id;
  for (const [stateName, id] of [
    ['good', good],
    ['later', later],
  ]) {
    expect((await callExtra(daemon, 'RequestRevert', { stateName })).code).toBe(0);
    expect(environment(partition)).toEqual(['saved_entry=0', `next_entry=croft-states>croft-${id}`]);
  }
  expect((await callExtra(daemon, 'CancelRevert')).code).toBe(0);
  expect([await next(daemon), environment(partition)]).toEqual([null, ['saved_entry=0']]);
  await callExtra(daemon, 'RequestRevert', { stateName: 'good' });
  run('grub-editenv', join(partition, 'grub/grubenv'), 'set', 'next_entry=memtest');
  expect((await callExtra(daemon, 'CancelRevert')).code).toBe(0);
  expect(environment(partition)).toEqual(['saved_entry=0', 'next_entry=memtest']);
});

it('stays when the boot loader does not give it up, in a cancelling and in a boot', async (context) => {
  const { storage, daemon, boot, restart, normal, partition } = await machine(context);
  await callExtra(daemon, 'RequestRevert', { stateName: 'good' });
  await daemon.service.close(0);
  const settings = { STATESVC_SEARCH_PATH: brokenEditor() };
  const broken = await restart(settings);
  const before = [await storage.facts(), environment(partition), await next(broken)];
  expect(await callExtra(broken, 'CancelRevert')).toMatchObject({
    code: 9,
    details: expect.stringContaining('grub-editenv: out of luck'),
  });
  expect([await storage.facts(), environment(partition), await next(broken)]).toEqual(before);
  await broken.service.close(0);
  const second = await boot(normal, settings);
  const answer = await second.call('PrepareBoot');
  expect(answer).toMatchObject({ code: 0, results: [{ changed: false }] });
  expect(answer.lines.at(-1)).toMatch(/^warning: the boot loader may still start a state/);
  expect(await next(second)).toEqual(before[2]);
  await second.service.close(0);
  // As soon as it can be written again.
  const third = await restart();
  expect((await third.call('PrepareBoot')).lines.at(-1)).toMatch(/ and did not: ask again/);
  expect([await next(third), environment(partition)]).toEqual([null, ['saved_entry=0']]);
});

it('is over when the next boot is another one, and no later boot goes back by itself', async (context) => {
  const { daemon, boot, normal, partition, now } = await machine(context);
  await callExtra(daemon, 'RequestRevert', { stateName: 'good' });
  expect(await next(daemon)).not.toBeNull();
  expect((await daemon.call('PrepareBoot')).results).toEqual([{ changed: false }]);
  expect(environment(partition)).toHaveLength(2);
  await daemon.service.close(0);
  // Somebody chose the entry as ever, in another boot loader.
  const second = await boot(normal);
  const answer = await second.call('PrepareBoot');
  expect(answer).toMatchObject({ code: 0, results: [{ changed: false }] });
  expect(answer.lines.at(-1)).toMatch(/^warning: this boot was to go back to .*good and did not/);
  expect([await next(second), environment(partition), now()]).toEqual([
    null,
    ['saved_entry=0'],
    ['bad', 'bad'],
  ]);
  expect((await second.call('PrepareBoot')).lines).toEqual([
    'nothing to prepare: this boot goes back to no state',
  ]);
});

it('is refused where GRUB could not strike the entry out, and says what to do instead', async (context) => {
  const { storage, daemon, restart, partition } = await machine(context);
  expect((await daemon.call('UpdateBootMenu')).code).toBe(0);
  await daemon.service.close(0);
  const [onZfs, path] = [`${storage.pool}/boot`, join(storage.base, 'on-zfs')];
  storage.zfs('create', '-o', 'mountpoint=/on-zfs', onZfs);
  fillBoot(path);
  const [bare, guarded] = [fillBoot(temporaryFolder()), fillBoot(temporaryFolder())];
  writeFileSync(join(bare, 'grub/grub.cfg'), '# written by hand\n');
  writeFileSync(join(guarded, 'grub/grub.cfg'), `  set superusers="root"\n${GRUB_CFG}`);
  const cases: [Record<string, string>, string][] = [
    [{ STATESVC_BOOT_FOLDER: guarded }, 'GRUB asks for a password'],
    [{ STATESVC_BOOT_FOLDER: path }, 'GRUB cannot write to'],
    [{ STATESVC_BOOT_FOLDER: bare }, 'grub.cfg has no next_entry'],
    [{ STATESVC_BOOT_LOADER: 'none' }, 'no boot menu is kept here'],
    [{ STATESVC_SEARCH_PATH: brokenEditor() }, 'grub-editenv: out of luck'],
  ];
  for (const [settings, why] of cases) {
    const each = await restart(settings);
    const folders = () => [path, bare, guarded, partition].map((folder) => treeFacts(join(folder, 'grub')));
    const before = [await storage.facts(), folders()];
    const { code, details } = await callExtra(each, 'RequestRevert', { stateName: 'good' });
    expect([code, details]).toEqual([9, expect.stringContaining(why)]);
    expect(details).toMatch(/Choose the state in the boot menu .* give the kernel root=ZFS=\S+@croft_good_/);
    expect([await storage.facts(), folders(), await next(each)]).toEqual([...before, null]);
    await each.service.close(0);
  }
  storage.zfs('unmount', onZfs);
});

it('is refused when the root of the state is gone, before anybody is asked', async (context) => {
  const { storage, daemon, restart, partition } = await machine(context);
  const good = (await statesOf(daemon)).find(({ name, user }) => name === 'good' && user === null);
  storage.zfs('destroy', good?.members[0]?.snapshot ?? '');
  const refused = async (asked: Daemon, code: number, why: string) => {
    const before = [await storage.facts(), treeFacts(join(partition, 'grub'))];
    const answer = await callExtra(asked, 'RequestRevert', { stateName: good?.id ?? '' });
    expect(answer).toMatchObject({ code, details: expect.stringContaining(why) });
    expect([await storage.facts(), treeFacts(join(partition, 'grub'))]).toEqual(before);
    expect(await next(asked)).toBeNull();
  };
  await refused(daemon, 10, 'is not what this daemon recorded');
  await daemon.service.close(0);
  // The home of that state is still there.
  await refused(await restart(), 9, 'the root of ');
});

it.for(['grub', 'auto'])(
  'stays while what GRUB remembers is not mounted, looked for by %s',
  async (loader, context) => {
    const { daemon, boot, restart, normal, partition } = await machine(context);
    await callExtra(daemon, 'RequestRevert', { stateName: 'good' });
    const [asked, remembered] = [await next(daemon), environment(partition)];
    await daemon.service.close(0);
    run('mount', '-t', 'tmpfs', 'none', partition);
    const settings = { STATESVC_BOOT_LOADER: loader };
    const without = await restart(settings);
    expect(await callExtra(without, 'CancelRevert')).toMatchObject({
      code: 9,
      details: expect.stringMatching(/grub was asked and is not found now; mount .* repeat the call/),
    });
    expect(await next(without)).toBe(asked);
    await without.service.close(0);
    const second = await boot(normal, settings);
    const answer = await second.call('PrepareBoot');
    expect(answer).toMatchObject({ code: 0, results: [{ changed: false }] });
    expect(answer.lines.at(-1)).toMatch(/^warning: .* grub was asked and is not found now/);
    expect(await next(second)).toBe(asked);
    run('umount', partition);
    expect(environment(partition)).toEqual(remembered);
    expect((await callExtra(second, 'CancelRevert')).code).toBe(0);
    expect([await next(second), environment(partition)]).toEqual([null, ['saved_entry=0']]);
  },
);

it('is taken from GRUB by a later cancelling when the boot that went back could not', async (context) => {
  const { daemon, boot, restart, partition } = await machine(context);
  await callExtra(daemon, 'RequestRevert', { stateName: 'good' });
  await daemon.service.close(0);
  const asked = environment(partition)[1] ?? '';
  const words = bootNext(partition);
  run('grub-editenv', join(partition, 'grub/grubenv'), 'set', asked);
  const second = await boot(words, { STATESVC_SEARCH_PATH: brokenEditor() });
  const answer = await second.call('PrepareBoot');
  expect(answer).toMatchObject({ code: 0, results: [{ changed: true }] });
  expect(answer.lines.at(-2)).toMatch(/^warning: .* at the next boot, too: .*out of luck.* CancelRevert/);
  expect(await callExtra(second, 'CancelRevert')).toMatchObject({ code: 9 });
  expect([await next(second), environment(partition)]).toEqual([null, ['saved_entry=0', asked]]);
  await second.service.close(0);
  expect((await callExtra(await restart(), 'CancelRevert')).code).toBe(0);
  expect(environment(partition)).toEqual(['saved_entry=0']);
});

it('stays as it was when another one fails, also where the menu has room for one state', async (context) => {
  const { storage, daemon, restart, partition } = await machine(context);
  await daemon.save('later');
  const states = await statesOf(daemon);
  const later = states.find(({ name, user }) => name === 'later' && user === null)?.id;
  await daemon.service.close(0);
  const policy = join(temporaryFolder(), 'policy.yaml');
  writeFileSync(policy, 'menu: {states: 1, entries: 2}\n');
  const settings = { STATESVC_POLICY: policy, STATESVC_SEARCH_PATH: brokenEditor(`croft-${later}`) };
  const second = await restart(settings);
  expect((await callExtra(second, 'RequestRevert', { stateName: 'good' })).code).toBe(0);
  const facts = async () => [
    await storage.facts(),
    await next(second),
    ...['grubenv', 'croft.cfg'].map((name) => readFileSync(join(partition, 'grub', name), 'utf8')),
  ];
  const before = await facts();
  expect(await callExtra(second, 'RequestRevert', { stateName: 'later' })).toMatchObject({
    code: 9,
    details: expect.stringMatching(/out of luck. What was asked for before stays/),
  });
  expect(await facts()).toEqual(before);
});

it('is taken back at start when a crash kept it from GRUB', async (context) => {
  const { daemon, restart, partition } = await machine(context);
  await callExtra(daemon, 'RequestRevert', { stateName: 'good' });
  await daemon.service.close(0);
  const again = await restart();
  expect(await next(again)).not.toBeNull();
  await again.service.close(0);
  // As it is before GRUB is told.
  run('grub-editenv', join(partition, 'grub/grubenv'), 'unset', 'next_entry');
  run('mount', '-t', 'tmpfs', 'none', partition);
  const without = await restart();
  expect(await next(without)).not.toBeNull();
  await without.service.close(0);
  run('umount', partition);
  expect(await next(await restart())).toBeNull();
  expect(environment(partition)).toEqual(['saved_entry=0']);
});
