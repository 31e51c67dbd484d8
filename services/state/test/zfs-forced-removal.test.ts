import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished, type TestContext, vi } from 'vitest';
import { callAt, type Daemon } from './daemon.ts';
import { memberOf, statesOf } from './drivers/fixture.ts';
import { daemonOn, otherZfs, poolFor } from './drivers/zfs-daemon.ts';
import type { ZfsPool } from './drivers/zfs-image.ts';
import { useZfs } from './drivers/zfs-pool.ts';
import { startProcess } from './spawned-daemon.ts';

useZfs();

/**
 * A pool with the state `base`, two clones of it, and a daemon.
 * @param script what `zfs` does instead once there is the file `flag`
 */
async function cloned(
  context: TestContext,
  script: (base: string) => string,
  more: Record<string, string> = {},
  given?: ZfsPool,
) {
  const storage = given ?? (await poolFor(context));
  const { zfs, pool, base } = storage;
  const flag = join(base, 'flag');
  const search = otherZfs(`if [ -e ${flag} ]; then ${script(base)}; fi`);
  const settings = { STATESVC_SEARCH_PATH: search, ...more };
  const daemon = await daemonOn(storage, { settings });
  await daemon.save('base');
  const { snapshot } = (await memberOf(daemon, 'base')).member;
  const clone = (name: string, place = 'none') =>
    zfs('clone', '-o', `mountpoint=${place}`, snapshot, `${pool}/${name}`);
  for (const name of ['first', 'second']) clone(name);
  writeFileSync(flag, '');
  const left = () =>
    zfs('list', '-H', '-r', '-t', 'all', '-o', 'name', pool)
      .match(/first|second|third|@croft_base/g)
      ?.sort() ?? [];
  const told = async (some: Daemon) =>
    (await statesOf(some)).map(({ name, removing }) => `${name}${removing ? ' goes' : ''}`);
  return { storage, settings, flag, daemon, clone, left, told };
}

const failing = (name: string) =>
  `case "$*" in destroy*/${name}) echo "cannot destroy: it is read" >&2; exit 1;; esac`;

const FORCED = { stateName: 'base', force: true };

/** Kills a daemon that removes `base`, once what `zfs` does instead has made the file `reached`. */
async function killWhileRemoving(storage: ZfsPool, settings: Record<string, string>): Promise<void> {
  const killed = await startProcess(storage.folder, storage.systemPath, { ...storage.settings, ...settings });
  const removing = callAt(killed.address, 'RemoveSystemState', FORCED);
  const reached = join(storage.base, 'reached');
  await vi.waitFor(() => expect(existsSync(reached)).toBe(true), { timeout: 40_000 });
  await killed.kill();
  expect((await removing).code).not.toBe(0);
}

it('takes all that the machine went back to from a state, the last first', {
  timeout: 150_000,
}, async (context) => {
  const storage = await poolFor(context);
  const { base, root, homesFolder, zfs } = storage;
  const [cmdline, bootId] = [join(base, 'cmdline'), join(base, 'boot_id')];
  const boot = (from: string) => {
    writeFileSync(cmdline, `root=ZFS=${from} ro statesvc.revert=userdata\n`);
    writeFileSync(bootId, randomUUID());
    return daemonOn(storage, { settings: { STATESVC_BOOT_ID_FILE: bootId } });
  };
  let daemon = await boot(root);
  await daemon.call('CreateUserData', { user: 'ada', homepath: join(homesFolder, 'ada') });
  for (const name of ['base', 'late']) {
    await daemon.save(name);
    const { snapshot } = (await memberOf(daemon, name)).member;
    await daemon.service.close(0);
    daemon = await boot(snapshot);
    expect(await daemon.call('PrepareBoot')).toMatchObject({ code: 0, results: [{ changed: true }] });
  }
  await daemon.service.close(0);
  daemon = await boot(root);
  await daemon.call('PrepareBoot');
  const clones = () => zfs('list', '-H', '-r', '-o', 'origin', storage.pool).match(/@/g) ?? [];
  // The root and the home, twice.
  expect(clones()).toHaveLength(4);
  const dry = await daemon.call('RemoveSystemState', { ...FORCED, dryrun: true });
  const answer = await daemon.call('RemoveSystemState', FORCED);
  expect(answer).toMatchObject({ code: 0, lines: dry.lines });
  expect(clones()).toEqual([]);
  // What was saved before each way back is of the root that runs now.
  expect((await statesOf(daemon)).map(({ automatic }) => automatic)).toEqual([true, true, true, true]);
  expect((await daemon.call('Refresh')).lines).toEqual(['nothing differed: 4 states']);
});

