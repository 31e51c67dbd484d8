import { randomUUID } from 'node:crypto';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, type TestContext } from 'vitest';
import type { Daemon } from './daemon.ts';
import { btrfs } from './drivers/btrfs-image.ts';
import { memberOf, namesOf, statesOf, withDaemon } from './drivers/fixture.ts';
import { vault } from './drivers/vault-folder.ts';
import { daemonOn, otherZfs, poolFor } from './drivers/zfs-daemon.ts';
import type { ZfsPool } from './drivers/zfs-image.ts';
import { useZfs } from './drivers/zfs-pool.ts';
import { attempt } from './drivers/zfs-programs.ts';
import { makeZsysMachine, saveAsZsys } from './drivers/zsys-machine.ts';
import { callExtra } from './extras-client.ts';
import { runCommand } from './run-command.ts';

useZfs();

const AUTOMATIC = 'autozsys_q1w2e3';

/** With a state of everything that ZSys made by itself, one that somebody named, and one of the home. */
async function zsysMachine(context: TestContext) {
  const storage = await poolFor(context);
  const machine = makeZsysMachine(storage);
  machine.write('old');
  machine.save(AUTOMATIC);
  machine.write('new');
  machine.save('before-upgrade');
  machine.saveHome('autozsys_u1u1u1');
  // Of somebody else.
  storage.zfs('snapshot', '-r', `${storage.root}@backup`);
  return { ...machine, storage };
}

const adopt = (daemon: Daemon, request: object = {}) => callExtra(daemon, 'Adopt', request);
const everything = async (daemon: Daemon, storage: { facts(): Promise<readonly string[]> }) => [
  await daemon.dump(),
  await storage.facts(),
];
/** As an initramfs does where a snapshot is booted: what is cloned is mounted instead. @returns the new root */
function cloneRoot(storage: ZfsPool, end: string, id: string): string {
  const { zfs, root } = storage;
  storage.exportPools();
  storage.importPools();
  for (const below of ['/layer', '/var', '']) zfs('unmount', `${root}${below}`);
  for (const below of ['', '/var']) {
    const place = ['-o', 'canmount=noauto', '-o', `mountpoint=/system${below}`];
    zfs('clone', ...place, `${root}${below}@${end}`, `${root}_${id}${below}`);
  }
  // zfs-fuse mounts a clone whatever `canmount` says.
  attempt('zfs', 'mount', `${root}_${id}`);
  return `${root}_${id}`;
}

const NOTHING = { marked: false, homes: 0, states: 0 };
const ALL = { marked: true, homes: 1, states: 5 };
const NAMES = ['ada autozsys_u1u1u1', 'before-upgrade', 'ada before-upgrade', AUTOMATIC, `ada ${AUTOMATIC}`];

