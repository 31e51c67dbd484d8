import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryFolder, treeFacts } from '../daemon.ts';
import { callExtra } from '../extras-client.ts';
import { fillTree } from '../sample-tree.ts';
import {
  machineOf,
  memberOf,
  namesOf,
  openHost,
  type StorageFixture,
  statesOf,
  withDaemon,
} from './fixture.ts';

/** Saving, finding and removing states. */
export function stateScenarios(fixture: StorageFixture): void {
  describe('states', () => {
    it('hold what was there when they were saved', async (context) => {
      const { daemon, storage } = await withDaemon(context, fixture);
      fillTree(storage.systemPath);
      const before = treeFacts(storage.systemPath);
      expect(await daemon.save('first')).toBe('first');
      rmSync(join(storage.systemPath, 'sub'), { recursive: true });
      writeFileSync(join(storage.systemPath, 'hosts'), 'something else');
      const after = treeFacts(storage.systemPath);
      const automatic = await daemon.save();
      expect(await namesOf(daemon)).toEqual([automatic, 'first']);
      const [first, second] = [await memberOf(daemon, 'first'), await memberOf(daemon, automatic)];
      expect(treeFacts(await storage.contentOf(first.member))).toEqual(before);
      expect(treeFacts(await storage.contentOf(second.member))).toEqual(after);
      expect(first.state).toMatchObject({ kind: 'system', automatic: false, partial: false });
      expect(second.state).toMatchObject({ kind: 'system', automatic: true, partial: false });
    });

    it('are there after a restart and a reboot, and nothing differs', async (context) => {
      const { daemon, storage, start } = await withDaemon(context, fixture);
      writeFileSync(join(storage.systemPath, 'file'), 'content');
      await daemon.save('kept');
      const states = await statesOf(daemon);
      await daemon.service.close(0);
      await storage.reopen();
      const again = await start();
      expect(await statesOf(again)).toEqual(states);
      expect(await again.call('Refresh')).toMatchObject({ code: 0, lines: ['nothing differed: 1 state'] });
      const { member } = await memberOf(again, 'kept');
      expect(treeFacts(await storage.contentOf(member))).toEqual(treeFacts(storage.systemPath));
    });

    it('are found by id, full name, name, and the end of a name, and go without a trace', async (context) => {
      const { daemon, storage } = await withDaemon(context, fixture);
      await daemon.save('stays');
      const before = await storage.facts();
      for (const way of ['id', 'full', 'name', 'end'] as const) {
        const name = await daemon.save();
        const { id } = (await statesOf(daemon))[0] ?? { id: '' };
        const machine = (await daemon.dump()).machines[0]?.id;
        const stateName = { id, full: `${machine}@${name}`, name, end: name.slice('auto_'.length) }[way];
        const dry = await daemon.call('RemoveSystemState', { stateName, dryrun: true });
        expect(await namesOf(daemon)).toEqual([name, 'stays']);
        expect(await daemon.call('RemoveSystemState', { stateName })).toMatchObject({
          code: 0,
          lines: dry.lines,
        });
        expect(await namesOf(daemon)).toEqual(['stays']);
        expect(await storage.facts()).toEqual(before);
      }
    });

    it.for([
      ['a name that is taken', 'SaveSystemState', { stateName: 'taken' }, 6],
      ['a name that is a path', 'SaveSystemState', { stateName: '../x' }, 3],
      ['a name that is an option', 'SaveSystemState', { stateName: '-r' }, 3],
      ['a name with a line break', 'SaveSystemState', { stateName: 'a\nb' }, 3],
      ['a name of automatic states', 'SaveSystemState', { stateName: 'auto_abcdef' }, 3],
      ['a name that is too long', 'SaveSystemState', { stateName: 'x'.repeat(101) }, 3],
      ['a user without a home', 'SaveUserState', { userName: 'eve', stateName: 'x' }, 5],
      ['a user that is a path', 'SaveUserState', { userName: '../@', stateName: 'x' }, 3],
      ['to remove what is not there', 'RemoveSystemState', { stateName: 'none' }, 5],
      ['to remove what runs', 'RemoveSystemState', { stateName: 'MACHINE', force: true }, 9],
      ['to remove what a user does not have', 'RemoveUserState', { userName: 'eve', stateName: 'taken' }, 5],
    ] as const)('refuse %s, and nothing changes', async ([, operation, given, code], context) => {
      const { daemon, storage } = await withDaemon(context, fixture);
      await daemon.save('taken');
      const dump = await daemon.dump();
      const before = await storage.facts();
      const stateName = given.stateName.replace('MACHINE', machineOf(dump).id);
      const answer = await daemon.call(operation, { ...given, stateName });
      expect(answer).toMatchObject({ code, results: [] });
      expect(answer.details).not.toBe('');
      expect(await daemon.dump()).toEqual(dump);
      expect(await storage.facts()).toEqual(before);
    });

    it('leave nothing when the caller goes away or is too late', async (context) => {
      const { daemon, storage } = await withDaemon(context, fixture);
      fillTree(storage.systemPath);
      await daemon.save('before');
      const before = await storage.facts();
      for (const options of [
        { onLine: (_line: string, stream: { cancel(): void }) => stream.cancel() },
        { deadlineMs: 1 },
        { deadlineMs: 50 },
      ]) {
        const { code } = await daemon.call('SaveSystemState', { stateName: 'late' }, options);
        expect([0, 1, 4]).toContain(code);
        // The undo runs after the caller has gone; who reads the storage waits for it. What was complete by then stays.
        const { lines } = await daemon.call('Refresh');
        const isThere = (await namesOf(daemon)).includes('late');
        expect(lines).toEqual([`nothing differed: ${isThere ? '2 states' : '1 state'}`]);
        expect(isThere || code !== 0).toBe(true);
        if (isThere) await daemon.call('RemoveSystemState', { stateName: 'late' });
        expect(await namesOf(daemon)).toEqual(['before']);
        expect(await storage.facts()).toEqual(before);
      }
    });

    it('are refused when there is too little space, and nothing changes', async (context) => {
      const { storage, start } = await openHost(context, fixture);
      const daemon = await start({ settings: await storage.runShort() });
      const before = await storage.facts();
      const answer = await daemon.call('SaveSystemState', { stateName: 'no-room' });
      expect(answer).toMatchObject({ code: 8, results: [] });
      expect(answer.details).toMatch(/not enough free space on .+ free, more than .+ needed/);
      expect(await namesOf(daemon)).toEqual([]);
      expect(await storage.facts()).toEqual(before);
    });

    it('that are pinned stay, also after a restart, until somebody means it', async (context) => {
      const { daemon, storage, start } = await withDaemon(context, fixture);
      await daemon.save('pinned');
      expect((await callExtra(daemon, 'Pin', { stateName: 'pinned' })).code).toBe(0);
      const before = await storage.facts();
      await daemon.service.close(0);
      const again = await start();
      expect(await again.call('RemoveSystemState', { stateName: 'pinned' })).toMatchObject({
        code: 9,
        results: [],
      });
      expect((await again.call('GC', { all: true })).code).toBe(0);
      expect(await namesOf(again)).toEqual(['pinned']);
      expect(await storage.facts()).toEqual(before);
      expect((await again.call('RemoveSystemState', { stateName: 'pinned', force: true })).code).toBe(0);
      expect(await namesOf(again)).toEqual([]);
    });

    it('are collected by the policy, and manual ones stay', async (context) => {
      const policy = join(temporaryFolder(), 'policy.yaml');
      writeFileSync(policy, 'keep: {days: 0, newest: 1, rules: []}\n');
      let now = new Date('2026-11-22T12:00:00Z').getTime();
      const { daemon, storage } = await withDaemon(context, fixture, {
        settings: { STATESVC_POLICY: policy },
        clock: { now: () => new Date((now += 60_000)) },
      });
      await daemon.save('manual');
      const before = await storage.facts();
      for (let count = 0; count < 3; count++) await daemon.save();
      now += 30 * 86_400_000;
      const newest = await daemon.save();
      const answer = await daemon.call('GC');
      expect(answer).toMatchObject({ code: 0 });
      expect(answer.lines.at(-1)).toBe('removed 3 states');
      expect(await namesOf(daemon)).toEqual([newest, 'manual']);
      await daemon.call('GC', { all: true });
      await daemon.call('RemoveSystemState', { stateName: newest });
      await daemon.save('manual');
      expect((await storage.facts()).length).toBe(before.length);
    });
  });
}
