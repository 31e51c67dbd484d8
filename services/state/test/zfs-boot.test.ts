import { randomUUID } from 'node:crypto';
import { closeSync, existsSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, type TestContext, vi } from 'vitest';
import type { Answer, Daemon } from './daemon.ts';
import { memberOf, namesOf, statesOf } from './drivers/fixture.ts';
import { daemonOn, otherZfs, poolFor } from './drivers/zfs-daemon.ts';
import { useZfs } from './drivers/zfs-pool.ts';
import { attempt, ZFS_PATH } from './drivers/zfs-programs.ts';

useZfs();

/** A machine with a home and a state `good`, after which everything changed. */
async function machine(context: TestContext) {
  const storage = await poolFor(context);
  const { zfs, root, base, systemPath, homesFolder } = storage;
  zfs('create', `${root}/var`);
  zfs('create', '-o', 'canmount=noauto', `${root}/spare`);
  const [cmdline, bootId] = [join(base, 'cmdline'), join(base, 'boot_id')];
  const restart = (settings: Record<string, string> = {}): Promise<Daemon> =>
    daemonOn(storage, {
      settings: { STATESVC_CMDLINE_FILE: cmdline, STATESVC_BOOT_ID_FILE: bootId, ...settings },
    });
  const boot = (dataset: string, words = '', settings: Record<string, string> = {}): Promise<Daemon> => {
    writeFileSync(cmdline, `BOOT_IMAGE=/vmlinuz-1 root=ZFS=${dataset} ro ${words}\n`);
    writeFileSync(bootId, randomUUID());
    return restart(settings);
  };
  const first = await boot(root);
  const home = join(homesFolder, 'ada');
  await first.call('CreateUserData', { user: 'ada', homepath: home });
  const write = (text: string) => {
    for (const file of [join(systemPath, 'file'), join(systemPath, 'var/file'), join(home, 'file')])
      writeFileSync(file, text);
  };
  write('good');
  await first.save('good');
  write('bad');
  const { snapshot } = (await memberOf(first, 'good')).member;
  const states = await statesOf(first);
  await first.service.close(0);
  const canmount = (name: string) => zfs('get', '-H', '-o', 'value', 'canmount', name).trim();
  const systems = () => zfs('list', '-H', '-r', '-o', 'name', storage.pool).trim().split('\n');
  const [oldHome = ''] = systems().filter((name) => name.includes('USERDATA/ada'));
  const shown = () =>
    [join(home, 'file'), join(systemPath, 'var/file')].map((file) => readFileSync(file, 'utf8'));
  return { storage, boot, restart, home, oldHome, shown, snapshot, states, canmount, systems };
}

const changed = ({ code, details, results }: Answer) => (code === 0 ? results[0]?.['changed'] : details);
const warnings = ({ lines }: Answer) => lines.filter((line) => line.startsWith('warning: '));

it('switches what is mounted, keeps what was off, and promotes with the states as they were', async (context) => {
  const { storage, boot, snapshot, states, canmount, systems } = await machine(context);
  const { root } = storage;
  const daemon = await boot(snapshot);
  expect(changed(await daemon.call('PrepareBoot'))).toBe(true);
  const head = systems().find((name) => /_[0-9a-f]{6}$/.test(name) && name.startsWith(root)) as string;
  expect([`${root}/var`, `${root}/spare`, `${head}/var`, `${head}/spare`].map(canmount)).toEqual([
    'noauto',
    'noauto',
    'on',
    'noauto',
  ]);
  expect(changed(await daemon.call('PrepareBoot'))).toBe(false);
  await storage.reopen();
  expect(readFileSync(join(storage.systemPath, 'var/file'), 'utf8')).toBe('good');
  expect(changed(await daemon.call('CommitBoot'))).toBe(true);
  expect(changed(await daemon.call('CommitBoot'))).toBe(false);
  expect(storage.zfs('get', '-H', '-o', 'value', 'origin', head).trim()).toBe('-');
  // Promotion renamed the snapshots, and nothing else of the states.
  const after = (await statesOf(daemon)).filter(({ name }) => name === 'good');
  const facts = (all: typeof after) =>
    all.map(({ id, createdAt, members }) => [
      id,
      createdAt,
      members.map(({ guid, dataset }) => [guid, dataset]),
    ]);
  expect(facts(after)).toEqual(facts([...states]));
  expect(after[0]?.members[0]?.snapshot).toMatch(new RegExp(`^${head}@`));
  expect((await daemon.call('Refresh')).lines).toEqual(['nothing differed: 4 states']);
  const [machineNow] = (await daemon.dump()).machines;
  expect(machineNow?.id).toBe(root);
  // The next boot runs the new root by its name, and the machine is the same.
  await daemon.service.close(0);
  const next = await boot(head);
  expect((await next.dump()).machines.map(({ id }) => id)).toEqual([root]);
  await next.save('later');
  expect((await memberOf(next, 'later')).member.dataset).toBe(head);
});