it('says what is gone and what is not when one cannot go, and the next start finishes it', async (context) => {
  const { storage, settings, flag, daemon, left, told } = await cloned(context, () => failing('second'));
  const answer = await daemon.call('RemoveSystemState', FORCED);
  expect(answer).toMatchObject({ code: 9, results: [] });
  expect(answer.details).toContain('second was not removed: zfs: cannot destroy: it is read');
  expect(answer.details).toContain('of 3 things that it takes 1 went');
  expect(answer.details).toContain('restart the daemon');
  expect(answer.lines.slice(-3)).toEqual([
    `gone: the clone ${storage.pool}/first`,
    `warning: not gone: the clone ${storage.pool}/second`,
    `warning: not gone: ${storage.root}@base`,
  ]);
  expect([left(), await told(daemon)]).toEqual([['second', '@croft_base'].sort(), ['base goes']]);
  const plain = await daemon.call('RemoveSystemState', { stateName: 'base' });
  expect(plain).toMatchObject({ code: 10, details: expect.stringContaining('ask again with force') });
  // Which writes down anew what is there, and not that it is wanted.
  expect((await daemon.call('Refresh')).code).toBe(0);
  await daemon.service.close(0);
  const busy = await daemonOn(storage, { settings });
  expect([left(), await told(busy)]).toEqual([['second', '@croft_base'].sort(), ['base goes']]);
  await busy.service.close(0);
  rmSync(flag);
  expect([await told(await daemonOn(storage, { settings })), left()]).toEqual([[], []]);
});

it('has removed nothing when the first cannot go, and may be asked again', async (context) => {
  const { storage, flag, daemon, left } = await cloned(context, () => failing('first'));
  const before = [await daemon.dump(), await storage.facts()];
  const answer = await daemon.call('RemoveSystemState', FORCED);
  expect(answer).toMatchObject({ code: 9, results: [] });
  expect(answer.details).not.toContain('begun');
  expect([await daemon.dump(), await storage.facts()]).toEqual(before);
  rmSync(flag);
  expect((await daemon.call('RemoveSystemState', FORCED)).code).toBe(0);
  expect(left()).toEqual([]);
});

it('has begun when nobody knows whether the first went', async (context) => {
  const hangs = () => `case "$*" in destroy*/first) exec sleep 600;; esac`;
  const { storage, settings, flag, daemon, left, told } = await cloned(context, hangs, {
    STATESVC_ZFS_TIMEOUT: '3',
  });
  const answer = await daemon.call('RemoveSystemState', FORCED);
  expect(answer).toMatchObject({
    code: 14,
    details: expect.stringContaining('of 3 things that it takes 0 went'),
  });
  expect(await told(daemon)).toEqual(['base goes']);
  await daemon.service.close(0);
  rmSync(flag);
  expect([await told(await daemonOn(storage, { settings })), left()]).toEqual([[], []]);
});

it('that was killed takes nothing that was made since', async (context) => {
  const hangs = (base: string) =>
    `case "$*" in destroy*/second) touch ${base}/reached; exec sleep 600;; esac`;
  const { storage, settings, flag, daemon, clone, left, told } = await cloned(context, hangs);
  await daemon.service.close(0);
  await killWhileRemoving(storage, settings);
  rmSync(flag);
  clone('third');
  const hindered = await daemonOn(storage);
  expect([left(), await told(hindered)]).toEqual([['second', 'third', '@croft_base'].sort(), ['base goes']]);
  await hindered.service.close(0);
  storage.zfs('destroy', `${storage.pool}/third`);
  expect([await told(await daemonOn(storage)), left()]).toEqual([[], []]);
});

