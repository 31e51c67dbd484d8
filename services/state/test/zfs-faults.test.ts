import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { callAt, type Dump, startDaemon, temporaryFolder } from './daemon.ts';
import { memberOf, namesOf } from './drivers/fixture.ts';
import { daemonOn, otherZfs, poolFor } from './drivers/zfs-daemon.ts';
import { useZfs } from './drivers/zfs-pool.ts';
import { run, ZFS_PATH } from './drivers/zfs-programs.ts';
import { callExtra } from './extras-client.ts';
import { startProcess } from './spawned-daemon.ts';

useZfs();

const PATIENCE = { timeout: 60_000, interval: 100 };
const TROUBLE = expect.stringContaining('in trouble: it does not answer');

it('answers reads while its pool is exported, and works when it is back', async (context) => {
  const storage = await poolFor(context);
  const daemon = await daemonOn(storage);
  await daemon.save('before');
  storage.exportPools();
  for (const operation of ['SaveSystemState', 'RemoveSystemState', 'Refresh', 'UpdateLastUsed']) {
    const answer = await daemon.call(operation, { stateName: 'before' });
    expect(answer.code, operation).not.toBe(0);
    expect(answer.code, operation).not.toBe(13);
  }
  expect(await daemon.call('SaveSystemState', { stateName: 'now' })).toMatchObject({ code: 14, results: [] });
  expect((await daemon.call('MachineList')).code).toBe(0);
  expect(await namesOf(daemon)).toEqual(['before']);
  expect((await daemon.call('Status')).lines.join('\n')).toContain(
    `the pool ${storage.pool} is not imported`,
  );
  storage.importPools();
  expect(await daemon.save('after')).toBe('after');
  expect(await namesOf(daemon)).toEqual(['after', 'before']);
});

it('a pool that hangs keeps one question waiting, however many ask how it is', async (context) => {
  const storage = await poolFor(context);
  const [folder, hangs, asked] = [
    temporaryFolder(),
    join(storage.base, 'hangs'),
    join(storage.base, 'asked'),
  ];
  const script = `#!/bin/sh\nif [ -e ${hangs} ]; then echo "$$" >> ${asked}; while [ -e ${hangs} ]; do sleep 0.1; done; fi\nPATH=${ZFS_PATH} exec zpool "$@"\n`;
  writeFileSync(join(folder, 'zpool'), script, { mode: 0o755 });
  const daemon = await daemonOn(storage, {
    settings: {
      STATESVC_SEARCH_PATH: `${folder}:${ZFS_PATH}`,
      STATESVC_ZFS_TIMEOUT: '240',
    },
  });
  const before = await storage.facts();
  writeFileSync(hangs, '');
  onTestFinished(() => rmSync(hangs, { force: true }));
  for (const _ of ['at once', 'and again']) {
    const answers = await Promise.all(Array.from({ length: 20 }, () => daemon.call('Status')));
    for (const { code, lines } of answers) expect([code, lines[1]]).toEqual([0, TROUBLE]);
  }
  expect(readFileSync(asked, 'utf8').trim().split('\n')).toHaveLength(1);
  rmSync(hangs);
  await vi.waitFor(async () => expect((await daemon.call('Status')).lines[1]).toContain('healthy'), PATIENCE);
  expect(await storage.facts()).toEqual(before);
});