it('leaves clones alone that somebody else made in the tree', async (context) => {
  const { storage, boot, snapshot } = await machine(context);
  const { root, zfs } = storage;
  const originOf = (name: string) => zfs('get', '-H', '-o', 'value', 'origin', name).trim();
  zfs('snapshot', `${root}/var@mine`);
  zfs('clone', '-o', 'canmount=noauto', `${root}/var@mine`, `${root}/trial`);
  const usual = await boot(root);
  expect(changed(await usual.call('CommitBoot'))).toBe(true);
  for (const again of [1, 2]) {
    expect([again, changed(await usual.call('CommitBoot'))]).toEqual([again, false]);
    expect([originOf(`${root}/trial`), originOf(`${root}/var`)]).toEqual([`${root}/var@mine`, '-']);
  }
  await usual.service.close(0);
  // Nor when the machine goes back, and its own clones are promoted.
  const back = await boot(snapshot);
  expect(changed(await back.call('PrepareBoot'))).toBe(true);
  expect(changed(await back.call('CommitBoot'))).toBe(true);
  expect(originOf(`${root}/trial`)).toBe(`${root}/var@mine`);
});

it('gives back what an old root took, when the last state of it goes', async (context) => {
  const { storage, boot, snapshot, systems } = await machine(context);
  const daemon = await boot(snapshot, 'statesvc.revert=userdata');
  await daemon.call('PrepareBoot');
  await daemon.call('CommitBoot');
  await daemon.service.close(0);
  await storage.reopen();
  const head = systems().find((name) => /debian_[0-9a-f]{6}$/.test(name)) as string;
  const next = await boot(head);
  const [automatic] = (await namesOf(next)).filter((name) => name.startsWith('auto_'));
  const refused = await next.call('RemoveSystemState', { stateName: 'good' });
  expect(refused).toMatchObject({ code: 9 });
  expect(refused.lines.join('\n')).toContain(automatic);
  expect((await next.call('RemoveSystemState', { stateName: automatic })).code).toBe(0);
  expect(systems()).not.toContain(storage.root);
  expect(systems().filter((name) => name.includes('USERDATA/ada'))).toHaveLength(1);
  expect((await next.call('RemoveSystemState', { stateName: 'good' })).code).toBe(0);
  await storage.reopen();
  expect(readFileSync(join(storage.systemPath, 'file'), 'utf8')).toBe('good');
});