it('that stopped is asked for again, and takes what was made meanwhile', async (context) => {
  const { storage, flag, daemon, left, told } = await cloned(context, () => failing('second'));
  expect((await daemon.call('RemoveSystemState', FORCED)).code).toBe(9);
  // Its intent knows nothing of this.
  storage.zfs('snapshot', `${storage.pool}/second@third`);
  const dry = await daemon.call('RemoveSystemState', { ...FORCED, dryrun: true });
  expect(dry).toMatchObject({ code: 0, lines: expect.arrayContaining([expect.stringContaining('@third')]) });
  // What was in the way still is: once more it stops, and then before anything else has gone.
  for (const _ of ['third', 'nothing']) {
    const again = await daemon.call('RemoveSystemState', FORCED);
    expect(again).toMatchObject({ code: 9, details: expect.stringContaining('The removal has begun') });
    expect([left(), await told(daemon)]).toEqual([['@croft_base', 'second'], ['base goes']]);
  }
  rmSync(flag);
  expect((await daemon.call('RemoveSystemState', FORCED)).code).toBe(0);
  expect([left(), await told(daemon)]).toEqual([[], []]);
});

it('that was asked for again and stopped again is finished by the next start as it was agreed last', async (context) => {
  const { storage, settings, flag, daemon, left, told } = await cloned(context, () => failing('second'));
  await daemon.call('RemoveSystemState', FORCED);
  storage.zfs('snapshot', `${storage.pool}/second@third`);
  expect((await daemon.call('RemoveSystemState', FORCED)).code).toBe(9);
  await daemon.service.close(0);
  rmSync(flag);
  expect([await told(await daemonOn(storage, { settings })), left()]).toEqual([[], []]);
});

it('that was killed takes nothing that somebody works in; who asks again does', async (context) => {
  const { storage, settings, flag, daemon, clone, left, told } = await cloned(context, () =>
    failing('second'),
  );
  storage.zfs('destroy', `${storage.pool}/second`);
  clone('second', '/work');
  expect((await daemon.call('RemoveSystemState', FORCED)).code).toBe(9);
  await daemon.service.close(0);
  rmSync(flag);
  if (!storage.zfs('list', '-H', '-o', 'mounted', `${storage.pool}/second`).includes('yes'))
    storage.zfs('mount', `${storage.pool}/second`);
  const facts = await storage.facts();
  const hindered = await daemonOn(storage, { settings });
  expect([await storage.facts(), await told(hindered)]).toEqual([facts, ['base goes']]);
  expect((await hindered.call('RemoveSystemState', FORCED)).code).toBe(0);
  expect(left()).toEqual([]);
});

it('of a state alone has begun when nobody knows whether its first snapshot went', async (context) => {
  const storage = await poolFor(context);
  const flag = join(storage.base, 'flag');
  const search = otherZfs(
    `if [ -e ${flag} ]; then case "$*" in destroy*@croft_base*) exec sleep 600;; esac; fi`,
  );
  const settings = { STATESVC_SEARCH_PATH: search, STATESVC_ZFS_TIMEOUT: '3' };
  const daemon = await daemonOn(storage, { settings });
  await daemon.save('base');
  writeFileSync(flag, '');
  const answer = await daemon.call('RemoveSystemState', { stateName: 'base' });
  expect(answer).toMatchObject({ code: 14, details: expect.stringContaining('The removal has begun') });
  expect((await statesOf(daemon)).map(({ removing }) => removing)).toEqual([true]);
  rmSync(flag);
  expect((await daemon.call('RemoveSystemState', { stateName: 'base' })).code).toBe(10);
  expect((await daemon.call('RemoveSystemState', FORCED)).code).toBe(0);
  expect(await statesOf(daemon)).toEqual([]);
});

