import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Daemon, startDaemon, temporaryFolder, vaultFacts } from './daemon.ts';
import { callExtra } from './extras-client.ts';
import { host } from './host.ts';

/** A machine with ada's home, the state `good` of both, and something bad in both since. */
async function machine() {
  const { tree, boot, restart } = host();
  const home = join(temporaryFolder(), 'ada');
  const daemon = await boot('ro');
  writeFileSync(join(tree, 'file'), 'good');
  await daemon.call('CreateUserData', { user: 'ada', homepath: home });
  writeFileSync(join(home, 'file'), 'good');
  await daemon.save('good');
  writeFileSync(join(tree, 'file'), 'bad');
  writeFileSync(join(home, 'file'), 'bad');
  const now = () => [tree, home].map((folder) => readFileSync(join(folder, 'file'), 'utf8'));
  return { daemon, boot, restart, now };
}

const next = async (daemon: Daemon) => {
  const { nextState, nextUsers } = (await daemon.dump()).machines[0] as {
    nextState?: string | null;
    nextUsers?: boolean;
  };
  return { nextState, nextUsers };
};
const NONE = { nextState: null, nextUsers: false };

describe('a requested revert', () => {
  it.each([
    [false, ['good', 'bad']],
    [true, ['good', 'good']],
  ])('happens at the next boot, once; with homes: %s', async (users, expected) => {
    const { daemon, boot, now } = await machine();
    const answer = await callExtra(daemon, 'RequestRevert', { stateName: 'good', users });
    expect(answer).toMatchObject({ code: 0, results: [] });
    expect(answer.lines.at(-1)).toContain('the next boot goes back to');
    const { results } = await daemon.call('MachineShow');
    expect(String(results[0]?.['machineInfo'])).toMatch(
      users ? /^Next boot: +goes back to good, with homes$/m : /^Next boot: +goes back to good$/m,
    );
    // This boot is not the next one, also with a daemon that was started again.
    expect((await daemon.call('PrepareBoot')).results).toEqual([{ changed: false }]);
    expect(now()).toEqual(['bad', 'bad']);
    await daemon.service.close(0);
    const second = await boot('ro');
    expect((await second.call('PrepareBoot')).results).toEqual([{ changed: true }]);
    expect(now()).toEqual(expected);
    expect(await next(second)).toEqual(NONE);
    expect((await second.call('CommitBoot')).results).toEqual([{ changed: true }]);
    await second.service.close(0);
    const third = await boot('ro');
    expect((await third.call('PrepareBoot')).results).toEqual([{ changed: false }]);
  });

  it('survives a restart in the same boot, which is still not the next one', async () => {
    const { daemon, restart, now } = await machine();
    await callExtra(daemon, 'RequestRevert', { stateName: 'good' });
    await daemon.service.close(0);
    const again = await restart('ro');
    expect(await next(again)).toMatchObject({ nextState: expect.any(String) });
    expect((await again.call('PrepareBoot')).lines).toEqual([
      'nothing to prepare: it is the next boot that goes back to a state',
    ]);
    expect(now()).toEqual(['bad', 'bad']);
  });

  it('gives way to what the command line names, and is no longer wanted after that', async () => {
    const { daemon, boot, now } = await machine();
    await daemon.save('bad');
    const bad = (await daemon.dump()).machines[0]?.states.find(
      ({ name, user }) => name === 'bad' && user === null,
    );
    await callExtra(daemon, 'RequestRevert', { stateName: 'good', users: true });
    await daemon.service.close(0);
    const second = await boot(`ro statesvc.state=${bad?.id}`);
    expect((await second.call('PrepareBoot')).code).toBe(0);
    expect(now()).toEqual(['bad', 'bad']);
    expect(await next(second)).toEqual(NONE);
  });

  it('can be cancelled, and protects its state until then', async () => {
    const { daemon, boot, now } = await machine();
    await callExtra(daemon, 'RequestRevert', { stateName: 'good', users: true });
    expect((await daemon.call('RemoveSystemState', { stateName: 'good', force: true })).code).toBe(9);
    expect((await callExtra(daemon, 'CancelRevert')).lines).toEqual([
      'the next boot goes back to no state any more',
    ]);
    expect((await callExtra(daemon, 'CancelRevert')).lines).toEqual([
      'the next boot goes back to no state anyway',
    ]);
    expect(await next(daemon)).toEqual(NONE);
    await daemon.service.close(0);
    const second = await boot('ro');
    expect((await second.call('PrepareBoot')).results).toEqual([{ changed: false }]);
    expect(now()).toEqual(['bad', 'bad']);
    expect((await second.call('RemoveSystemState', { stateName: 'good' })).code).toBe(0);
  });

  it('says when there is no home to go back', async () => {
    const daemon = await startDaemon();
    await daemon.save('one');
    const { lines } = await callExtra(daemon, 'RequestRevert', { stateName: 'one', users: true });
    expect(lines[0]).toMatch(/^warning: no home was saved with /);
  });

  it('is refused for what this machine cannot go back to, and what was asked before stays', async () => {
    const folder = join(temporaryFolder(), 'state');
    const other = await startDaemon({ folder });
    await other.save('foreign');
    await other.save('both');
    await other.service.close(0);
    const daemon = await startDaemon({ folder });
    await daemon.call('CreateUserData', { user: 'ada', homepath: join(temporaryFolder(), 'ada') });
    await daemon.call('SaveUserState', { userName: 'ada', stateName: 'mine' });
    await daemon.save('both');
    expect((await callExtra(daemon, 'RequestRevert', { stateName: 'both' })).code).toBe(0);
    const before = [await next(daemon), vaultFacts(daemon.folder)];
    for (const [stateName, code] of [
      ['foreign', 9],
      ['none', 5],
      ['', 5],
      ['mine', 5],
      [`vault:${daemon.tree}`, 5],
    ] as const)
      expect(await callExtra(daemon, 'RequestRevert', { stateName })).toMatchObject({ code, order: [] });
    expect([await next(daemon), vaultFacts(daemon.folder)]).toEqual(before);
  });

  it('is refused on a machine that is not managed', async () => {
    const daemon = await startDaemon({ settings: { STATESVC_VAULT_SYSTEM: 'none' } });
    expect(await callExtra(daemon, 'RequestRevert', { stateName: 'x' })).toMatchObject({
      code: 9,
      order: [],
    });
  });
});