it('destroys no root that somebody cloned himself, whatever the machine went back from', async (context) => {
  const { storage, boot, snapshot, systems } = await machine(context);
  const { root, zfs } = storage;
  const trial = `${root}-trial`;
  const retired = (name: string) => zfs('get', '-H', '-o', 'value', 'croft:retired', name).trim();
  zfs('snapshot', `${root}@mine`);
  zfs('clone', '-o', 'canmount=noauto', '-o', 'mountpoint=none', `${root}@mine`, trial);
  zfs('set', 'mountpoint=/', trial);
  zfs('snapshot', `${trial}@tried`);
  const daemon = await boot(snapshot);
  expect(changed(await daemon.call('PrepareBoot'))).toBe(true);
  expect(changed(await daemon.call('CommitBoot'))).toBe(true);
  expect([retired(trial), retired(root)]).toEqual(['kept', 'yes']);
  await daemon.service.close(0);
  await storage.reopen();
  // With its last snapshot a root of ours would go.
  zfs('destroy', `${trial}@tried`);
  const next = await boot(systems().find((name) => /debian_[0-9a-f]{6}$/.test(name)) as string);
  const [automatic] = (await namesOf(next)).filter((name) => name.startsWith('auto_'));
  expect((await next.call('RemoveSystemState', { stateName: automatic, force: true })).code).toBe(0);
  expect(systems()).toContain(trial);
  expect([retired(trial), zfs('get', '-H', '-o', 'value', 'origin', trial).trim()]).toEqual([
    'kept',
    `${root}@mine`,
  ]);
});

it('makes only what an initramfs did not make', async (context) => {
  const { storage, boot, snapshot, canmount, systems } = await machine(context);
  const { root, zfs } = storage;
  const end = snapshot.slice(snapshot.indexOf('@'));
  const clone = `${root}_${end.slice(1)}`;
  storage.exportPools();
  storage.importPools();
  zfs('unmount', `${root}/var`);
  zfs('unmount', root);
  for (const below of ['', '/var'])
    zfs(
      'clone',
      '-o',
      'canmount=noauto',
      '-o',
      `mountpoint=/system${below}`,
      `${root}${below}${end}`,
      `${clone}${below}`,
    );
  // zfs-fuse mounts a clone whatever `canmount` says.
  attempt('zfs', 'mount', clone);
  const daemon = await boot(snapshot);
  expect(changed(await daemon.call('PrepareBoot'))).toBe(true);
  expect(systems().filter((name) => name.startsWith(`${root}_`))).toEqual([
    clone,
    `${clone}/spare`,
    `${clone}/var`,
  ]);
  expect([`${clone}/var`, `${clone}/spare`, `${root}/var`].map(canmount)).toEqual(['on', 'noauto', 'noauto']);
  expect(changed(await daemon.call('CommitBoot'))).toBe(true);
  expect(zfs('get', '-H', '-o', 'value', 'origin', `${clone}/var`).trim()).toBe('-');
});

/** Called as the root, as distributions do, and otherwise, where the host has one machine. */
it.for(['debian', 'boot'])('takes the boot file system %s of another pool along', async (called, context) => {
  const { storage, boot, systems } = await machine(context);
  const bpool = storage.addPool();
  const old = `${bpool}/${called}`;
  storage.zfs('create', '-o', 'mountpoint=/boot', old);
  const kernel = join(storage.base, 'boot/kernel');
  writeFileSync(kernel, 'good');
  const first = await boot(storage.root);
  await first.save('with-boot');
  writeFileSync(kernel, 'bad');
  const { member, state } = await memberOf(first, 'with-boot');
  expect(state.members.at(-1)?.dataset).toBe(old);
  await first.service.close(0);
  const daemon = await boot(member.snapshot);
  expect(changed(await daemon.call('PrepareBoot'))).toBe(true);
  const head = systems().find((name) => /debian_[0-9a-f]{6}$/.test(name)) as string;
  const kernels = `${bpool}/${head.slice(head.lastIndexOf('/') + 1)}`;
  expect(storage.zfs('get', '-H', '-o', 'value', 'canmount', old, kernels)).toBe('noauto\non\n');
  expect(readFileSync(kernel, 'utf8')).toBe('good');
  const [automatic] = (await namesOf(daemon)).filter((name) => name.startsWith('auto_'));
  const { state: before } = await memberOf(daemon, automatic ?? '');
  expect(before.members.at(-1)?.dataset).toBe(old);
  expect(changed(await daemon.call('CommitBoot'))).toBe(true);
  expect(storage.zfs('get', '-H', '-o', 'value', 'origin', kernels).trim()).toBe('-');
  await daemon.save('after');
  expect((await memberOf(daemon, 'after')).state.members.at(-1)?.dataset).toBe(kernels);
  // And back to what was there before.
  await daemon.service.close(0);
  const again = await boot(before.members[0]?.snapshot ?? '');
  expect(changed(await again.call('PrepareBoot'))).toBe(true);
  expect(readFileSync(kernel, 'utf8')).toBe('bad');
  expect(changed(await again.call('CommitBoot'))).toBe(true);
});