describe('Adopt', () => {
  it('takes a machine of ZSys over with its homes and states, once', async (context) => {
    const { storage, home, homeFolder } = await zsysMachine(context);
    const { root } = storage;
    const daemon = await daemonOn(storage);
    const before = await everything(daemon, storage);
    const dry = await adopt(daemon, { dryrun: true });
    expect(dry).toMatchObject({ code: 0, results: [{ summary: { machine: root, ...ALL } }] });
    expect(dry.lines.slice(0, 2)).toEqual([
      `machine ${root}: its states are kept from now on`,
      `home of ada: ${home} at ${homeFolder}`,
    ]);
    expect(dry.lines).toHaveLength(7);
    expect(dry.lines.join('\n')).toMatch(
      new RegExp(`^state ${root}@${AUTOMATIC}: ${root}@${AUTOMATIC}, automatic, [-0-9]+ [:0-9]+ UTC$`, 'm'),
    );
    expect(await everything(daemon, storage)).toEqual(before);

    const done = await adopt(daemon);
    expect(done).toMatchObject({ code: 0, lines: dry.lines, results: dry.results });
    expect((await namesOf(daemon)).toSorted()).toEqual(NAMES.toSorted());
    const states = await statesOf(daemon);
    const system = states.find(({ name, user }) => name === AUTOMATIC && user === null);
    expect(system).toMatchObject({
      kind: 'system',
      automatic: true,
      kernel: 'vmlinuz-6.0',
      oneInstant: false,
      partial: false,
      members: [
        { dataset: root, path: storage.systemPath, snapshot: `${root}@${AUTOMATIC}` },
        { dataset: `${root}/var`, path: join(storage.systemPath, 'var') },
      ],
    });
    expect(states.find(({ name, user }) => name === AUTOMATIC && user === 'ada')).toMatchObject({
      system: system?.id,
      members: [{ dataset: home, path: homeFolder, snapshot: `${home}@${AUTOMATIC}` }],
    });
    expect(states.find(({ name }) => name === 'before-upgrade')).toMatchObject({ automatic: false });
    expect((await daemon.call('MachineList')).results[0]?.['machineList']).toMatch(
      new RegExp(`${root} +yes +2 `),
    );

    const after = await everything(daemon, storage);
    expect(await adopt(daemon)).toMatchObject({
      code: 0,
      lines: [`nothing is left to adopt of ${root}`],
      results: [{ summary: { machine: root, ...NOTHING } }],
    });
    expect(await everything(daemon, storage)).toEqual(after);
    expect((await daemon.call('Refresh')).lines).toEqual(['nothing differed: 5 states']);
    await daemon.service.close(0);
    const again = await daemonOn(storage);
    expect(await again.dump()).toEqual(after[0]);
    // ZSys finds what it had.
    expect(storage.zfs('get', '-H', '-o', 'value', 'com.ubuntu.zsys:bootfs', root).trim()).toBe('yes');
  });

  it('is what STATESVC_ZFS_ADOPT does at the first start', async (context) => {
    const { storage, save } = await zsysMachine(context);
    const settings = { STATESVC_ZFS_ADOPT: 'true' };
    const first = await daemonOn(storage, { settings });
    expect((await namesOf(first)).toSorted()).toEqual(NAMES.toSorted());
    expect((await adopt(first)).lines).toEqual([`nothing is left to adopt of ${storage.root}`]);
    const before = await first.dump();
    await first.service.close(0);
    // From then on somebody has to ask.
    save('later');
    expect(await (await daemonOn(storage, { settings })).dump()).toEqual(before);
  });

  it('leaves states that are compared, removed and saved beside as all others', async (context) => {
    const { storage, write } = await zsysMachine(context);
    const daemon = await daemonOn(storage);
    expect(await adopt(daemon)).toMatchObject({ code: 0 });
    write('newest');
    expect(await callExtra(daemon, 'Diff', { stateName: AUTOMATIC, userName: 'ada' })).toMatchObject({
      code: 0,
      results: [{}, { summary: { added: 0, changed: 1, removed: 0 } }],
    });
    expect((await daemon.call('SaveSystemState', { stateName: AUTOMATIC })).code).toBe(6);
    await daemon.save('own');
    expect((await daemon.call('RemoveSystemState', { stateName: 'before-upgrade' })).code).toBe(0);
    expect(await namesOf(daemon)).not.toContain('before-upgrade');
    const left = storage.zfs('list', '-H', '-r', '-t', 'snapshot', '-o', 'name', storage.pool);
    expect(left).not.toContain('@before-upgrade');
    expect(left).toContain(`${storage.root}@backup`);
    expect(left).toContain(`${storage.root}@${AUTOMATIC}`);
    // What ZSys saved since is adopted by asking again.
    storage.zfs('snapshot', `${storage.root}@before-upgrade`);
    expect((await adopt(daemon)).lines).toEqual([`nothing is left to adopt of ${storage.root}`]);
    for (const property of ['mountpoint=/system:local', 'canmount=noauto:local'])
      storage.zfs('set', `com.ubuntu.zsys:${property}`, `${storage.root}@before-upgrade`);
    expect(await adopt(daemon)).toMatchObject({
      results: [{ summary: { marked: false, homes: 0, states: 1 } }],
    });
    expect(await namesOf(daemon)).toContain('before-upgrade');
    expect((await daemon.call('Refresh')).lines).toEqual(['nothing differed: 6 states']);
  });

  it('gives a state another name where its own is taken', async (context) => {
    const { storage, home, save } = await zsysMachine(context);
    const daemon = await daemonOn(storage);
    await adopt(daemon);
    await daemon.save('same');
    const place = { mountpoint: '/home/ada:local', canmount: 'on:default' };
    saveAsZsys(storage.zfs, home, 'unlinked', place);
    // Of another machine that the home belonged to.
    const links = `${storage.pool}/ROOT/other:local`;
    saveAsZsys(storage.zfs, home, 'elsewhere', { ...place, 'bootfs-datasets': links });
    save('same');
    save('auto_typed');
    expect(await adopt(daemon)).toMatchObject({ code: 0, results: [{ summary: { states: 5 } }] });
    const names = await namesOf(daemon);
    expect(names).toContain('ada unlinked');
    expect(names).not.toContain('ada elsewhere');
    for (const name of ['same', 'zsys_same', 'ada zsys_same', 'zsys_auto_typed'])
      expect(names).toContain(name);
  });

  it.for(['PrepareBoot', 'an initramfs'])(
    'makes states that a machine goes back to, whose root %s clones, and that are there when it has',
    async (who, context) => {
      const { storage, homeFolder } = await zsysMachine(context);
      const { root, systemPath } = storage;
      const [cmdline, bootId] = [join(storage.base, 'cmdline'), join(storage.base, 'boot_id')];
      const boot = (dataset: string, words = '') => {
        writeFileSync(cmdline, `root=ZFS=${dataset} ro ${words}\n`);
        writeFileSync(bootId, randomUUID());
        return daemonOn(storage, {
          settings: { STATESVC_CMDLINE_FILE: cmdline, STATESVC_BOOT_ID_FILE: bootId },
        });
      };
      const first = await boot(root);
      await adopt(first);
      const before = await namesOf(first);
      await first.service.close(0);
      if (who === 'an initramfs') cloneRoot(storage, AUTOMATIC, 'a1b2c3');
      const daemon = await boot(`${root}@${AUTOMATIC}`, 'statesvc.revert=userdata');
      expect(await daemon.call('PrepareBoot')).toMatchObject({ code: 0, results: [{ changed: true }] });
      await storage.reopen();
      for (const folder of [systemPath, join(systemPath, 'var'), homeFolder])
        expect(readFileSync(join(folder, 'file'), 'utf8')).toBe('old');
      expect(await daemon.call('CommitBoot')).toMatchObject({ code: 0, results: [{ changed: true }] });
      const own = (names: readonly string[]) => names.filter((name) => !/auto_\w{6}$/.test(name)).toSorted();
      expect(own(await namesOf(daemon))).toEqual(own(before));
      expect((await statesOf(daemon)).filter(({ partial }) => partial)).toEqual([]);
      expect((await adopt(daemon)).lines).toEqual([`nothing is left to adopt of ${root}`]);
      // Also when the root that was left is gone with the states that held it.
      for (const name of ['', '/var', '/layer']) storage.zfs('destroy', `${root}${name}@backup`);
      for (const { name } of (await statesOf(daemon)).filter(
        ({ name, user }) => user === null && name !== AUTOMATIC,
      ))
        expect([
          name,
          (await daemon.call('RemoveSystemState', { stateName: name, force: true })).code,
        ]).toEqual([name, 0]);
      expect(storage.zfs('list', '-H', '-r', '-o', 'name', storage.pool).split('\n')).not.toContain(root);
      await daemon.call('Refresh');
      expect(await namesOf(daemon)).toContain(AUTOMATIC);
    },
  );

  it('takes what was saved of each root, where ZSys had gone back', async (context) => {
    const { storage, home, save } = await zsysMachine(context);
    const { zfs, root } = storage;
    const clone = cloneRoot(storage, AUTOMATIC, 'a1b2c3');
    // What lies there is a root, whatever runs.
    zfs('set', 'mountpoint=/', root);
    zfs('set', `com.ubuntu.zsys:bootfs-datasets=${clone}`, home);
    zfs('snapshot', `${clone}@after`);
    saveAsZsys(zfs, clone, 'since', { mountpoint: '/system:local', canmount: 'noauto:local' });
    save('before-upgrade-2');
    writeFileSync(join(storage.base, 'cmdline'), `root=ZFS=${clone} ro\n`);
    const daemon = await daemonOn(storage);
    expect(await adopt(daemon)).toMatchObject({
      code: 0,
      results: [{ summary: { machine: root, marked: true, homes: 1, states: 8 } }],
    });
    for (const name of ['since', 'before-upgrade', 'before-upgrade-2', AUTOMATIC])
      expect((await memberOf(daemon, name)).member.dataset).toBe(name === 'since' ? clone : root);
    await daemon.save('own');
    expect((await memberOf(daemon, 'own')).member.dataset).toBe(clone);
    // What runs was made of it.
    expect(await daemon.call('RemoveSystemState', { stateName: AUTOMATIC, force: true })).toMatchObject({
      code: 9,
    });
    expect((await adopt(daemon)).lines).toEqual([`nothing is left to adopt of ${root}`]);
  });

  it('goes on where it stopped, and shows nothing that is not whole', {
    timeout: 150_000,
  }, async (context) => {
    const { storage } = await zsysMachine(context);
    const stop = join(storage.base, 'stop');
    const search = otherZfs(
      `if [ -e ${stop} ] && [ "$1" = set ]; then case "$2" in $(cat ${stop})=*) echo "it is broken" >&2; exit 1;; esac; fi`,
    );
    const daemon = await daemonOn(storage, { settings: { STATESVC_SEARCH_PATH: search } });
    for (const property of ['croft:links', 'croft:state', 'croft:complete', 'croft:adopted']) {
      writeFileSync(stop, property);
      expect(await adopt(daemon)).toMatchObject({
        code: 9,
        results: [],
        details: expect.stringContaining(property),
      });
      expect([property, await statesOf(daemon)]).toEqual([property, []]);
      expect((await daemon.dump()).machines).toMatchObject([{ managed: false }]);
      expect((await daemon.call('Refresh')).lines).toEqual(['nothing differed: 0 states']);
    }
    writeFileSync(stop, 'croft:managed');
    expect(await adopt(daemon)).toMatchObject({ code: 9, results: [] });
    expect(await namesOf(daemon)).toHaveLength(5);
    rmSync(stop);
    expect(await adopt(daemon)).toMatchObject({
      code: 0,
      results: [{ summary: { marked: true, homes: 0, states: 0 } }],
    });
    expect((await namesOf(daemon)).toSorted()).toEqual(NAMES.toSorted());
  });

  it('takes the machine that a pool or dataset names, and no other', async (context) => {
    const { storage } = await zsysMachine(context);
    const { zfs, pool, root } = storage;
    const second = `${pool}/ROOT/second`;
    zfs('create', '-o', 'mountpoint=/', '-o', 'canmount=noauto', second);
    const other = storage.addPool();
    zfs('create', '-o', 'mountpoint=/', '-o', 'canmount=noauto', `${other}/third`);
    const daemon = await daemonOn(storage);
    const before = await everything(daemon, storage);
    expect(await adopt(daemon, { machine: 'nowhere' })).toMatchObject({ code: 5, results: [] });
    expect(await adopt(daemon, { machine: pool })).toMatchObject({ code: 3, results: [] });
    expect(await everything(daemon, storage)).toEqual(before);
    for (const machine of [other, second])
      expect(await adopt(daemon, { machine })).toMatchObject({
        results: [{ summary: { marked: true, states: 0 } }],
      });
    const list = (await daemon.call('MachineList')).results[0]?.['machineList'] as string;
    const managed = [...list.matchAll(/^(\S+) +yes /gm)].map(([, id]) => id);
    expect(managed.toSorted()).toEqual([`${other}/third`, second].toSorted());
    expect((await adopt(daemon, { machine: `${root}/var`, dryrun: true })).results).toMatchObject([
      { summary: { machine: root } },
    ]);
  });

  it('takes what was saved of /boot in a pool of its own along', async (context) => {
    const { storage, save } = await zsysMachine(context);
    const boot = `${storage.addPool()}/BOOT`;
    storage.zfs('create', '-o', 'mountpoint=none', boot);
    storage.zfs('create', '-o', 'mountpoint=/boot', `${boot}/debian`);
    save('both');
    saveAsZsys(storage.zfs, `${boot}/debian`, 'both', { mountpoint: '/boot:local', canmount: 'on:default' });
    // Two things that ZSys does not do: what it notes makes no sense, or it notes nothing.
    saveAsZsys(storage.zfs, storage.root, 'odd', { mountpoint: '../x:local', canmount: 'on:default' });
    saveAsZsys(storage.zfs, `${boot}/debian`, 'alone', { mountpoint: '/boot:local', canmount: 'on:default' });
    const daemon = await daemonOn(storage);
    expect(await adopt(daemon)).toMatchObject({ code: 0, results: [{ summary: { states: 7 } }] });
    const { state } = await memberOf(daemon, 'both');
    expect(state.members.map(({ dataset, path }) => [dataset, path])).toEqual([
      [storage.root, storage.systemPath],
      [`${storage.root}/var`, join(storage.systemPath, 'var')],
      [`${boot}/debian`, join(storage.base, 'boot')],
    ]);
    expect((await daemon.call('RemoveSystemState', { stateName: 'both' })).code).toBe(0);
    const left = storage.zfs('list', '-H', '-t', 'snapshot', '-o', 'name');
    expect(left).not.toContain('@both');
    for (const name of [`${storage.root}@odd`, `${boot}/debian@alone`]) expect(left).toContain(name);
  });

  it.for([vault, btrfs])('is refused on $name, and says what to do', async (fixture, context) => {
    const { daemon, storage } = await withDaemon(context, fixture);
    const before = await everything(daemon, storage);
    const answer = await adopt(daemon);
    expect(answer).toMatchObject({ code: 9, order: [] });
    expect(answer.details).toMatch(
      /: (?:set STATESVC_VAULT_SYSTEM to the folder|the subvolume STATESVC_BTRFS_SYSTEM is)/,
    );
    expect(await everything(daemon, storage)).toEqual(before);
  });
});