it('is written down later when the disk was full at first', async (context) => {
  // What goes first makes room, and what goes next cannot.
  const script = (base: string) =>
    `case "$*" in destroy*/first) rm -f ${base}/state/filler;; esac; ${failing('second')}`;
  const storage = await poolFor(context);
  mkdirSync(storage.folder);
  const options = ['-t', 'tmpfs', '-o', 'size=2m,mode=700', 'tmpfs'];
  execFileSync('mount', [...options, storage.folder]);
  onTestFinished(() => void execFileSync('umount', ['-l', storage.folder]));
  const { settings, flag, daemon, left, told } = await cloned(context, script, {}, storage);
  execFileSync('sh', ['-c', 'cat /dev/zero > "$0" || true', join(storage.folder, 'filler')], {
    stdio: 'ignore',
  });
  // Nor is there room in the page that the journal has.
  const journal = join(storage.folder, 'journal.jsonl');
  appendFileSync(journal, `${' '.repeat(4095 - (statSync(journal).size % 4096))}\n`);
  expect((await daemon.call('RemoveSystemState', FORCED)).code).toBe(9);
  expect(existsSync(join(storage.folder, 'filler'))).toBe(false);
  expect(readFileSync(journal, 'utf8')).toContain('"do":"remove"');
  await daemon.service.close(0);
  rmSync(flag);
  expect([await told(await daemonOn(storage, { settings })), left()]).toEqual([[], []]);
});

it('waits for other machines whose states go with it', async (context) => {
  const storage = await poolFor(context);
  const { zfs, pool, base, root } = storage;
  const [flag, reached] = [join(base, 'flag'), join(base, 'reached')];
  const search = otherZfs(
    `case "$*" in destroy*@croft_slow*) touch ${reached}; while [ -e ${flag} ]; do sleep 0.1; done;; esac`,
  );
  const boot = (from: string) => {
    writeFileSync(join(base, 'cmdline'), `root=ZFS=${from} ro\n`);
    return daemonOn(storage, { settings: { STATESVC_SEARCH_PATH: search } });
  };
  const save = async (from: string, name: string) => {
    const daemon = await boot(from);
    await daemon.save(name);
    const { snapshot } = (await memberOf(daemon, name)).member;
    await daemon.service.close(0);
    return snapshot;
  };
  const from = await save(root, 'base');
  const [other, tried] = [`${pool}/ROOT/other`, `${pool}/ROOT/tried`];
  const marks = ['-o', 'mountpoint=/other', '-o', 'canmount=noauto', '-o', 'croft:managed=yes'];
  zfs('create', ...marks, other);
  // Another machine had it for a while.
  zfs('clone', ...marks, '-o', `croft:machine=${other}`, from, tried);
  await save(other, 'slow');
  const theirs = await save(tried, 'theirs');
  const daemon = await boot(root);
  writeFileSync(flag, '');
  const slow = daemon.call('RemoveSystemState', { stateName: 'slow' });
  await vi.waitFor(() => expect(existsSync(reached)).toBe(true), { timeout: 40_000 });
  const forced = daemon.call('RemoveSystemState', FORCED);
  const waiting = `writers: RemoveSystemState on ${other}, waiting: 1`;
  await vi.waitFor(async () => expect((await daemon.call('Status')).lines).toContain(waiting), {
    timeout: 150_000,
  });
  expect(zfs('list', '-H', '-r', '-t', 'snapshot', '-o', 'name', pool)).toContain(theirs);
  rmSync(flag);
  expect([(await slow).code, (await forced).code]).toEqual([0, 0]);
  expect((await daemon.dump()).machines.flatMap(({ states }) => states)).toEqual([]);
  expect(zfs('list', '-H', '-r', '-t', 'all', '-o', 'name', pool)).not.toMatch(/@|tried/);
});

it('whose state was booted since is taken back by the start', async (context) => {
  const { storage, settings, flag, daemon, left, told } = await cloned(
    context,
    (base) => `case "$*" in destroy*) touch ${base}/reached; exec sleep 600;; esac`,
  );
  const { snapshot } = (await memberOf(daemon, 'base')).member;
  await daemon.service.close(0);
  await killWhileRemoving(storage, settings);
  rmSync(flag);
  const cmdline = join(storage.base, 'cmdline');
  const [words, all] = [readFileSync(cmdline, 'utf8'), left()];
  writeFileSync(cmdline, `root=ZFS=${snapshot} ro\n`);
  const booted = await daemonOn(storage);
  expect([await told(booted), left()]).toEqual([['base'], all]);
  await booted.service.close(0);
  writeFileSync(cmdline, words);
  expect([await told(await daemonOn(storage)), left()]).toEqual([['base'], all]);
});
