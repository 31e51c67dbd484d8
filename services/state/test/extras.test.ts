import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { startDaemon, temporaryFolder, vaultFacts } from './daemon.ts';
import { callExtra } from './extras-client.ts';

type Daemon = Awaited<ReturnType<typeof startDaemon>>;

const statesOf = async (daemon: Daemon) => (await daemon.dump()).machines[0]?.states ?? [];

/** A daemon with ada's home, and a state `one` of both. */
async function daemonWithHome() {
  const daemon = await startDaemon();
  await daemon.call('CreateUserData', { user: 'ada', homepath: join(temporaryFolder(), 'ada') });
  writeFileSync(join(daemon.tree, 'file'), 'content');
  await daemon.save('one');
  return daemon;
}

describe('describing a state', () => {
  it('is written down for the one that was named, survives a restart and a refresh, and is replaced', async () => {
    const daemon = await daemonWithHome();
    const description = 'before the upgrade\nof everything: "ünïcödé" 😀';
    expect(await callExtra(daemon, 'Describe', { stateName: 'one', description })).toMatchObject({
      code: 0,
      lines: [`vault:${daemon.tree}@one is described`],
    });
    const described = async (one: Daemon) =>
      (await statesOf(one)).map(({ kind, description: text }) => [kind, text]).sort();
    const expected = [
      ['system', description],
      ['user', ''],
    ];
    expect(await described(daemon)).toEqual(expected);
    expect((await daemon.call('Refresh')).lines).toEqual(['nothing differed: 2 states']);
    expect(await described(daemon)).toEqual(expected);
    await daemon.service.close(0);
    const again = await startDaemon({ folder: daemon.folder, tree: daemon.tree });
    expect(await described(again)).toEqual(expected);
    await callExtra(again, 'Describe', { stateName: 'one', userName: 'ada', description: 'mine' });
    await callExtra(again, 'Describe', { stateName: 'one' });
    expect(await described(again)).toEqual([
      ['system', ''],
      ['user', 'mine'],
    ]);
  });

  it.each([
    ['x'.repeat(1001), 'a description has at most 1000 characters, this one has 1001'],
    ['a\tb', 'U+0009'],
    ['a\u001bb', 'U+001B'],
    ['a\u202eb', 'U+202E'],
  ])('refuses %j', async (description, says) => {
    const daemon = await daemonWithHome();
    const before = [await daemon.dump(), vaultFacts(daemon.folder)];
    const answer = await callExtra(daemon, 'Describe', { stateName: 'one', description });
    expect(answer).toMatchObject({ code: 3, order: [], details: expect.stringContaining(says) });
    expect([await daemon.dump(), vaultFacts(daemon.folder)]).toEqual(before);
  });

  it('takes 1000 characters, however many bytes they have', async () => {
    const daemon = await daemonWithHome();
    const description = '😀'.repeat(1000);
    expect((await callExtra(daemon, 'Describe', { stateName: 'one', description })).code).toBe(0);
    expect((await statesOf(daemon)).find(({ kind }) => kind === 'system')?.description).toBe(description);
  });

  it.each([
    [{ stateName: 'two' }, 5],
    [{ stateName: '' }, 5],
    [{ stateName: 'one', userName: 'bob' }, 5],
    [{ stateName: 'one', userName: 'b b' }, 3],
  ])('refuses a state that is not there: %j', async (request, code) => {
    const daemon = await daemonWithHome();
    const before = [await daemon.dump(), vaultFacts(daemon.folder)];
    for (const name of ['Describe', 'Pin', 'Unpin'])
      expect(
        await callExtra(daemon, name, { ...request, ...(name === 'Describe' ? { description: 'x' } : {}) }),
      ).toMatchObject({ code, order: [] });
    expect([await daemon.dump(), vaultFacts(daemon.folder)]).toEqual(before);
  });
});

describe('pinning a state', () => {
  it('keeps it from removal without force and from garbage collection, until it is unpinned', async () => {
    const daemon = await daemonWithHome();
    expect((await callExtra(daemon, 'Pin', { stateName: 'one' })).lines).toEqual([
      `vault:${daemon.tree}@one is pinned`,
    ]);
    expect((await callExtra(daemon, 'Pin', { stateName: 'one' })).lines).toEqual([
      `vault:${daemon.tree}@one is so already`,
    ]);
    expect((await statesOf(daemon)).map(({ kind, pinned }) => [kind, pinned]).sort()).toEqual([
      ['system', true],
      ['user', false],
    ]);
    expect(await daemon.call('RemoveSystemState', { stateName: 'one' })).toMatchObject({
      code: 9,
      lines: [`vault:${daemon.tree}@one is pinned`],
    });
    expect((await callExtra(daemon, 'Unpin', { stateName: 'one' })).code).toBe(0);
    expect((await daemon.call('RemoveSystemState', { stateName: 'one' })).code).toBe(0);
    expect(await statesOf(daemon)).toEqual([]);
  });

  it('of a user keeps the whole save: a state of the system does not lose the home that it was saved with', async () => {
    const daemon = await daemonWithHome();
    expect((await callExtra(daemon, 'Pin', { stateName: 'one', userName: 'ada' })).code).toBe(0);
    expect((await daemon.call('RemoveSystemState', { stateName: 'one' })).code).toBe(9);
    expect((await statesOf(daemon)).length).toBe(2);
  });

  it('a user has ten, so that the history of the system can go', async () => {
    const daemon = await daemonWithHome();
    const pin = (name: string, userName: string) => callExtra(daemon, 'Pin', { stateName: name, userName });
    for (let at = 0; at < 11; at++) await daemon.save(`s${at}`);
    for (let at = 0; at < 10; at++) expect((await pin(`s${at}`, 'ada')).code).toBe(0);
    const before = await daemon.dump();
    expect(await pin('s10', 'ada')).toMatchObject({ code: 8, details: expect.stringContaining('unpin') });
    expect(await daemon.dump()).toEqual(before);
    expect((await pin('s9', 'ada')).code).toBe(0);
    for (let at = 0; at < 11; at++) expect((await pin(`s${at}`, '')).code).toBe(0);
    await callExtra(daemon, 'Unpin', { stateName: 's9', userName: 'ada' });
    expect((await pin('s10', 'ada')).code).toBe(0);
  });
});

describe('reflection', () => {
  const describeByReflection = async (daemon: Daemon, symbol: string) => {
    const buf = join(import.meta.dirname, '../../../node_modules/.bin/buf');
    const words = ['curl', '--protocol', 'grpc', '--http2-prior-knowledge', '--unix-socket'];
    const socket = daemon.service.address.replace('unix:', '');
    const { stdout } = await promisify(execFile)(buf, [
      ...words,
      socket,
      '-d',
      '{}',
      `http://localhost/${symbol}`,
    ]);
    return JSON.parse(stdout) as unknown;
  };

  it('describes the health service, and health knows both services', async () => {
    const daemon = await startDaemon();
    expect(await describeByReflection(daemon, 'grpc.health.v1.Health/Check')).toEqual({ status: 'SERVING' });
    expect(await describeByReflection(daemon, 'grpc.health.v1.Health/List')).toEqual({
      statuses: {
        '': { status: 'SERVING' },
        'statesvc.StateService': { status: 'SERVING' },
        'statesvc.StateExtras': { status: 'SERVING' },
      },
    });
  });

  it('describes StateExtras', async () => {
    const daemon = await startDaemon();
    expect(await describeByReflection(daemon, 'statesvc.StateExtras/CancelRevert')).toEqual({
      log: 'the next boot goes back to no state anyway',
    });
  });
});