describe('croft state adopt', () => {
  it('shows what it would take over, asks, and says what it did', async (context) => {
    const { storage } = await zsysMachine(context);
    const { root } = storage;
    const daemon = await daemonOn(storage);
    const before = await everything(daemon, storage);
    const dry = await runCommand(daemon, 'adopt --dry-run');
    expect(dry).toMatchObject({ code: 0, err: '' });
    expect(dry.out).toContain(`machine ${root}: its states are kept from now on\n`);
    const json = await runCommand(daemon, 'adopt --dry-run --json');
    expect(JSON.parse(json.out)).toEqual({ machine: root, ...ALL });
    const refused = await runCommand(daemon, 'adopt', 'n\n');
    expect(refused).toMatchObject({
      code: 1,
      out: '',
      err: `${dry.out}Adopt ${root}? [y/N]\nnothing was done\n`,
    });
    expect(await everything(daemon, storage)).toEqual(before);
    const done = await runCommand(daemon, 'adopt', 'y\n');
    expect(done.code).toBe(0);
    expect(done.err).toMatch(new RegExp(`\nadopted ${root}, homes: 1, states: 5\n$`));
    expect((await runCommand(daemon, 'list')).out).toMatch(new RegExp(`^${root} +yes +2 `, 'm'));
    expect(await runCommand(daemon, 'adopt', '')).toMatchObject({
      code: 0,
      err: `nothing is left to adopt of ${root}\n`,
    });
  });
});
