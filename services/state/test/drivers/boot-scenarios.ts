import { randomUUID } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, type TestContext } from 'vitest';
import { type Daemon, temporaryFolder, treeFacts } from '../daemon.ts';
import { fillTree } from '../sample-tree.ts';
import {
  type DumpedMember,
  memberOf,
  namesOf,
  openHost,
  type StorageFixture,
  withDaemon,
} from './fixture.ts';

/** Going back to a state, and states that may not be removed. */
export function bootScenarios(fixture: StorageFixture): void {
  const withGood = async (context: TestContext) => {
    const { storage, start } = await openHost(context, fixture);
    const cmdline = join(temporaryFolder(), 'cmdline');
    const bootId = join(temporaryFolder(), 'boot_id');
    const restart = (): Promise<Daemon> =>
      start({ settings: { STATESVC_CMDLINE_FILE: cmdline, STATESVC_BOOT_ID_FILE: bootId } });
    const boot = async (line: string, member?: DumpedMember): Promise<Daemon> => {
      writeFileSync(cmdline, `${storage.rootWord?.(member) ?? ''} ${line}\n`);
      writeFileSync(bootId, randomUUID());
      return restart();
    };
    /** What was replaced while it was mounted is seen when it is mounted again. */
    const remounted = async (daemon: Daemon): Promise<Daemon> => {
      await daemon.service.close(0);
      await storage.reopen();
      return restart();
    };
    const first = await boot('BOOT_IMAGE=/vmlinuz-1 ro');
    const home = join(storage.homesFolder, 'ada');
    await first.call('CreateUserData', { user: 'ada', homepath: home });
    fillTree(storage.systemPath);
    writeFileSync(join(home, 'file'), 'good');
    const facts = () => ({ system: treeFacts(storage.systemPath), home: treeFacts(home) });
    const good = facts();
    await first.save('good');
    rmSync(join(storage.systemPath, 'sub'), { recursive: true });
    writeFileSync(join(storage.systemPath, 'hosts'), 'bad');
    mkdirSync(join(storage.systemPath, 'extra'));
    writeFileSync(join(home, 'file'), 'bad');
    const bad = facts();
    const { state, member } = await memberOf(first, 'good');
    await first.service.close(0);
    return { storage, boot, remounted, home, good, bad, facts, id: state.id, of: member };
  };

  describe('going back', () => {
    it('brings the system back, once, and keeps what was there as a state', async (context) => {
      const { storage, boot, remounted, good, bad, facts, id, of } = await withGood(context);
      const booted = await boot(`ro statesvc.state=${id}`, of);
      expect(await booted.call('PrepareBoot')).toMatchObject({ code: 0, results: [{ changed: true }] });
      const daemon = await remounted(booted);
      expect(facts()).toEqual({ system: good.system, home: bad.home });
      writeFileSync(join(storage.systemPath, 'since'), 'x');
      expect(await daemon.call('PrepareBoot')).toMatchObject({ code: 0, results: [{ changed: false }] });
      expect(readFileSync(join(storage.systemPath, 'since'), 'utf8')).toBe('x');
      const [saved] = (await namesOf(daemon)).filter((name) => name.startsWith('auto_'));
      const { member } = await memberOf(daemon, saved ?? '');
      expect(treeFacts(await storage.contentOf(member))).toEqual(bad.system);
      expect(await daemon.call('CommitBoot')).toMatchObject({ code: 0, results: [{ changed: true }] });
      expect(await daemon.call('CommitBoot')).toMatchObject({ code: 0, results: [{ changed: false }] });
      // And the state it went back to is what it was.
      const { member: then } = await memberOf(daemon, 'good');
      expect(treeFacts(await storage.contentOf(then))).toEqual(good.system);
    });

    it('takes homes along when asked to, and can go back from that', async (context) => {
      const { storage, boot, remounted, good, bad, facts, id, of } = await withGood(context);
      const booted = await boot(`ro statesvc.state=${id} statesvc.revert=userdata`, of);
      expect(await booted.call('PrepareBoot')).toMatchObject({ code: 0, results: [{ changed: true }] });
      const daemon = await remounted(booted);
      expect(facts()).toEqual(good);
      await daemon.call('CommitBoot');
      const [saved] = (await namesOf(daemon)).filter((name) => name.startsWith('auto_'));
      const { state, member: before } = await memberOf(daemon, saved ?? '');
      await daemon.service.close(0);
      const back = await boot(`ro statesvc.state=${state.id} statesvc.revert=userdata`, before);
      expect(await back.call('PrepareBoot')).toMatchObject({ code: 0, results: [{ changed: true }] });
      const next = await remounted(back);
      expect(facts()).toEqual(bad);
      // The home is still one: it is saved, and it moves.
      await next.save('after');
      const { member } = await memberOf(next, 'after', 'ada');
      expect(treeFacts(await storage.contentOf(member))).toEqual(bad.home);
    });

    it('refuses a state that is not there or has lost a member, and nothing changes', async (context) => {
      const { storage, boot, bad, facts, id, of } = await withGood(context);
      const daemon = await boot(`ro statesvc.state=${randomUUID()}`);
      expect(await daemon.call('PrepareBoot')).toMatchObject({ code: 9, results: [] });
      const { member } = await memberOf(daemon, 'good');
      await storage.loseMember(member);
      await daemon.service.close(0);
      const again = await boot(`ro statesvc.state=${id}`, of);
      expect(await again.call('PrepareBoot')).toMatchObject({ code: 9, results: [] });
      expect(facts()).toEqual(bad);
    });

    it('leaves alone what runs and what the next boot needs', async (context) => {
      const { storage, boot, id, of } = await withGood(context);
      const daemon = await boot(`ro statesvc.state=${id}`, of);
      const before = await storage.facts();
      for (const stateName of ['good', id]) {
        expect(await daemon.call('RemoveSystemState', { stateName, force: true })).toMatchObject({ code: 9 });
      }
      expect(await daemon.call('GC', { all: true })).toMatchObject({ code: 0 });
      expect(await namesOf(daemon)).toEqual(['good', 'ada good']);
      expect(await storage.facts()).toEqual(before);
    });

    it('does nothing when no state is named', async (context) => {
      const { daemon, storage } = await withDaemon(context, fixture);
      writeFileSync(join(storage.systemPath, 'file'), 'x');
      const before = [await storage.facts(), treeFacts(storage.systemPath)];
      expect(await daemon.call('PrepareBoot')).toMatchObject({ code: 0, results: [{ changed: false }] });
      expect([await storage.facts(), treeFacts(storage.systemPath)]).toEqual(before);
    });
  });
}