it('leaves nothing on a full pool, and removes states from it', async (context) => {
  const storage = await poolFor(context, { megabytes: 96 });
  const daemon = await daemonOn(storage);
  writeFileSync(join(storage.systemPath, 'large'), Buffer.alloc(20 * 1024 * 1024, 'x'));
  await daemon.save('first');
  const before = await storage.facts();
  // What is there changes after the check: the pool itself says that it is full.
  const filler = join(storage.systemPath, 'filler');
  try {
    writeFileSync(filler, Buffer.alloc(120 * 1024 * 1024, 'y'));
  } catch (error) {
    expect((error as NodeJS.ErrnoException).code).toBe('ENOSPC');
  }
  const answer = await daemon.call('SaveSystemState', { stateName: 'no-room' });
  expect(answer).toMatchObject({ code: 8, results: [] });
  expect(await storage.facts()).toEqual(before);
  expect((await daemon.call('RemoveSystemState', { stateName: 'first' })).code).toBe(0);
  rmSync(filler);
  run('sync');
  // Space comes back when the pool has written down that it is free.
  await vi.waitFor(() => daemon.save('again'), { timeout: 50_000, interval: 1000 });
});

it('gives up a command that hangs, and the next call works', async (context) => {
  const storage = await poolFor(context);
  const flag = join(storage.base, 'hangs');
  const search = otherZfs(`if [ -e ${flag} ] && [ "$1" = snapshot ]; then exec sleep 600; fi`);
  const settings = { STATESVC_SEARCH_PATH: search, STATESVC_ZFS_TIMEOUT: '1' };
  const daemon = await daemonOn(storage, { settings });
  const before = await storage.facts();
  writeFileSync(flag, '');
  const startedAt = performance.now();
  const answer = await daemon.call('SaveSystemState', { stateName: 'hangs' });
  expect(answer).toMatchObject({ code: 14, results: [] });
  expect(answer.details).toContain('did not end within 1 s');
  expect(performance.now() - startedAt).toBeLessThan(10_000);
  expect(await storage.facts()).toEqual(before);
  rmSync(flag);
  expect(await daemon.save('works')).toBe('works');
});

it('what was asked of a ZFS that hung up is told as unavailable, and nothing has changed', async (context) => {
  const storage = await poolFor(context);
  const flag = join(storage.base, 'hangs-up');
  const search = otherZfs(
    `if [ -e ${flag} ]; then echo 'internal error: Connection reset by peer' >&2; exit 1; fi`,
  );
  const daemon = await daemonOn(storage, { settings: { STATESVC_SEARCH_PATH: search } });
  const before = await storage.facts();
  writeFileSync(flag, '');
  const answer = await daemon.call('SaveSystemState', { stateName: 'lost' });
  expect(answer).toMatchObject({ code: 14, details: expect.stringContaining('Connection reset by peer') });
  expect(await storage.facts()).toEqual(before);
  rmSync(flag);
  expect(await daemon.save('works')).toBe('works');
});

it('mounts one after another what several callers look into', async (context) => {
  const storage = await poolFor(context);
  const log = join(storage.base, 'clones');
  // Slow enough to meet another one.
  const search = otherZfs(
    `if [ "$1" = clone ]; then echo begin >> ${log}; sleep 0.3; PATH=${ZFS_PATH} zfs "$@"; echo end >> ${log}; exit; fi`,
  );
  const daemon = await daemonOn(storage, { settings: { STATESVC_SEARCH_PATH: search } });
  await daemon.save('one');
  const answers = await Promise.all(
    ['a', 'b', 'c'].map(() => callExtra(daemon, 'Diff', { stateName: 'one' })),
  );
  for (const answer of answers) expect(answer).toMatchObject({ code: 0 });
  expect(readFileSync(log, 'utf8')).toBe('begin\nend\n'.repeat(3));
});

it('believes what is there and not what a command says of itself', async (context) => {
  const storage = await poolFor(context);
  const flag = join(storage.base, 'lies');
  const said = `printf 'cannot mount \\377\\376: created but not mounted\\n' >&2; exit 1`;
  const search = otherZfs(
    `if [ -e ${flag} ]; then case "$1" in create|destroy) PATH=${ZFS_PATH} zfs "$@"; ${said};; set) exit 0;; esac; fi`,
  );
  const daemon = await daemonOn(storage, { settings: { STATESVC_SEARCH_PATH: search } });
  await daemon.save('one');
  const before = [await daemon.dump(), (await storage.facts()).length];
  writeFileSync(flag, '');
  // It says that the mark was set, and it was not: then there is no state.
  const lied = await daemon.call('SaveSystemState', { stateName: 'two' });
  expect(lied.code).not.toBe(0);
  expect([await daemon.dump(), (await storage.facts()).length]).toEqual(before);
  // It says that it could not destroy, and did.
  expect((await daemon.call('RemoveSystemState', { stateName: 'one' })).code).toBe(0);
  expect(await namesOf(daemon)).toEqual([]);
});

