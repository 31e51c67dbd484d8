import { execFileSync } from 'node:child_process';
import { closeSync, ftruncateSync, openSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { archiveOf, fileEntry, sha256, unpack } from './archive.ts';
import { collect, type Daemon, startDaemon, temporaryFolder, treeFacts, vaultFacts } from './daemon.ts';
import { callExtra, exported, importBytes, openExtra, openImport } from './extras-client.ts';
import { fillTree, restore } from './sample-tree.ts';

const statesOf = async (daemon: Daemon) => (await daemon.dump()).machines[0]?.states ?? [];

/** A daemon with one of everything in its system, saved as `one`. */
async function daemonWithState() {
  const daemon = await startDaemon();
  fillTree(daemon.tree);
  await daemon.save('one');
  return daemon;
}

/** Everything there is, to be the same after a refusal. */
const everything = async (daemon: Daemon) => [await daemon.dump(), vaultFacts(daemon.folder)];

describe('an export', () => {
  it('is the same each time, in messages of at most 64 KiB, and tells its hash', async () => {
    const daemon = await daemonWithState();
    const answer = await callExtra(daemon, 'Export', { stateName: 'one' });
    const contents = answer.results.flatMap((result) => (result['content'] as Buffer | undefined) ?? []);
    expect(Math.max(...contents.map(({ length }) => length))).toBeLessThanOrEqual(64 * 1024 - 16);
    const bytes = Buffer.concat(contents);
    expect(answer.results.at(-1)).toEqual({ summary: { bytes: bytes.length, sha256: sha256(bytes) } });
    expect(await exported(daemon, { stateName: 'one' })).toEqual(bytes);
    const file = join(temporaryFolder(), 'state.tar');
    writeFileSync(file, bytes);
    const listed = execFileSync('tar', ['--list', '--file', file]).toString().split('\n');
    expect(listed[0]).toBe('croft-state.json');
    expect(listed[1]).toMatch(/^manifests\/[0-9a-f]{64}$/);
    // hosts, empty, secret, tool, large, the one with strange bytes, and the one with letters; other names have no content.
    expect(listed.filter((name) => name.startsWith('objects/'))).toHaveLength(7);
  });

  it('of the system has the homes only when it is asked to', async () => {
    const daemon = await startDaemon();
    await daemon.call('CreateUserData', { user: 'ada', homepath: join(temporaryFolder(), 'ada') });
    await daemon.save('one');
    const kinds = async (request: object) =>
      (
        JSON.parse(String(unpack(await exported(daemon, request))[0]?.[1])) as { states: { kind: string }[] }
      ).states.map(({ kind }) => kind);
    expect(await kinds({ stateName: 'one' })).toEqual(['system']);
    expect(await kinds({ stateName: 'one', users: true })).toEqual(['system', 'user']);
    expect(await kinds({ stateName: 'one', userName: 'ada', users: true })).toEqual(['user']);
  });

  it('of what is damaged on the disk ends with an error and no summary', async () => {
    const daemon = await daemonWithState();
    const bytes = unpack(await exported(daemon, { stateName: 'one' }));
    const hash = bytes
      .find(([name, content]) => name.startsWith('objects/') && content.length > 0)?.[0]
      .slice(8) as string;
    writeFileSync(join(daemon.folder, 'vault/objects', hash.slice(0, 2), hash.slice(2)), 'damaged');
    const answer = await callExtra(daemon, 'Export', { stateName: 'one' });
    expect(answer).toMatchObject({ code: 9, details: expect.stringContaining(hash) });
    expect(answer.order).not.toContain('summary');
  });

  it('holds nobody: a removal goes on, and the reader is told', async () => {
    const daemon = await startDaemon();
    for (let at = 0; at < 40; at++)
      writeFileSync(join(daemon.tree, `f${at}`), Buffer.alloc(1_000_000, `${at}`));
    await daemon.save('one');
    const stream = openExtra(daemon, 'Export', { stateName: 'one' });
    const answer = collect(stream, {});
    // Nobody reads yet, so the daemon gets no further than the buffers on the way.
    stream.pause();
    await sleep(200);
    expect((await daemon.call('RemoveSystemState', { stateName: 'one' })).code).toBe(0);
    stream.resume();
    expect(await answer).toMatchObject({ code: 10, details: 'the state "one" was removed meanwhile' });
  });

  it('of what is not there is refused', async () => {
    const daemon = await daemonWithState();
    const before = await everything(daemon);
    expect(await callExtra(daemon, 'Export', { stateName: 'two' })).toMatchObject({ code: 5, order: [] });
    expect(await everything(daemon)).toEqual(before);
  });
});

describe('an import', () => {
  it('on another host gives the same state, with an id of its own', async () => {
    const here = await daemonWithState();
    const facts = treeFacts(here.tree);
    await callExtra(here, 'Describe', { stateName: 'one', description: 'good' });
    await callExtra(here, 'Pin', { stateName: 'one' });
    const bytes = await exported(here, { stateName: 'one' });
    const there = await startDaemon();
    const answer = await importBytes(there, bytes);
    expect(answer).toMatchObject({ code: 0, results: [{ stateName: 'one' }] });
    expect(answer.order.at(-1)).toBe('stateName');
    const [[state], [origin]] = [await statesOf(there), await statesOf(here)];
    expect(state).toMatchObject({
      name: 'one',
      description: 'good',
      pinned: false,
      automatic: false,
      createdAt: origin?.createdAt,
      imported: { id: origin?.id, machine: `vault:${here.tree}` },
      members: [{ path: here.tree, unreadable: origin?.members[0]?.unreadable }],
    });
    expect(state?.id).not.toBe(origin?.id);
    expect(JSON.stringify(treeFacts((await restore(there, 'one')).target))).toBe(JSON.stringify(facts));
    // What is kept survives a restart, as any other state.
    await there.service.close(0);
    const again = await startDaemon({ folder: there.folder, tree: there.tree });
    expect((await again.call('Refresh')).lines).toEqual(['nothing differed: 1 state']);
    expect(await statesOf(again)).toEqual([state]);
  });

  it('of which somebody keeps the list in what is saved can be gone back to, and so can that', async () => {
    const daemon = await daemonWithState();
    const list = unpack(await exported(daemon, { stateName: 'one' })).find(([name]) =>
      name.startsWith('manifests/'),
    );
    writeFileSync(join(daemon.tree, 'a-list'), list?.[1] ?? '');
    await daemon.save('two');
    const facts = treeFacts(daemon.tree);
    expect(treeFacts((await restore(daemon, 'two')).target)).toEqual(facts);
    expect(await importBytes(daemon, await exported(daemon, { stateName: 'two' }), 'back')).toMatchObject({
      code: 0,
    });
    expect(treeFacts((await restore(daemon, 'back')).target)).toEqual(facts);
  });

  it('of what was exported here differs in nothing, costs no content, and may happen twice', async () => {
    const daemon = await daemonWithState();
    const objects = () => vaultFacts(daemon.folder).filter((fact) => fact.startsWith('objects'));
    const before = objects();
    const bytes = await exported(daemon, { stateName: 'one' });
    for (const name of ['back', 'again']) {
      expect(await importBytes(daemon, bytes, name)).toMatchObject({
        code: 0,
        results: [{ stateName: name }],
      });
      const request = { stateName: 'one', otherStateName: name, times: true };
      expect((await callExtra(daemon, 'Diff', request)).results).toEqual([
        { summary: { added: 0, changed: 0, removed: 0 } },
      ]);
    }
    // But for its list, which is stored as it came.
    const added = objects().filter((fact) => !before.includes(fact) && !fact.endsWith(' /'));
    expect(added).toHaveLength(1);
    // Removing one leaves what the others need.
    for (const name of ['one', 'back']) await daemon.call('RemoveSystemState', { stateName: name });
    expect(await exported(daemon, { stateName: 'again' })).toHaveLength(bytes.length);
  });

  it('brings back content that is gone, holes and homes', async () => {
    const daemon = await startDaemon();
    const home = join(temporaryFolder(), 'ada');
    await daemon.call('CreateUserData', { user: 'ada', homepath: home });
    const fd = openSync(join(home, 'holes'), 'w');
    ftruncateSync(fd, 3_000_000);
    writeSync(fd, 'in the middle', 1_500_000);
    closeSync(fd);
    await daemon.save('one');
    const facts = treeFacts(home);
    const bytes = await exported(daemon, { stateName: 'one', users: true });
    await daemon.call('RemoveSystemState', { stateName: 'one' });
    expect(await statesOf(daemon)).toEqual([]);
    expect((await importBytes(daemon, bytes, 'back', 1000)).code).toBe(0);
    const states = await statesOf(daemon);
    expect(states.map(({ kind, name, user }) => [kind, name, user])).toEqual([
      ['system', 'back', null],
      ['user', 'back', 'ada'],
    ]);
    expect(states[1]?.system).toBe(states[0]?.id);
    expect(treeFacts((await restore(daemon, 'back', 'ada')).target)).toEqual(facts);
  });

  it('takes 100,000 tiny entries', async () => {
    const daemon = await startDaemon();
    const entries = Array.from({ length: 100_000 }, (_, at) =>
      fileEntry(`f${String(at).padStart(6, '0')}`, at % 2 === 0 ? 'even' : 'odd'),
    );
    expect((await importBytes(daemon, archiveOf(entries, ['even', 'odd']))).code).toBe(0);
    expect((await statesOf(daemon))[0]?.members[0]).toMatchObject({ entries: 100_001, bytes: 350_000 });
  });

  it.each([
    ['its own', ''],
    ['another', 'two'],
  ])(
    'is refused before its content comes when the name that it is to have is taken: %s',
    async (_what, stateName) => {
      const daemon = await daemonWithState();
      await daemon.save('two');
      const bytes = await exported(daemon, { stateName: 'one' });
      const before = await everything(daemon);
      const stream = openImport(daemon);
      const answer = collect(stream, {});
      stream.on('error', () => {});
      stream.write({ header: { stateName } });
      // What it is, and no list or content yet; nothing else is ever sent.
      stream.write({ content: bytes.subarray(0, bytes.indexOf('manifests/')) });
      expect(await answer).toMatchObject({ code: 6, order: [] });
      expect((await answer).details).toContain(`a state named "${stateName || 'one'}" exists already`);
      expect(await everything(daemon)).toEqual(before);
    },
  );

  it('does not hold the machine while it comes, and leaves nothing when it is cancelled', async () => {
    const daemon = await daemonWithState();
    const bytes = await exported(daemon, { stateName: 'one' });
    const before = await everything(daemon);
    const stream = openImport(daemon);
    const answer = collect(stream, {});
    stream.on('error', () => {});
    stream.write({ header: { stateName: 'slow' } });
    stream.write({ content: bytes.subarray(0, 30_000) });
    await sleep(200);
    expect(await importBytes(daemon, bytes, 'second')).toMatchObject({ code: 10, results: [] });
    await daemon.save('meanwhile');
    await daemon.call('RemoveSystemState', { stateName: 'meanwhile' });
    const started = performance.now();
    stream.cancel();
    expect((await answer).code).toBe(1);
    // The next one begins as soon as that one is undone.
    for (;;) {
      const next = await importBytes(daemon, bytes, 'next');
      if (next.code === 0) break;
      expect(next.code).toBe(10);
    }
    expect(performance.now() - started).toBeLessThan(1000);
    await daemon.call('RemoveSystemState', { stateName: 'next' });
    // A folder that objects of a number were in stays.
    const facts = async () => JSON.stringify(await everything(daemon)).replaceAll(/"objects\/.. \/",/g, '');
    expect(await facts()).toBe(JSON.stringify(before).replaceAll(/"objects\/.. \/",/g, ''));
  });

  it('is refused on a machine that is not managed', async () => {
    const bytes = await exported(await daemonWithState(), { stateName: 'one' });
    const daemon = await startDaemon({ settings: { STATESVC_VAULT_SYSTEM: 'none' } });
    const before = vaultFacts(daemon.folder);
    expect(await importBytes(daemon, bytes)).toMatchObject({ code: 9, results: [] });
    expect(vaultFacts(daemon.folder)).toEqual(before);
  });
});
