import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { memberOf, namesOf, statesOf } from './drivers/fixture.ts';
import { daemonOn, poolFor } from './drivers/zfs-daemon.ts';
import type { ZfsPool } from './drivers/zfs-image.ts';
import { useZfs } from './drivers/zfs-pool.ts';
import { run } from './drivers/zfs-programs.ts';
import { runCommand } from './run-command.ts';

useZfs();

const valueOf = ({ zfs }: ZfsPool, property: string, name: string) =>
  zfs('get', '-H', '-p', '-o', 'value', property, name).trim();
const snapshots = ({ zfs, pool }: ZfsPool) =>
  zfs('list', '-H', '-r', '-t', 'snapshot', '-o', 'name', pool)
    .split('\n')
    .filter((name) => name !== '');

describe('a save', () => {
  it('is one instant of the root, what lies below it, and homes, and takes nothing else', async (context) => {
    const storage = await poolFor(context);
    const { zfs, pool, root } = storage;
    for (const name of ['var', 'var/log', 'boot', 'srv']) zfs('create', `${root}/${name}`);
    zfs('set', 'croft:managed=no', `${root}/srv`);
    zfs('create', '-o', 'mountpoint=legacy', `${root}/layer`);
    zfs('create', '-o', 'mountpoint=none', `${pool}/other`);
    const daemon = await daemonOn(storage);
    for (const user of ['ada', 'eve'])
      await daemon.call('CreateUserData', { user, homepath: join(storage.homesFolder, user) });
    await daemon.save('group');
    const [system, ada, eve] = await statesOf(daemon);
    expect(system?.members.map(({ dataset }) => dataset)).toEqual(
      ['', '/boot', '/var', '/var/log'].map((below) => `${root}${below}`),
    );
    expect([ada?.user, eve?.user, ada?.system, system?.oneInstant]).toEqual(['ada', 'eve', system?.id, true]);
    const members = [system, ada, eve].flatMap((state) => state?.members ?? []);
    // What `-r` took besides is gone again.
    expect(snapshots(storage).sort()).toEqual(members.map(({ snapshot }) => snapshot).sort());
    expect(new Set(members.map(({ snapshot }) => valueOf(storage, 'createtxg', snapshot))).size).toBe(1);
    expect(await daemon.call('RemoveSystemState', { stateName: 'group' })).toMatchObject({ code: 0 });
    expect(snapshots(storage)).toEqual([]);
  });

  it('of two pools says that it is not one instant', async (context) => {
    const storage = await poolFor(context);
    const boot = `${storage.addPool()}/BOOT`;
    storage.zfs('create', '-o', 'mountpoint=none', boot);
    storage.zfs('create', '-o', 'mountpoint=/boot', `${boot}/debian`);
    const daemon = await daemonOn(storage);
    await daemon.save('both');
    const { state } = await memberOf(daemon, 'both');
    expect(state.members.map(({ dataset }) => dataset)).toEqual([storage.root, `${boot}/debian`]);
    expect(state.oneInstant).toBe(false);
    const again = await daemon.call('Refresh');
    expect(again.lines).toEqual(['nothing differed: 1 state']);
    expect((await daemon.call('Status')).lines.join('\n')).toMatch(/healthy/);
    await daemon.call('RemoveSystemState', { stateName: 'both' });
    expect(snapshots(storage)).toEqual([]);
  });

  it('asks each pool for space', async (context) => {
    const storage = await poolFor(context);
    const boot = storage.addPool();
    storage.zfs('create', '-o', 'mountpoint=/boot', `${boot}/debian`);
    storage.zfs('create', '-o', 'mountpoint=none', '-o', 'reservation=150M', `${boot}/full`);
    const daemon = await daemonOn(storage, { settings: { STATESVC_MIN_FREE: '20' } });
    const answer = await daemon.call('SaveSystemState', { stateName: 'no-room' });
    expect(answer).toMatchObject({ code: 8, results: [] });
    expect(answer.details).toContain(`the pool ${boot}`);
    expect(snapshots(storage)).toEqual([]);
  });
});