it('a state of which cannot be told who needs it stays, is told, and keeps no other from being collected', async (context) => {
  const storage = await poolFor(context);
  const flag = join(storage.base, 'fails');
  // Once: what is a clone of what.
  const search = otherZfs(`case "$*" in *name,origin*) if rm ${flag} 2> /dev/null; then exit 1; fi;; esac`);
  const policy = join(storage.base, 'policy.yaml');
  writeFileSync(policy, 'keep: {days: 0, newest: 0, rules: []}\n');
  const settings = { STATESVC_SEARCH_PATH: search, STATESVC_POLICY: policy };
  const daemon = await daemonOn(storage, { settings });
  for (const _ of ['one', 'two', 'three']) await daemon.call('SaveSystemState', { autosave: true });
  writeFileSync(flag, '');
  const answer = await daemon.call('GC');
  expect(answer).toMatchObject({ code: 10, details: expect.stringContaining('1 of the states') });
  expect(answer.lines).toContain('removed 2 states');
  expect(answer.lines.filter((line) => line.includes('was not removed'))).toHaveLength(1);
  expect(await namesOf(daemon)).toHaveLength(1);
  expect(await daemon.call('GC')).toMatchObject({ code: 0 });
  expect(await namesOf(daemon)).toEqual([]);
});

it('tells what is missing at start', async (context) => {
  const storage = await poolFor(context);
  const start = (settings: Record<string, string>) => daemonOn(storage, { settings });
  await expect(start({ STATESVC_SEARCH_PATH: '/nonexistent' })).rejects.toThrow('zpool is not installed');
  await expect(start({ STATESVC_ZFS_POOLS: 'no-such-pool' })).rejects.toThrow('no-such-pool');
});

it('refuses a second daemon on the same pool', async (context) => {
  const storage = await poolFor(context);
  const daemon = await daemonOn(storage);
  await daemon.save('kept');
  const folder = join(temporaryFolder(), 'state');
  const second = () => startDaemon({ folder, settings: storage.settings });
  await expect(second()).rejects.toThrow(`${storage.pool}, by the lock`);
  expect(await namesOf(daemon)).toEqual(['kept']);
  await daemon.service.close(0);
  expect(await namesOf(await second())).toEqual(['kept']);
});

it('a daemon that is killed before the completion mark leaves nothing of the save', async (context) => {
  const storage = await poolFor(context);
  const reached = join(storage.base, 'reached');
  const search = otherZfs(`case "$*" in set*croft:complete=*) touch ${reached}; exec sleep 600;; esac`);
  const daemon = await daemonOn(storage);
  await daemon.call('CreateUserData', { user: 'ada', homepath: join(storage.homesFolder, 'ada') });
  await daemon.save('kept');
  const before = await storage.facts();
  const { state } = await memberOf(daemon, 'kept');
  await daemon.service.close(0);
  const settings = { ...storage.settings, STATESVC_SEARCH_PATH: search };
  const killed = await startProcess(storage.folder, storage.systemPath, settings);
  const saving = callAt(killed.address, 'SaveSystemState', { stateName: 'doomed' });
  await vi.waitFor(() => expect(existsSync(reached)).toBe(true), { timeout: 40_000 });
  expect((await storage.facts()).length).toBeGreaterThan(before.length);
  await killed.kill();
  expect((await saving).code).not.toBe(0);
  const next = await startProcess(storage.folder, storage.systemPath, storage.settings);
  expect(await storage.facts()).toEqual(before);
  const dumped = await callAt(next.address, 'DumpStates');
  const dump = JSON.parse(dumped.results.map(({ states }) => states).join('')) as Dump;
  expect(dump.machines[0]?.states.map(({ id, user }) => user ?? id)).toEqual([state.id, 'ada']);
  expect((await callAt(next.address, 'SaveSystemState', { stateName: 'doomed' })).code).toBe(0);
});

