import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Daemon, startDaemon, temporaryFolder, treeFacts } from './daemon.ts';
import { host } from './host.ts';
import { fillTree, restore } from './sample-tree.ts';

const idOf = async (daemon: Daemon, name: string) =>
  (await daemon.dump()).machines[0]?.states.find((state) => state.name === name && state.user === null)?.id;
const namesOf = async (daemon: Daemon) =>
  (await daemon.dump()).machines[0]?.states.filter(({ user }) => user === null).map(({ name }) => name);

const changedOf = (answer: { results: readonly Record<string, unknown>[] }) => answer.results;

async function withGoodState() {
  const { tree, boot, restart } = host();
  const first = await boot('BOOT_IMAGE=/vmlinuz-1 ro');
  fillTree(tree);
  const home = join(temporaryFolder(), 'ada');
  await first.call('CreateUserData', { user: 'ada', homepath: home });
  writeFileSync(join(home, 'file'), 'good');
  const good = { tree: treeFacts(tree), home: treeFacts(home) };
  await first.save('good');
  const id = await idOf(first, 'good');
  writeFileSync(join(tree, 'hosts'), 'bad');
  rmSync(join(tree, 'sub'), { recursive: true });
  mkdirSync(join(tree, 'extra'));
  writeFileSync(join(home, 'file'), 'bad');
  const bad = { tree: treeFacts(tree), home: treeFacts(home) };
  await first.service.close(0);
  return { tree, home, boot, restart, id, good, bad, line: `ro statesvc.state=${id}` };
}

describe('PrepareBoot', () => {
  it('goes back to the state that was booted, once, and keeps what was there before', async () => {
    const { tree, home, boot, restart, good, bad, line } = await withGoodState();
    const daemon = await boot(line);
    const answer = await daemon.call('PrepareBoot');
    expect(answer).toMatchObject({ code: 0, results: [{ changed: true }] });
    expect(treeFacts(tree)).toEqual(good.tree);
    expect(treeFacts(home)).toEqual(bad.home);
    const [saved] = (await namesOf(daemon)) as string[];
    expect(saved).toMatch(/^auto_/);
    expect(answer.lines.at(-1)).toContain(`what was there before is ${saved}`);
    // Twice, also by another daemon of this boot, changes nothing.
    writeFileSync(join(tree, 'since'), 'x');
    expect(changedOf(await daemon.call('PrepareBoot'))).toEqual([{ changed: false }]);
    await daemon.service.close(0);
    const again = await restart(line);
    expect(changedOf(await again.call('PrepareBoot'))).toEqual([{ changed: false }]);
    expect(existsSync(join(tree, 'since'))).toBe(true);
    expect(await namesOf(again)).toEqual([saved, 'good']);
  });

  it('goes back from going back', async () => {
    const { tree, boot, bad, line } = await withGoodState();
    const first = await boot(line);
    await first.call('PrepareBoot');
    const [saved] = (await namesOf(first)) as string[];
    const id = await idOf(first, saved as string);
    await first.service.close(0);
    const second = await boot(`statesvc.state=${id}`);
    expect(changedOf(await second.call('PrepareBoot'))).toEqual([{ changed: true }]);
    expect(treeFacts(tree)).toEqual(bad.tree);
  });

  it('takes homes along when the command line says so', async () => {
    const { tree, home, boot, good, line } = await withGoodState();
    const daemon = await boot(`${line} statesvc.revert=userdata`);
    expect(changedOf(await daemon.call('PrepareBoot'))).toEqual([{ changed: true }]);
    expect({ tree: treeFacts(tree), home: treeFacts(home) }).toEqual(good);
  });

  it('goes on where it was interrupted, and tells which state is what was there before', async () => {
    const { tree, boot, restart, good, bad, line } = await withGoodState();
    const first = await boot(line);
    // The content of one file is missing: that is seen before anything is touched.
    const hash = createHash('sha256').update('127.0.0.1 localhost\n').digest('hex');
    const object = join((await first.dump()).storage.location, 'objects', hash.slice(0, 2), hash.slice(2));
    const content = readFileSync(object);
    rmSync(object);
    expect(await first.call('PrepareBoot')).toMatchObject({ code: 9, results: [] });
    expect(treeFacts(tree)).toEqual(bad.tree);
    // It is damaged: the way back breaks off in the middle, and what is damaged gets nowhere.
    writeFileSync(object, 'damaged');
    expect(await first.call('PrepareBoot')).toMatchObject({ code: 9, results: [] });
    expect(readFileSync(join(tree, 'hosts'), 'utf8')).toBe('bad');
    writeFileSync(object, content);
    await first.service.close(0);
    const again = await restart(line);
    const answer = await again.call('PrepareBoot');
    expect(answer).toMatchObject({ code: 0, results: [{ changed: true }] });
    expect(treeFacts(tree)).toEqual(good.tree);
    // One of each call: nobody can tell what in a tree is of a way back and what of somebody who worked there.
    const saved = (await namesOf(again))?.filter((name) => name.startsWith('auto_'));
    expect(saved).toHaveLength(3);
    expect(answer.lines.at(-1)).toContain(`what was there before is ${saved?.at(-1)}`);
  });

  it('keeps what was made since it was interrupted', async () => {
    const { tree, home, boot, restart, good, line } = await withGoodState();
    const both = `${line} statesvc.revert=userdata`;
    const first = await boot(both);
    const hash = createHash('sha256').update('127.0.0.1 localhost\n').digest('hex');
    const object = join((await first.dump()).storage.location, 'objects', hash.slice(0, 2), hash.slice(2));
    const content = readFileSync(object);
    rmSync(object);
    expect(await first.call('PrepareBoot')).toMatchObject({ code: 9, results: [] });
    const [saved] = (await namesOf(first)) as string[];
    await first.service.close(0);
    writeFileSync(object, content);
    writeFileSync(join(tree, 'work'), 'of the system');
    writeFileSync(join(home, 'work'), 'of ada');
    const worked = { tree: treeFacts(tree), home: treeFacts(home) };
    // However little space there is: half of two states is none of them.
    const again = await restart(both, { STATESVC_MIN_FREE: '90' });
    const answer = await again.call('PrepareBoot');
    expect(answer).toMatchObject({ code: 0, results: [{ changed: true }] });
    expect({ tree: treeFacts(tree), home: treeFacts(home) }).toEqual(good);
    const [since] = (await namesOf(again)) as string[];
    expect(await namesOf(again)).toEqual([since, saved, 'good']);
    expect(answer.lines).toContain(`what was there when it went on is ${since}`);
    const kept = await Promise.all([null, 'ada'].map((user) => restore(again, since ?? '', user)));
    expect(kept.map(({ target }) => treeFacts(target))).toEqual([worked.tree, worked.home]);
  });

  it('does nothing when no state is named or the machine is not managed', async () => {
    const { tree, boot, bad } = await withGoodState();
    const daemon = await boot('ro quiet');
    expect(await daemon.call('PrepareBoot')).toMatchObject({
      code: 0,
      lines: ['nothing to prepare: this boot goes back to no state'],
      results: [{ changed: false }],
    });
    expect(treeFacts(tree)).toEqual(bad.tree);
    const unmanaged = await startDaemon({ settings: { STATESVC_VAULT_SYSTEM: 'none' } });
    expect(changedOf(await unmanaged.call('PrepareBoot'))).toEqual([{ changed: false }]);
  });

  it('refuses a state that is not there, and nothing changes', async () => {
    const { tree, boot, bad } = await withGoodState();
    const daemon = await boot('ro statesvc.state=gone');
    const before = await daemon.dump();
    expect(await daemon.call('PrepareBoot')).toMatchObject({ code: 9, order: [] });
    expect(treeFacts(tree)).toEqual(bad.tree);
    expect(await daemon.dump()).toEqual(before);
  });
});

