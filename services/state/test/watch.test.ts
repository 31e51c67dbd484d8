import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ClientReadableStream } from '@grpc/grpc-js';
import { describe, expect, it } from 'vitest';
import { collect, type Daemon, startDaemon, temporaryFolder } from './daemon.ts';
import { callExtra, exported, extrasClient, importBytes, openExtra, watch } from './extras-client.ts';

type Event = Record<string, unknown>;

/** The kind of an event and who it is about. */
const textOf = (event: Event) => {
  const what = event['what'] as string;
  const about = event[what] as Record<string, unknown>;
  return `${what} ${String(about['name'] ?? about['user'] ?? about['id'])}`;
};

/** Waits until a watcher has so many events. */
async function until(events: readonly unknown[], count: number): Promise<void> {
  for (let waited = 0; events.length < count && waited < 5000; waited += 10) await sleep(10);
}

async function watched(daemon: Daemon) {
  const watcher = watch(daemon);
  await watcher.ready;
  return watcher;
}

/** So many events of the state `one`, over one connection. */
async function pinAndUnpin(daemon: Daemon, events: number): Promise<void> {
  const client = extrasClient(daemon);
  for (let at = 0; at < events; at++) {
    const method = client[at % 2 === 0 ? 'Pin' : 'Unpin'] as unknown as Method;
    expect((await collect(method.call(client, { stateName: 'one' }), {})).code).toBe(0);
  }
}

type Method = (request: object) => ClientReadableStream<unknown>;

describe('a watch', () => {
  it('begins with ready and tells what happens, in order, with numbers and times', async () => {
    const daemon = await startDaemon();
    await daemon.save('before');
    const { events, ready, stream } = watch(daemon);
    expect(await ready).toEqual({ id: 0, time: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/) });
    await daemon.call('CreateUserData', { user: 'ada', homepath: join(temporaryFolder(), 'ada') });
    await daemon.save('one');
    await callExtra(daemon, 'Describe', { stateName: 'one', description: 'secret' });
    await callExtra(daemon, 'Pin', { stateName: 'one', userName: 'ada' });
    await callExtra(daemon, 'Unpin', { stateName: 'one', userName: 'ada' });
    await callExtra(daemon, 'RequestRevert', { stateName: 'one' });
    await importBytes(daemon, await exported(daemon, { stateName: 'one' }), 'back');
    await daemon.call('RemoveSystemState', { stateName: 'before' });
    await until(events, 9);
    const machine = `vault:${daemon.tree}`;
    expect(events.map(textOf)).toEqual([
      'home ada',
      'saved one',
      'saved one',
      'described one',
      'pinned one',
      'unpinned one',
      `machine ${machine}`,
      'saved back',
      'removed before',
    ]);
    expect(events.map(({ id }) => id)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9]);
    expect(events[7]?.['saved']).toMatchObject({ machine, kind: 'system', user: '', imported: true });
    expect(JSON.stringify(events)).not.toContain('secret');
    stream.cancel();
  });

  it('tells that a menu was written', async () => {
    const boot = temporaryFolder();
    const entries = temporaryFolder();
    mkdirSync(join(entries, 'loader/entries'), { recursive: true });
    writeFileSync(join(boot, 'vmlinuz-6.1.0'), 'kernel');
    const settings = {
      STATESVC_BOOT_LOADER: 'entries',
      STATESVC_BOOT_FOLDER: boot,
      STATESVC_ENTRIES_FOLDER: entries,
    };
    const daemon = await startDaemon({ settings });
    const { events } = await watched(daemon);
    const saved = await daemon.call('SaveSystemState', { stateName: 'one', updateBootMenu: true });
    expect(saved.lines.join('\n')).toContain('boot menu (entries): 1 state');
    await until(events, 2);
    expect(events.map(textOf)).toEqual(['saved one', 'menu undefined']);
    expect(events[1]?.['menu']).toEqual({ states: 1, entries: 1 });
  });

  it('tells what somebody else changed in the storage, once it is read again', async () => {
    const daemon = await startDaemon();
    await daemon.save('one');
    const { events } = await watched(daemon);
    const folder = join(daemon.folder, 'vault/states');
    for (const file of readdirSync(folder)) rmSync(join(folder, file));
    await daemon.call('Refresh');
    await until(events, 1);
    expect(events.map(textOf)).toEqual(['removed one']);
  });

  it('is one of several that know nothing of each other, and ends within 100 ms', async () => {
    const daemon = await startDaemon();
    const [one, other] = [await watched(daemon), await watched(daemon)];
    await daemon.save('first');
    await until(one.events, 1);
    const started = performance.now();
    one.stream.cancel();
    expect((await one.ended).code).toBe(1);
    await daemon.save('second');
    await until(other.events, 2);
    expect(other.events.map(textOf)).toEqual(['saved first', 'saved second']);
    expect(one.events.map(textOf)).toEqual(['saved first']);
    expect(performance.now() - started).toBeLessThan(2000);
    const closing = performance.now();
    await daemon.service.close(10_000);
    // Nothing waits for what has no end.
    expect(performance.now() - closing).toBeLessThan(1500);
    expect(await other.ended).toMatchObject({ code: 14, details: expect.stringContaining('is stopping') });
  });

  it('ends with a deadline', async () => {
    const daemon = await startDaemon();
    const started = performance.now();
    expect((await watch(daemon, { deadlineMs: 300 }).ended).code).toBe(4);
    expect(performance.now() - started).toBeLessThan(1500);
  });

  it('that reads nothing does not hold up the end of the daemon', async () => {
    const daemon = await startDaemon();
    await daemon.save('one');
    const slow = openExtra(daemon, 'Watch', {});
    const ended = collect(slow, {});
    slow.pause();
    const quick = await watched(daemon);
    // More than the buffers of a connection take, so that the daemon waits in the middle of a message.
    await pinAndUnpin(daemon, 1500);
    await until(quick.events, 1500);
    const started = performance.now();
    await daemon.service.close(10_000);
    expect(performance.now() - started).toBeLessThan(5000);
    slow.resume();
    // What it did not read in time is cut off with its connection.
    expect([1, 14]).toContain((await ended).code);
  });

  it('that reads nothing holds no writer and is ended', async () => {
    const daemon = await startDaemon();
    await daemon.call('CreateUserData', { user: 'ada', homepath: join(temporaryFolder(), 'ada') });
    const slow = openExtra(daemon, 'Watch', {});
    const ended = collect(slow, {});
    const events: unknown[] = [];
    slow.on('data', (message) => events.push(message));
    slow.pause();
    const quick = await watched(daemon);
    await daemon.save('one');
    const started = performance.now();
    // More than the buffers of a connection and the queue behind them take.
    const turns = 3000;
    await pinAndUnpin(daemon, turns);
    expect(performance.now() - started).toBeLessThan(100_000);
    await until(quick.events, turns + 2);
    expect(quick.events).toHaveLength(turns + 2);
    slow.resume();
    expect(await ended).toMatchObject({ code: 8, details: expect.stringContaining('read DumpStates') });
    expect(events.length).toBeLessThan(turns + 2);
  });
});