describe('what others made', () => {
  it('is not looked at, a thousand snapshots either', async (context) => {
    const storage = await poolFor(context);
    const { zfs, root } = storage;
    for (const name of ['a', 'b', 'c']) zfs('create', `${root}/${name}`);
    for (let count = 0; count < 250; count++) zfs('snapshot', '-r', `${root}@foreign-${count}`);
    const startedAt = performance.now();
    const daemon = await daemonOn(storage);
    expect(performance.now() - startedAt).toBeLessThan(5000);
    expect(await namesOf(daemon)).toEqual([]);
    await daemon.save('mine');
    const before = performance.now();
    expect((await daemon.call('MachineShow')).code).toBe(0);
    expect(performance.now() - before).toBeLessThan(500);
    await daemon.call('RemoveSystemState', { stateName: 'mine' });
    expect(snapshots(storage)).toHaveLength(1000);
  });

  it('a received copy with our marks is no state, no machine and no home', async (context) => {
    const storage = await poolFor(context);
    const { zfs, root, base } = storage;
    const daemon = await daemonOn(storage);
    await daemon.call('CreateUserData', { user: 'ada', homepath: join(storage.homesFolder, 'ada') });
    await daemon.save('copied');
    const before = await daemon.dump();
    const { member } = await memberOf(daemon, 'copied', 'ada');
    const home = member.dataset;
    const backup = storage.addPool();
    for (const [from, to] of [
      [root, `${backup}/root`],
      [home, `${backup}/home`],
    ] as const) {
      const end = member.snapshot.slice(member.snapshot.indexOf('@'));
      run(
        'sh',
        '-c',
        'zfs send -R "$0" > "$2" && zfs receive "$1" < "$2"',
        `${from}${end}`,
        to,
        join(base, 'stream'),
      );
    }
    expect(zfs('get', '-H', '-o', 'value', 'croft:managed', `${backup}/root`).trim()).toBe('yes');
    await daemon.service.close(0);
    const again = await daemonOn(storage);
    expect(await again.dump()).toEqual(before);
    await again.call('RemoveSystemState', { stateName: 'copied' });
    expect(snapshots(storage)).toEqual([]);
    expect(zfs('list', '-H', '-r', '-t', 'snapshot', '-o', 'name', backup).trim().split('\n')).toHaveLength(
      2,
    );
  });

  it('a snapshot that was destroyed and made anew under the name of a member is left alone', async (context) => {
    const storage = await poolFor(context);
    const daemon = await daemonOn(storage);
    await daemon.save('state');
    const { member } = await memberOf(daemon, 'state');
    storage.zfs('destroy', member.snapshot);
    storage.zfs('snapshot', member.snapshot);
    const facts = await storage.facts();
    // The state went when its snapshot did; what has its name now is somebody else's.
    expect(await daemon.call('RemoveSystemState', { stateName: 'state' })).toMatchObject({ code: 0 });
    expect(await storage.facts()).toEqual(facts);
    expect(await namesOf(daemon)).toEqual([]);
  });

  it('a snapshot that somebody holds is not half removed', async (context) => {
    const storage = await poolFor(context);
    storage.zfs('create', `${storage.root}/var`);
    const daemon = await daemonOn(storage);
    await daemon.save('held');
    const held = (await memberOf(daemon, 'held')).state.members[1]?.snapshot as string;
    storage.zfs('hold', 'somebody', held);
    const before = [await daemon.dump(), await storage.facts()];
    const answer = await daemon.call('RemoveSystemState', { stateName: 'held', force: true });
    expect(answer.code).toBe(9);
    expect(answer.details).toContain(held);
    expect([await daemon.dump(), await storage.facts()]).toEqual(before);
    storage.zfs('release', 'somebody', held);
    expect((await daemon.call('RemoveSystemState', { stateName: 'held' })).code).toBe(0);
  });
});