it('finds names that are in the way before the first promotion', async (context) => {
  const { storage, boot, snapshot, systems } = await machine(context);
  const { zfs, root } = storage;
  const daemon = await boot(snapshot);
  zfs('snapshot', `${root}/var@clash`);
  // Older than what is booted, so that promotion would move it.
  await daemon.service.close(0);
  const first = await boot(root);
  await first.save('newer');
  const { member } = await memberOf(first, 'newer');
  await first.service.close(0);
  const again = await boot(member.snapshot);
  await again.call('PrepareBoot');
  const head = systems().find((name) => /debian_[0-9a-f]{6}$/.test(name)) as string;
  zfs('snapshot', `${head}/var@clash`);
  const before = [await again.dump(), await storage.facts()];
  const answer = await again.call('CommitBoot');
  expect(answer).toMatchObject({ code: 9, results: [] });
  expect(answer.details).toContain(`${root}/var@clash`);
  expect([await again.dump(), await storage.facts()]).toEqual(before);
  zfs('rename', `${head}/var@clash`, `${head}/var@other`);
  expect(changed(await again.call('CommitBoot'))).toBe(true);
});

it('a boot that failed leaves what was there, and the next one is mounted as before', async (context) => {
  const { storage, boot, home, shown, snapshot, canmount } = await machine(context);
  const daemon = await boot(snapshot, 'statesvc.revert=userdata');
  await daemon.call('PrepareBoot');
  expect(canmount(`${storage.root}/var`)).toBe('noauto');
  await daemon.service.close(0);
  // Nobody called CommitBoot; somebody chose the entry of the root that was there before, and the clones were mounted early in that boot.
  const back = await boot(storage.root);
  expect(shown()).toEqual(['good', 'good']);
  expect(changed(await back.call('PrepareBoot'))).toBe(true);
  expect(shown()).toEqual(['bad', 'bad']);
  expect(canmount(`${storage.root}/var`)).toBe('on');
  expect((await back.dump()).homes).toMatchObject([{ user: 'ada', path: home, machines: [storage.root] }]);
  await back.save('goes-on');
  const { member } = await memberOf(back, 'goes-on', 'ada');
  expect(readFileSync(join(await storage.contentOf(member), 'file'), 'utf8')).toBe('bad');
  expect(changed(await back.call('PrepareBoot'))).toBe(false);
});

it('in the boot that goes back what is there is what was saved, and work in it is not lost', async (context) => {
  const { storage, boot, home, shown, snapshot } = await machine(context);
  const daemon = await boot(snapshot, 'statesvc.revert=userdata');
  const answer = await daemon.call('PrepareBoot');
  expect([changed(answer), warnings(answer)]).toEqual([true, []]);
  expect(shown()).toEqual(['good', 'good']);
  writeFileSync(join(home, 'new'), 'work');
  writeFileSync(join(storage.systemPath, 'var/new'), 'work');
  expect(changed(await daemon.call('PrepareBoot'))).toBe(false);
  expect(changed(await daemon.call('CommitBoot'))).toBe(true);
  await daemon.save('worked');
  const { member } = await memberOf(daemon, 'worked', 'ada');
  expect(readFileSync(join(await storage.contentOf(member), 'new'), 'utf8')).toBe('work');
  const [automatic] = (await namesOf(daemon)).filter((name) => name.startsWith('auto_'));
  expect((await daemon.call('RemoveSystemState', { stateName: automatic })).code).toBe(0);
  await daemon.service.close(0);
  await storage.reopen();
  for (const file of [join(home, 'new'), join(storage.systemPath, 'var/new')])
    expect(readFileSync(file, 'utf8')).toBe('work');
});