describe('CommitBoot', () => {
  it('writes down kernel and time, and tells whether something changed', async () => {
    const { boot } = host();
    const first = await boot('BOOT_IMAGE=/boot/vmlinuz-6.1 ro');
    expect(changedOf(await first.call('CommitBoot'))).toEqual([{ changed: true }]);
    expect(changedOf(await first.call('CommitBoot'))).toEqual([{ changed: false }]);
    expect((await first.dump()).machines[0]).toMatchObject({
      kernel: 'vmlinuz-6.1',
      lastUsedAt: expect.any(String),
    });
    await first.service.close(0);
    const second = await boot('BOOT_IMAGE=/boot/vmlinuz-6.2 ro');
    expect(changedOf(await second.call('CommitBoot'))).toEqual([{ changed: true }]);
    await second.save('now');
    expect((await second.dump()).machines[0]?.states[0]).toMatchObject({ kernel: 'vmlinuz-6.2' });
  });

  it('does not let the same boot go back a second time', async () => {
    const { tree, boot, restart, line } = await withGoodState();
    const daemon = await boot(line);
    await daemon.call('PrepareBoot');
    await daemon.call('CommitBoot');
    writeFileSync(join(tree, 'since'), 'x');
    expect(changedOf(await daemon.call('PrepareBoot'))).toEqual([{ changed: false }]);
    await daemon.service.close(0);
    const again = await restart(line);
    expect(changedOf(await again.call('PrepareBoot'))).toEqual([{ changed: false }]);
    expect(existsSync(join(tree, 'since'))).toBe(true);
    await again.service.close(0);
    // The next boot of the same entry does.
    const next = await boot(line);
    expect(changedOf(await next.call('PrepareBoot'))).toEqual([{ changed: true }]);
    expect(existsSync(join(tree, 'since'))).toBe(false);
  });

  it('takes nothing for good that was interrupted, also in another boot, and keeps what leads out of it', async () => {
    const { boot, id, line } = await withGoodState();
    const first = await boot(line);
    const hash = createHash('sha256').update('127.0.0.1 localhost\n').digest('hex');
    const object = join((await first.dump()).storage.location, 'objects', hash.slice(0, 2), hash.slice(2));
    writeFileSync(object, 'damaged');
    expect((await first.call('PrepareBoot')).code).toBe(9);
    const [saved] = (await namesOf(first)) as string[];
    await first.service.close(0);
    const second = await boot('ro quiet');
    const before = await second.dump();
    expect(await second.call('CommitBoot')).toMatchObject({ code: 9, results: [] });
    for (const stateName of [saved, id])
      expect((await second.call('RemoveSystemState', { stateName, force: true })).code).toBe(9);
    expect(
      (await second.call('RemoveUserState', { userName: 'ada', stateName: saved, force: true })).code,
    ).toBe(9);
    expect(await second.dump()).toEqual(before);
  });

  it('ends the way back to a state', async () => {
    const { boot, line } = await withGoodState();
    const daemon = await boot(line);
    await daemon.call('PrepareBoot');
    const answer = await daemon.call('CommitBoot');
    expect(answer.results).toEqual([{ changed: true }]);
    expect(answer.lines.join('\n')).toContain('@good');
    expect(changedOf(await daemon.call('CommitBoot'))).toEqual([{ changed: false }]);
  });

  it('does nothing on a machine that is not managed', async () => {
    const daemon = await startDaemon({ settings: { STATESVC_VAULT_SYSTEM: 'none' } });
    const before = await daemon.dump();
    expect(await daemon.call('CommitBoot')).toMatchObject({ code: 0, results: [{ changed: false }] });
    expect(await daemon.dump()).toEqual(before);
  });
});
