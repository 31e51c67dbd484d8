import { chmodSync, mkdirSync, rmSync, symlinkSync, unlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { comparePaths } from '../src/model/path-order.ts';
import { type Daemon, startDaemon, temporaryFolder, vaultFacts } from './daemon.ts';
import { callExtra, openExtra } from './extras-client.ts';
import { fillTree } from './sample-tree.ts';

interface Change {
  readonly path: string;
  readonly kind: string;
  readonly type: string;
  readonly oldType: string;
}

interface Changes {
  readonly dataset: string;
  readonly path: string;
  readonly changes: readonly Change[];
}

/** A diff as one line a path: `added file path`, `changed content mode file path`. */
async function diff(daemon: Daemon, request: object) {
  const answer = await callExtra(daemon, 'Diff', request);
  expect(answer).toMatchObject({ code: 0 });
  expect(answer.order.at(-1)).toBe('summary');
  const messages = answer.results.flatMap((result) => (result['changes'] as Changes | undefined) ?? []);
  const lines = messages.flatMap(({ dataset, changes }) =>
    changes.map((change) => `${dataset} ${textOf(change)}`),
  );
  return { lines, messages, summary: answer.results.at(-1)?.['summary'], log: answer.lines };
}

function textOf({ path, kind, type, oldType, ...what }: Change): string {
  const flags = Object.entries(what)
    .filter(([, set]) => set)
    .map(([name]) => name);
  const words = [kind.replace('DIFF_KIND_', '').toLowerCase(), ...flags];
  return [...words, oldType === '' ? type : `${oldType}→${type}`, path].join(' ');
}

/** Every kind of change that a tree can have. */
function change(tree: string): void {
  writeFileSync(join(tree, 'hosts'), '127.0.0.1 localhosT\n');
  utimesSync(join(tree, 'hosts'), 1_234_567_891, 1_234_567_891);
  utimesSync(join(tree, 'empty'), 1, 1);
  chmodSync(join(tree, 'sub/secret'), 0o640);
  unlinkSync(join(tree, 'sub/to-hosts'));
  symlinkSync('../elsewhere', join(tree, 'sub/to-hosts'));
  rmSync(join(tree, 'sub/deep'), { recursive: true });
  writeFileSync(join(tree, 'sub/deep'), 'now a file');
  unlinkSync(join(tree, 'large'));
  mkdirSync(join(tree, 'new/folder'), { recursive: true });
  writeFileSync(join(tree, 'new/folder/file'), '');
  writeFileSync(join(tree, 'new-er'), '');
}

const CHANGES = [
  'system changed content file hosts',
  'system removed file large',
  'system added folder new',
  'system added folder new/folder',
  'system added file new/folder/file',
  'system added file new-er',
  'system changed mode folder→file sub/deep',
  'system removed folder sub/deep/er',
  // Another name of the same file.
  'system changed content file sub/hosts-too',
  'system changed mode file sub/secret',
  'system changed target link sub/to-hosts',
];

describe('a diff', () => {
  it('of two states and of a state and the present says the same, by path', async () => {
    const daemon = await startDaemon();
    fillTree(daemon.tree);
    await daemon.save('before');
    change(daemon.tree);
    const now = await diff(daemon, { stateName: 'before' });
    expect(now.lines).toEqual(CHANGES);
    expect(now.summary).toEqual({ added: 4, changed: 5, removed: 2 });
    expect(now.messages.map(({ path }) => path)).toEqual([daemon.tree]);
    await daemon.save('after');
    const states = await diff(daemon, { stateName: 'before', otherStateName: 'after' });
    expect(states.lines).toEqual(CHANGES);
    const back = await diff(daemon, { stateName: 'after', otherStateName: 'before' });
    expect(back.summary).toEqual({ added: 2, changed: 5, removed: 4 });
  });

  it('tells times only when it is asked to', async () => {
    const daemon = await startDaemon();
    fillTree(daemon.tree);
    await daemon.save('before');
    utimesSync(join(daemon.tree, 'empty'), 1, 1);
    expect((await diff(daemon, { stateName: 'before' })).lines).toEqual([]);
    const lines = ['system changed time file empty'];
    expect((await diff(daemon, { stateName: 'before', times: true })).lines).toEqual(lines);
    await daemon.save('after');
    const request = { stateName: 'before', otherStateName: 'after', times: true };
    expect((await diff(daemon, request)).lines).toEqual(lines);
  });

  it('of a state with itself and with an unchanged present is empty', async () => {
    const daemon = await startDaemon();
    fillTree(daemon.tree);
    await daemon.save('one');
    const nothing = { lines: [], summary: { added: 0, changed: 0, removed: 0 } };
    expect(await diff(daemon, { stateName: 'one', times: true })).toMatchObject(nothing);
    expect(await diff(daemon, { stateName: 'one', otherStateName: 'one', times: true })).toMatchObject(
      nothing,
    );
  });

  it('of a user is of his home, and of what has gone says so', async () => {
    const daemon = await startDaemon();
    const home = join(temporaryFolder(), 'ada');
    await daemon.call('CreateUserData', { user: 'ada', homepath: home });
    await daemon.save('one');
    writeFileSync(join(home, 'new'), '');
    const request = { stateName: 'one', userName: 'ada' };
    expect((await diff(daemon, request)).lines).toEqual(['home-ada added file new']);
    await daemon.call('DissociateUser', { user: 'ada' });
    expect(await callExtra(daemon, 'Diff', request)).toMatchObject({
      code: 9,
      results: [],
      details: expect.stringContaining('compare it with another state'),
    });
  });

  it('never follows a link out of the tree, also not to read a file', async () => {
    const daemon = await startDaemon();
    const outside = temporaryFolder();
    mkdirSync(join(daemon.tree, 'folder'));
    writeFileSync(join(daemon.tree, 'folder/file'), 'inside');
    await daemon.save('one');
    rmSync(join(daemon.tree, 'folder'), { recursive: true });
    writeFileSync(join(outside, 'file'), 'outside');
    symlinkSync(outside, join(daemon.tree, 'folder'));
    expect((await diff(daemon, { stateName: 'one' })).lines).toEqual([
      'system changed mode folder→link folder',
      'system removed file folder/file',
    ]);
  });

  it('comes in messages of at most 64 KiB that are in order', async () => {
    const daemon = await startDaemon();
    await daemon.save('empty');
    const names = Array.from({ length: 3000 }, (_, at) => `${'ü'.repeat(100)}-${at}`);
    for (const name of names) writeFileSync(join(daemon.tree, name), '');
    const sizes: number[] = [];
    const stream = openExtra(daemon, 'Diff', { stateName: 'empty' });
    const paths: string[] = [];
    for await (const message of stream as AsyncIterable<{ changes?: Changes }>) {
      sizes.push(Buffer.byteLength(JSON.stringify(message)));
      paths.push(...(message.changes?.changes.map(({ path }) => path) ?? []));
    }
    expect(paths).toHaveLength(3000);
    expect(paths).toEqual(paths.toSorted(comparePaths));
    expect(sizes.length).toBeGreaterThan(20);
    // JSON is longer than the wire.
    expect(Math.max(...sizes)).toBeLessThan(64 * 1024);
  });

  it.each([
    [{ stateName: 'none' }, 5],
    [{ stateName: 'one', otherStateName: 'none' }, 5],
    [{ stateName: 'one', userName: 'ada' }, 5],
    [{ stateName: 'one', userName: '../x' }, 3],
  ])('of what is not there is refused: %j', async (request, code) => {
    const daemon = await startDaemon();
    await daemon.save('one');
    const before = vaultFacts(daemon.folder);
    expect(await callExtra(daemon, 'Diff', request)).toMatchObject({ code, order: [] });
    expect(vaultFacts(daemon.folder)).toEqual(before);
  });

  it('ends soon when it is cancelled, and nothing is held', async () => {
    const daemon = await startDaemon();
    for (let at = 0; at < 30; at++)
      writeFileSync(join(daemon.tree, `f${at}`), Buffer.alloc(4_000_000, String(at)));
    await daemon.save('one');
    // Every file has to be read.
    for (let at = 0; at < 30; at++) utimesSync(join(daemon.tree, `f${at}`), 1, 1);
    const answer = await callExtra(daemon, 'Diff', { stateName: 'one' }, { deadlineMs: 30 });
    expect(answer.code).toBe(4);
    const started = performance.now();
    await daemon.service.close(5000);
    expect(performance.now() - started).toBeLessThan(1500);
  });
});