it('a home that is in use is told, and the boot is not good before what went back is there', async (context) => {
  const { storage, boot, home, oldHome, shown, snapshot, systems } = await machine(context);
  const daemon = await boot(snapshot, 'statesvc.revert=userdata');
  const used = openSync(join(home, 'file'), 'r');
  const told = await daemon.call('PrepareBoot');
  expect(changed(told)).toBe(true);
  expect(warnings(told)).toEqual([
    expect.stringMatching(`still shows ${oldHome}.*PrepareBoot again, or restart`),
  ]);
  expect(shown()).toEqual(['bad', 'good']);
  const before = [await daemon.dump(), await storage.facts()];
  for (const operation of ['CommitBoot', 'PrepareBoot']) {
    const refused = await daemon.call(operation);
    expect([operation, refused.code, refused.results]).toEqual([operation, 9, []]);
    expect(refused.details).toContain(oldHome);
    expect([await daemon.dump(), await storage.facts()]).toEqual(before);
  }
  closeSync(used);
  expect(changed(await daemon.call('PrepareBoot'))).toBe(true);
  expect(shown()).toEqual(['good', 'good']);
  expect(changed(await daemon.call('CommitBoot'))).toBe(true);
  expect(systems()).toContain(oldHome);
});

/** Removes what the boot that goes back saved before, which takes what it went back from along. @returns what is left */
async function withoutSaved(host: Awaited<ReturnType<typeof machine>>): Promise<readonly string[]> {
  await host.storage.reopen();
  const next = await host.restart();
  const [automatic] = (await namesOf(next)).filter((name) => name.startsWith('auto_'));
  expect((await next.call('RemoveSystemState', { stateName: automatic })).code).toBe(0);
  return host.systems();
}

it('what was in use below the old root all that boot is kept with what was written there', async (context) => {
  const host = await machine(context);
  const { storage, boot, oldHome, shown, snapshot } = host;
  const daemon = await boot(snapshot, 'statesvc.revert=userdata');
  const used = openSync(join(storage.systemPath, 'var/file'), 'r');
  const told = await daemon.call('PrepareBoot');
  expect(warnings(told)).toEqual([expect.stringContaining(`still shows ${storage.root}/var`)]);
  expect(shown()).toEqual(['good', 'bad']);
  expect(changed(await daemon.call('CommitBoot'))).toBe(true);
  await daemon.service.close(0);
  closeSync(used);
  const left = await withoutSaved(host);
  expect(left).toEqual(expect.arrayContaining([storage.root, `${storage.root}/var`]));
  expect(left).not.toContain(oldHome);
  expect(shown()).toEqual(['good', 'good']);
});

it('a home that has what no state has is kept when the state goes that was saved before', async (context) => {
  const host = await machine(context);
  const { boot, oldHome, snapshot } = host;
  // As OpenZFS says it, of which zfs-fuse knows nothing.
  const search = otherZfs(
    `if [ "$1 $6 $7" = "get written,guid ${oldHome}" ]; then printf '%s\\twritten\\t8192\\t-\\n' "$7"; PATH=${ZFS_PATH} exec zfs get -H -p -o name,property,value,source guid "$7"; fi`,
  );
  const daemon = await boot(snapshot, 'statesvc.revert=userdata', { STATESVC_SEARCH_PATH: search });
  expect(changed(await daemon.call('PrepareBoot'))).toBe(true);
  expect(changed(await daemon.call('CommitBoot'))).toBe(true);
  await daemon.service.close(0);
  const left = await withoutSaved(host);
  expect(left).toContain(oldHome);
  expect(left).not.toContain(host.storage.root);
});

