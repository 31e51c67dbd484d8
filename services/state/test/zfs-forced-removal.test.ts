import { randomUUID } from 'node:crypto';
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, type TestContext, vi } from 'vitest';
import { callAt, type Daemon } from './daemon.ts';
import { memberOf, statesOf } from './drivers/fixture.ts';
import { daemonOn, otherZfs, poolFor } from './drivers/zfs-daemon.ts';
import { startProcess } from './spawned-daemon.ts';

/**
 * A pool with the state `base`, two clones of it, and a daemon.
 * @param script what `zfs` does instead once there is the file `flag`
 */
async function cloned(
  context: TestContext,
  script: (base: string) => string,
  more: Record<string, string> = {},
) {
  const storage = await poolFor(context);
  const { zfs, pool, base } = storage;
  const flag = join(base, 'flag');
  const search = otherZfs(`if [ -e ${flag} ]; then ${script(base)}; fi`);
  const settings = { STATESVC_SEARCH_PATH: search, ...more };
  const daemon = await daemonOn(storage, { settings });
  await daemon.save('base');
  const { snapshot } = (await memberOf(daemon, 'base')).member;
  const clone = (name: string) => zfs('clone', '-o', 'mountpoint=none', snapshot, `${pool}/${name}`);
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

it('takes all that the machine went back to from a state, the last first', {
  timeout: 120_000,
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
  expect((await daemon.call('RemoveSystemState', FORCED)).code).toBe(10);
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
  const killed = await startProcess(storage.folder, storage.systemPath, { ...storage.settings, ...settings });
  const removing = callAt(killed.address, 'RemoveSystemState', FORCED);
  const reached = join(storage.base, 'reached');
  await vi.waitFor(() => expect(existsSync(reached)).toBe(true), { timeout: 20_000 });
  await killed.kill();
  expect((await removing).code).not.toBe(0);
  rmSync(flag);
  clone('third');
  const hindered = await daemonOn(storage);
  expect([left(), await told(hindered)]).toEqual([['second', 'third', '@croft_base'].sort(), ['base goes']]);
  await hindered.service.close(0);
  storage.zfs('destroy', `${storage.pool}/third`);
  expect([await told(await daemonOn(storage)), left()]).toEqual([[], []]);
});