it('a removal that is killed between two datasets is finished at the next start', async (context) => {
  const storage = await poolFor(context);
  const reached = join(storage.base, 'reached');
  const search = otherZfs(`case "$*" in destroy*ROOT/debian@*) touch ${reached}; exec sleep 600;; esac`);
  const daemon = await daemonOn(storage);
  await daemon.call('CreateUserData', { user: 'ada', homepath: join(storage.homesFolder, 'ada') });
  const before = await storage.facts();
  await daemon.save('doomed');
  const whole = (await storage.facts()).length;
  await daemon.service.close(0);
  const settings = { ...storage.settings, STATESVC_SEARCH_PATH: search };
  const killed = await startProcess(storage.folder, storage.systemPath, settings);
  const removing = callAt(killed.address, 'RemoveSystemState', { stateName: 'doomed' });
  await vi.waitFor(() => expect(existsSync(reached)).toBe(true), { timeout: 40_000 });
  const half = (await storage.facts()).length;
  expect([half < whole, half > before.length]).toEqual([true, true]);
  await killed.kill();
  expect((await removing).code).not.toBe(0);
  const next = await daemonOn(storage);
  expect(await namesOf(next)).toEqual([]);
  expect(await storage.facts()).toEqual(before);
});

it('a commit that is killed between two promotions is finished by the next one', async (context) => {
  const storage = await poolFor(context);
  const { zfs, root, base } = storage;
  zfs('create', `${root}/var`);
  const [reached, cmdline, bootId] = ['reached', 'cmdline', 'boot_id'].map((name) => join(base, name)) as [
    string,
    string,
    string,
  ];
  writeFileSync(bootId, 'one\n');
  const first = await daemonOn(storage);
  await first.save('good');
  const { member, state } = await memberOf(first, 'good');
  await first.service.close(0);
  writeFileSync(cmdline, `root=ZFS=${member.snapshot} ro\n`);
  writeFileSync(bootId, 'two\n');
  const booted = { ...storage.settings, STATESVC_CMDLINE_FILE: cmdline, STATESVC_BOOT_ID_FILE: bootId };
  const search = otherZfs(`case "$*" in promote*/var) touch ${reached}; exec sleep 600;; esac`);
  const settings = { ...booted, STATESVC_SEARCH_PATH: search };
  const killed = await startProcess(storage.folder, storage.systemPath, settings);
  expect((await callAt(killed.address, 'PrepareBoot')).code).toBe(0);
  const committing = callAt(killed.address, 'CommitBoot');
  await vi.waitFor(() => expect(existsSync(reached)).toBe(true), { timeout: 40_000 });
  await killed.kill();
  expect((await committing).code).not.toBe(0);
  const next = await daemonOn(storage, { settings: booted });
  expect(await next.call('CommitBoot')).toMatchObject({ code: 0, results: [{ changed: true }] });
  const origins = zfs('list', '-H', '-r', '-t', 'filesystem', '-o', 'name,origin', `${storage.pool}/ROOT`);
  expect(origins).toMatch(/debian_[0-9a-f]{6}\t-\n.*debian_[0-9a-f]{6}\/var\t-\n/);
  const again = (await next.dump()).machines[0]?.states.find(({ name }) => name === 'good');
  expect(again).toMatchObject({ id: state.id, partial: false });
  expect((await next.call('Refresh')).lines).toEqual(['nothing differed: 2 states']);
  expect(await next.save('after')).toBe('after');
});