describe('what was cloned from a state', () => {
  it('keeps it, until force takes all of it, deepest first', async (context) => {
    const storage = await poolFor(context);
    const { zfs, pool } = storage;
    const daemon = await daemonOn(storage);
    await daemon.save('base');
    const { member } = await memberOf(daemon, 'base');
    zfs('clone', '-o', 'mountpoint=none', member.snapshot, `${pool}/clone`);
    zfs('create', `${pool}/clone/child`);
    zfs('snapshot', `${pool}/clone@theirs`);
    zfs('clone', '-o', 'mountpoint=none', `${pool}/clone@theirs`, `${pool}/second`);
    const before = [await daemon.dump(), await storage.facts()];
    const refused = await daemon.call('RemoveSystemState', { stateName: 'base' });
    expect(refused).toMatchObject({ code: 9 });
    expect(refused.details).toContain('4 lines');
    const names = refused.lines.map((line) => /^\w+ (\S+) was made/.exec(line)?.[1]);
    expect(names.sort()).toEqual([
      `${pool}/clone`,
      `${pool}/clone/child`,
      `${pool}/clone@theirs`,
      `${pool}/second`,
    ]);
    const dry = await daemon.call('RemoveSystemState', { stateName: 'base', force: true, dryrun: true });
    expect([await daemon.dump(), await storage.facts()]).toEqual(before);
    // Automatic or not: garbage collection leaves it alone, and that is no failure.
    expect(await daemon.call('GC', { all: true })).toMatchObject({ code: 0 });
    expect([await daemon.dump(), await storage.facts()]).toEqual(before);
    const done = await daemon.call('RemoveSystemState', { stateName: 'base', force: true });
    expect(done).toMatchObject({ code: 0, lines: dry.lines });
    expect(snapshots(storage)).toEqual([]);
    expect(zfs('list', '-H', '-r', '-o', 'name', pool)).not.toMatch(/clone|second/);
  });
});

describe('machines', () => {
  it('that are not marked are listed, and nothing is saved of them', async (context) => {
    const storage = await poolFor(context);
    const { zfs, pool, root } = storage;
    zfs('inherit', 'croft:managed', root);
    zfs('create', '-o', 'mountpoint=/', '-o', 'canmount=noauto', `${pool}/ROOT/second`);
    const daemon = await daemonOn(storage);
    const { machines } = await daemon.dump();
    expect(machines).toMatchObject([
      { id: root, managed: false, current: true },
      { id: `${pool}/ROOT/second`, managed: false, current: false },
    ]);
    expect(await daemon.call('SaveSystemState', { stateName: 'x' })).toMatchObject({ code: 9 });
    expect(await daemon.call('SaveSystemState', { autosave: true })).toMatchObject({ code: 0 });
    expect(snapshots(storage)).toEqual([]);
  });
});

describe('a machine of ZSys', () => {
  it('is read, and adopted when that is asked for', async (context) => {
    const storage = await poolFor(context);
    const { zfs, pool, root } = storage;
    zfs('inherit', 'croft:managed', root);
    for (const [name, value] of [
      ['bootfs', 'yes'],
      ['last-used', '1795354153'],
      ['last-booted-kernel', 'vmlinuz-6.1'],
    ])
      zfs('set', `com.ubuntu.zsys:${name}=${value}`, root);
    zfs('create', '-o', 'mountpoint=none', `${pool}/USERDATA`);
    for (const [name, links] of [
      ['ada_x1y2z3', `${root},other`],
      ['eve_x1y2z3', `x${root}`],
    ])
      zfs(
        'create',
        '-o',
        `mountpoint=/home/${name}`,
        '-o',
        `com.ubuntu.zsys:bootfs-datasets=${links}`,
        `${pool}/USERDATA/${name}`,
      );
    const before = await daemonOn(storage);
    expect(await before.dump()).toMatchObject({
      machines: [{ id: root, managed: false, kernel: 'vmlinuz-6.1', lastUsedAt: '2026-11-22T13:29:13.000Z' }],
      homes: [],
    });
    await before.service.close(0);
    const daemon = await daemonOn(storage, { settings: { STATESVC_ZFS_ADOPT: 'true' } });
    expect(await daemon.dump()).toMatchObject({
      machines: [{ id: root, managed: true }],
      homes: [{ user: 'ada', path: join(storage.homesFolder, 'ada_x1y2z3'), machines: [root] }],
    });
    await daemon.save('adopted');
    expect(await namesOf(daemon)).toEqual(['adopted', 'ada adopted']);
  });
});

