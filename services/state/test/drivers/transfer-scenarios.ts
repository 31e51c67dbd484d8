import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, type TestContext, vi } from 'vitest';
import { archiveOf, fileEntry } from '../archive.ts';
import { callAt, collect, temporaryFolder, treeFacts } from '../daemon.ts';
import { callExtra, exported, importBytes, openImport } from '../extras-client.ts';
import { ATTACKS } from '../hostile-archives.ts';
import { fillTree } from '../sample-tree.ts';
import { startProcess } from '../spawned-daemon.ts';
import { factsOf, fillWithEverything } from './everything.ts';
import { memberOf, namesOf, openHost, type StorageFixture, statesOf, withDaemon } from './fixture.ts';

/** Taking states out, and in again. */
export function transferScenarios(fixture: StorageFixture): void {
  describe('a state that is exported and imported', { timeout: 300_000 }, () => {
    it('is the same, with its homes, until it is removed', async (context) => {
      const { daemon, storage, start } = await withDaemon(context, fixture);
      fillWithEverything(storage.systemPath);
      const home = join(storage.homesFolder, 'ada');
      await daemon.call('CreateUserData', { user: 'ada', homepath: home });
      writeFileSync(join(home, 'letter'), 'dear');
      await daemon.save('one');
      const before = await storage.facts();
      const hasFifos = fixture.name !== 'vault';
      const trees = [factsOf(storage.systemPath, hasFifos), treeFacts(home)];
      const request = { stateName: 'one', users: true };
      const bytes = await exported(daemon, request);
      expect((await exported(daemon, request)).equals(bytes)).toBe(true);
      expect(await storage.facts()).toEqual(before);
      const answer = await importBytes(daemon, bytes, 'two');
      expect(answer).toMatchObject({ code: 0, results: [{ stateName: 'two' }] });
      expect(answer.lines.filter((line) => line.includes('fifo'))).toEqual([]);
      for (const userName of ['', 'ada']) {
        const compared = { stateName: 'one', otherStateName: 'two', userName };
        expect((await callExtra(daemon, 'Diff', compared)).results).toEqual([
          { summary: { added: 0, changed: 0, removed: 0 } },
        ]);
        expect((await callExtra(daemon, 'Diff', { stateName: 'two', userName })).results).toEqual([
          { summary: { added: 0, changed: 0, removed: 0 } },
        ]);
      }
      const check = async (user: string | null, tree: unknown) => {
        const { state, member } = await memberOf(daemon, 'two', user);
        expect(state).toMatchObject({ partial: false, imported: { bootable: fixture.name !== 'zfs' } });
        const content = await storage.contentOf(member);
        expect(user === null ? factsOf(content, hasFifos) : treeFacts(content)).toEqual(tree);
      };
      await check(null, trees[0]);
      await check('ada', trees[1]);
      expect((await exported(daemon, { stateName: 'two', users: true })).length).toBe(bytes.length);
      expect((await daemon.call('Refresh')).lines).toEqual(['nothing differed: 4 states']);
      const states = await statesOf(daemon);
      await daemon.service.close(0);
      const again = await start();
      expect(await statesOf(again)).toEqual(states);
      expect((await again.call('RemoveSystemState', { stateName: 'two' })).code).toBe(0);
      expect(await storage.facts()).toEqual(before);
      expect((await again.call('Refresh')).lines).toEqual(['nothing differed: 2 states']);
    });

    it('can be described, pinned, and taken out of its save', async (context) => {
      const { daemon, storage } = await withDaemon(context, fixture);
      const home = join(storage.homesFolder, 'ada');
      await daemon.call('CreateUserData', { user: 'ada', homepath: home });
      writeFileSync(join(home, 'letter'), 'dear');
      await daemon.save('one');
      const bytes = await exported(daemon, { stateName: 'one', users: true });
      expect((await importBytes(daemon, bytes, 'two')).code).toBe(0);
      await callExtra(daemon, 'Describe', { stateName: 'two', description: 'from afar' });
      await callExtra(daemon, 'Pin', { stateName: 'two' });
      const gone = { userName: 'ada', stateName: 'two', force: true };
      expect((await daemon.call('RemoveUserState', gone)).code).toBe(0);
      expect((await daemon.call('Refresh')).lines).toEqual(['nothing differed: 3 states']);
      const { state } = await memberOf(daemon, 'two');
      expect(state).toMatchObject({ description: 'from afar', pinned: true, partial: false });
      expect(await namesOf(daemon)).toEqual(expect.arrayContaining(['two', 'one', 'ada one']));
      expect((await exported(daemon, { stateName: 'two' })).length).toBeGreaterThan(1024);
    });

    it("is in nobody's way while it comes, and leaves nothing when its sender goes", async (context) => {
      const { daemon, storage } = await withDaemon(context, fixture);
      fillTree(storage.systemPath);
      await daemon.save('one');
      const bytes = await exported(daemon, { stateName: 'one' });
      const before = await storage.facts();
      for (const isCancelled of [true, false]) {
        const stream = openImport(daemon);
        const answer = collect(stream, {});
        stream.on('error', () => {});
        stream.write({ header: { stateName: 'slow' } });
        stream.write({ content: bytes.subarray(0, 50_000) });
        await sleep(1500);
        expect((await daemon.call('Refresh')).lines).toEqual(['nothing differed: 1 state']);
        if (isCancelled) {
          await daemon.save('meanwhile');
          await daemon.call('RemoveSystemState', { stateName: 'meanwhile' });
          stream.cancel();
          expect((await answer).code).toBe(1);
          // The next one is taken when that one is undone.
          const next = async () => (await importBytes(daemon, Buffer.from('x'))).code;
          await vi.waitFor(async () => expect(await next()).toBe(3), 40_000);
          expect(await storage.facts()).toEqual(before);
        } else {
          for (let at = 50_000; at < bytes.length; at += 50_000)
            stream.write({ content: bytes.subarray(at, at + 50_000) });
          stream.end();
          expect(await answer).toMatchObject({ code: 0, results: [{ stateName: 'slow' }] });
        }
      }
    });

    it('goes back to it where it is of the same kind of storage', async (context) => {
      const { storage, start } = await openHost(context, fixture);
      const first = await start();
      writeFileSync(join(storage.systemPath, 'file'), 'good');
      await first.save('one');
      const bytes = await exported(first, { stateName: 'one' });
      await first.call('RemoveSystemState', { stateName: 'one' });
      await importBytes(first, bytes, 'two');
      writeFileSync(join(storage.systemPath, 'file'), 'bad');
      const answer = await callExtra(first, 'RequestRevert', { stateName: 'two' });
      if (fixture.name === 'zfs') {
        expect(answer).toMatchObject({ code: 9, details: expect.stringContaining('no machine can go back') });
        return;
      }
      expect(answer.code).toBe(0);
      await first.service.close(0);
      const bootId = join(temporaryFolder(), 'boot_id');
      writeFileSync(bootId, 'the next boot');
      const booted = await start({ settings: { STATESVC_BOOT_ID_FILE: bootId } });
      expect(await booted.call('PrepareBoot')).toMatchObject({ code: 0, results: [{ changed: true }] });
      await booted.service.close(0);
      await storage.reopen();
      expect(readFileSync(join(storage.systemPath, 'file'), 'utf8')).toBe('good');
    });

    it('takes the room of every file where copies share nothing', async (context) => {
      const { daemon, storage } = await withDaemon(context, fixture);
      writeFileSync(join(storage.systemPath, 'file'), 'x');
      await daemon.save('one');
      const before = await storage.facts();
      const content = 'one content of many files '.repeat(40_000);
      const names = Array.from({ length: 300 }, (_, at) => `f${String(at).padStart(4, '0')}`);
      const bytes = archiveOf(
        names.map((name) => fileEntry(name, content)),
        [content],
      );
      const answer = await importBytes(daemon, bytes, 'many');
      // The pool of this test has 192 MiB.
      if (fixture.name !== 'zfs') expect(answer.code).toBe(0);
      else {
        expect(answer).toMatchObject({ code: 8, details: expect.stringContaining('above the reserve') });
        expect(await storage.facts()).toEqual(before);
      }
    });

    // The others have room enough: files of one content share it there.
    const many = 'takes the room of every member where many have one list';
    const takesRoom = async (context: TestContext) => {
      const { daemon, storage } = await withDaemon(context, fixture);
      writeFileSync(join(storage.systemPath, 'file'), 'x');
      await daemon.save('one');
      const before = await storage.facts();
      const content = 'one content of many members '.repeat(40_000);
      const bytes = archiveOf([fileEntry('file', content)], [content], (member) => ({
        members: Array.from({ length: 300 }, (_, at) => {
          const below = at === 0 ? '' : `/below-${at}`;
          return { ...member, dataset: at === 0 ? 'system' : `system:/etc${below}`, path: `/etc${below}` };
        }),
      }));
      const answer = await importBytes(daemon, bytes, 'many');
      expect(answer).toMatchObject({ code: 8, details: expect.stringContaining('above the reserve') });
      expect(await storage.facts()).toEqual(before);
    };
    if (fixture.name === 'zfs') it(many, takesRoom);

    it('keeps out what is hostile', async (context) => {
      const { daemon, storage } = await withDaemon(context, fixture);
      fillTree(storage.systemPath);
      await daemon.save('one');
      const good = await exported(daemon, { stateName: 'one' });
      const before = [await daemon.dump(), await storage.facts()];
      for (const [name, attack, code, says] of ATTACKS) {
        const answer = await importBytes(daemon, attack(good), 'evil');
        expect([name, answer]).toEqual([
          name,
          expect.objectContaining({ code, results: [], details: expect.stringContaining(says) }),
        ]);
        expect([name, await daemon.dump(), await storage.facts()]).toEqual([name, ...before]);
      }
      // And the next one works.
      expect((await importBytes(daemon, good, 'good')).code).toBe(0);
    });

    it('is there whole or not at all after kill -9', async (context) => {
      const { storage, start } = await openHost(context, fixture);
      for (let file = 0; file < 100; file++)
        writeFileSync(join(storage.systemPath, `f${file}`), `content of ${file} `.repeat(500));
      const tree = treeFacts(storage.systemPath);
      const first = await start();
      await first.save('one');
      const bytes = await exported(first, { stateName: 'one' });
      await first.call('RemoveSystemState', { stateName: 'one' });
      const without = await storage.facts();
      await first.service.close(0);
      let interrupted = 0;
      for (const delay of [20, 60, 120, 200, 300, 450, 700]) {
        const killed = await startProcess(storage.folder, storage.systemPath, storage.settings);
        const importing = importBytes(killed.address, bytes, 'two');
        await sleep(delay);
        await killed.kill();
        if ((await importing).code !== 0) interrupted++;
        const daemon = await start();
        const names = await namesOf(daemon);
        expect([[], ['two']]).toContainEqual(names);
        if (names.length > 0) {
          const { state, member } = await memberOf(daemon, 'two');
          expect(state.partial).toBe(false);
          expect(treeFacts(await storage.contentOf(member))).toEqual(tree);
          expect((await daemon.call('RemoveSystemState', { stateName: 'two' })).code).toBe(0);
        }
        // What a program of the dead daemon did after the start is cleared away by this at the latest.
        await daemon.call('Refresh');
        expect(await storage.facts()).toEqual(without);
        expect((await daemon.call('Refresh')).lines).toEqual(['nothing differed: 0 states']);
        await daemon.service.close(0);
      }
      expect(interrupted).toBeGreaterThan(0);
      const last = await start();
      expect((await callAt(last.service.address, 'SaveSystemState', { stateName: 'one' })).code).toBe(0);
      expect((await importBytes(last, bytes, 'two')).code).toBe(0);
    });
  });
}