/** The first home and not its clone is mounted, and the old root is chosen again, which sets `canmount=on` for it. */
async function chosenAgain(context: TestContext) {
  const { storage, boot, home, oldHome: kept, snapshot, canmount, systems } = await machine(context);
  const daemon = await boot(snapshot, 'statesvc.revert=userdata');
  await daemon.call('PrepareBoot');
  await daemon.service.close(0);
  const clone = systems().find((name) => name.includes('USERDATA/ada') && name !== kept) as string;
  await vi.waitFor(() => storage.zfs('unmount', clone), { timeout: 60_000, interval: 200 });
  storage.zfs('mount', kept);
  expect(canmount(kept)).toBe('noauto');
  const zfs = `PATH=${ZFS_PATH} zfs`;
  /** @param commands that happen when it is set, in place of zfs */
  const backWith = async (commands: string) => {
    const search = otherZfs(`if [ "$1 $2 $3" = "set canmount=on ${kept}" ]; then ${commands} fi`);
    return await boot(storage.root, '', { STATESVC_SEARCH_PATH: search });
  };
  return { storage, home, kept, canmount, zfs, backWith };
}

it('what is mounted stays mounted when it is what is mounted at boot again', async (context) => {
  const { storage, home, kept, canmount, zfs, backWith } = await chosenAgain(context);
  // As zfs-fuse does: the home is unmounted for that, and once in a while it is too busy to be mounted again.
  const busy = join(storage.base, 'busy');
  const back = await backWith(
    `[ -e ${busy} ] || { touch ${busy}; ${zfs} "$@"; ${zfs} unmount ${kept}; echo 'busy' >&2; exit 1; };`,
  );
  expect(changed(await back.call('PrepareBoot'))).toBe(true);
  expect([existsSync(busy), canmount(kept)]).toEqual([true, 'on']);
  expect(readFileSync(join(home, 'file'), 'utf8')).toBe('bad');
});

it('what cannot be mounted again is told, and the next boot mounts it', async (context) => {
  const { storage, home, kept, canmount, zfs, backWith } = await chosenAgain(context);
  // Somebody's files are where it was by then.
  const back = await backWith(`${zfs} "$@"; ${zfs} unmount ${kept}; echo other > ${home}/other; exit 0;`);
  const { code, details } = await back.call('PrepareBoot');
  expect([code, details]).toEqual([9, expect.stringContaining(`zfs mount ${kept}`)]);
  expect(canmount(kept)).toBe('on');
  await back.service.close(0);
  rmSync(join(home, 'other'));
  await storage.reopen();
  expect(readFileSync(join(home, 'file'), 'utf8')).toBe('bad');
});

it('what a preparation that broke off made is gone at the next boot', async (context) => {
  const { storage, boot, restart, snapshot, systems } = await machine(context);
  const before = systems();
  const flag = join(storage.base, 'fails');
  writeFileSync(flag, '');
  const search = otherZfs(
    `if [ -e ${flag} ]; then case "$*" in clone*/var*) echo "cannot create: out of luck" >&2; exit 1;; esac; fi`,
  );
  const daemon = await boot(snapshot, '', { STATESVC_SEARCH_PATH: search });
  expect(await daemon.call('PrepareBoot')).toMatchObject({ code: 9, results: [] });
  expect(systems().length).toBeGreaterThan(before.length);
  await daemon.service.close(0);
  // In the same boot it is finished.
  const { rmSync } = await import('node:fs');
  const same = await restart();
  expect(systems().length).toBeGreaterThan(before.length);
  await same.service.close(0);
  const next = await boot(storage.root);
  expect(systems()).toEqual(before);
  await next.service.close(0);
  rmSync(flag);
  const again = await boot(snapshot);
  expect(changed(await again.call('PrepareBoot'))).toBe(true);
  expect(existsSync(flag)).toBe(false);
});