describe('homes', () => {
  it('are datasets of their own, with what lies below them', async (context) => {
    const storage = await poolFor(context);
    const daemon = await daemonOn(storage);
    const path = join(storage.homesFolder, 'ada');
    await daemon.call('CreateUserData', { user: 'ada', homepath: path });
    const { dataset } = (await (async () => {
      await daemon.save('one');
      return (await memberOf(daemon, 'one', 'ada')).member;
    })()) as { dataset: string };
    expect(dataset).toMatch(new RegExp(`^${storage.pool}/USERDATA/ada_[0-9a-f]{6}$`));
    storage.zfs('create', `${dataset}/mail`);
    writeFileSync(join(path, 'mail/letter'), 'content');
    await daemon.save('two');
    expect((await memberOf(daemon, 'two', 'ada')).state.members.map((one) => one.dataset)).toEqual([
      dataset,
      `${dataset}/mail`,
    ]);
    const newHome = `${path}-new`;
    expect((await daemon.call('ChangeHomeOnUserData', { home: path, newHome })).code).toBe(0);
    expect(readFileSync(join(newHome, 'mail/letter'), 'utf8')).toBe('content');
    const answer = await daemon.call('DissociateUser', { user: 'ada', removeHome: true });
    expect(answer).toMatchObject({ code: 0 });
    expect(answer.lines).toHaveLength(1);
    expect(valueOf(storage, 'croft:links', dataset)).toBe(',');
  });

  it('whose place is busy stay where they are', async (context) => {
    const storage = await poolFor(context);
    const daemon = await daemonOn(storage);
    const path = join(storage.homesFolder, 'ada');
    await daemon.call('CreateUserData', { user: 'ada', homepath: path });
    mkdirSync(join(path, 'work'));
    const sleeper = await import('node:child_process').then(({ spawn }) =>
      spawn('sleep', ['60'], { cwd: join(path, 'work'), stdio: 'ignore' }),
    );
    try {
      const before = [await daemon.dump(), await storage.facts()];
      const answer = await daemon.call('ChangeHomeOnUserData', { home: path, newHome: `${path}-new` });
      expect(answer).toMatchObject({ code: 9, order: [] });
      expect([await daemon.dump(), await storage.facts()]).toEqual(before);
    } finally {
      sleeper.kill('SIGKILL');
    }
  });

  it('keep links of other machines, whatever their names have in common', async (context) => {
    const storage = await poolFor(context);
    const daemon = await daemonOn(storage);
    await daemon.call('CreateUserData', { user: 'ada', homepath: join(storage.homesFolder, 'ada') });
    await daemon.save('one');
    const { dataset } = (await memberOf(daemon, 'one', 'ada')).member;
    const others = [`x${storage.root}`, `${storage.root}x`, `${storage.root}/y`];
    storage.zfs('set', `croft:links=${[others[0], storage.root, ...others.slice(1)].join(',')}`, dataset);
    await daemon.call('Refresh');
    await daemon.call('DissociateUser', { user: 'ada', removeHome: true });
    expect(valueOf(storage, 'croft:links', dataset)).toBe(others.join(','));
  });
});

it('a restore of what is no file of the vault is refused, and says where it is', async (context) => {
  const storage = await poolFor(context);
  const daemon = await daemonOn(storage);
  await daemon.save('one');
  const { member } = await memberOf(daemon, 'one');
  const target = join(storage.base, 'target');
  const before = await storage.facts();
  const { code, out, err } = await runCommand(daemon, `restore one ${target}`);
  const at = `${storage.systemPath}/.zfs/snapshot/${member.snapshot.split('@')[1]}`;
  expect([code, out, err]).toEqual([
    1,
    '',
    `croft state: states on zfs are no files of the vault: \`croft state export\` writes one to a file, or as root copy what you need out of ${member.snapshot} (${at}, or a clone)\n`,
  ]);
  expect(existsSync(target)).toBe(false);
  expect(await storage.facts()).toEqual(before);
});
