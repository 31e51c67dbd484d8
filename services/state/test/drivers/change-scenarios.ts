import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, type TestContext } from 'vitest';
import { treeFacts } from '../daemon.ts';
import { memberOf, namesOf, type StorageFixture, statesOf, withDaemon } from './fixture.ts';

/** What happens when somebody changes the storage behind the daemon's back. */
export function changeScenarios(fixture: StorageFixture): void {
  const withTwo = async (context: TestContext) => {
    const host = await withDaemon(context, fixture);
    const { daemon, storage } = host;
    await daemon.call('CreateUserData', { user: 'ada', homepath: join(storage.homesFolder, 'ada') });
    writeFileSync(join(storage.homesFolder, 'ada/file'), 'of ada');
    writeFileSync(join(storage.systemPath, 'file'), 'good');
    await daemon.save('whole');
    writeFileSync(join(storage.systemPath, 'file'), 'other');
    await daemon.save('hurt');
    return host;
  };

  describe('behind the back of the daemon', () => {
    it('a record that has gone takes its states along, and what they held is freed', async (context) => {
      const { daemon, storage } = await withTwo(context);
      const { state } = await memberOf(daemon, 'hurt');
      await storage.loseRecord(state);
      const { code, lines } = await daemon.call('Refresh');
      expect(code).toBe(0);
      expect(lines.join('\n')).toContain('hurt');
      expect(await namesOf(daemon)).toEqual(['whole', 'ada whole']);
      const after = await storage.facts();
      // The name is free again, and nothing of the lost one is in the way.
      await daemon.save('hurt');
      await daemon.call('RemoveSystemState', { stateName: 'hurt' });
      expect(await storage.facts()).toEqual(after);
    });

    it('a member that has gone hurts its state alone, which can still be removed', async (context) => {
      const { daemon, storage, start } = await withTwo(context);
      const { member } = await memberOf(daemon, 'hurt');
      await storage.loseMember(member);
      expect((await daemon.call('Refresh')).code).toBe(0);
      const { member: whole } = await memberOf(daemon, 'whole');
      expect(Object.keys(treeFacts(await storage.contentOf(whole)))).toContain('/file');
      // What is left of the save is somebody's home, which nobody asked to remove.
      const { member: home } = await memberOf(daemon, 'hurt', 'ada');
      expect(Object.keys(treeFacts(await storage.contentOf(home)))).toEqual(['', '/file']);
      await daemon.service.close(0);
      const again = await start();
      expect((await again.call('RemoveSystemState', { stateName: 'hurt' })).code).toBe(0);
      expect(await namesOf(again)).toEqual(['whole', 'ada whole']);
      await again.save('next');
      const { member: next } = await memberOf(again, 'next');
      expect(treeFacts(await storage.contentOf(next))).toEqual(treeFacts(storage.systemPath));
    });

    it('what no daemon made is no state and stays', async (context) => {
      const { daemon, storage, start } = await withTwo(context);
      const states = await statesOf(daemon);
      await storage.addForeign();
      const before = await storage.facts();
      expect((await daemon.call('Refresh')).lines).toEqual(['nothing differed: 4 states']);
      await daemon.save('one-more');
      await daemon.call('RemoveSystemState', { stateName: 'one-more' });
      await daemon.service.close(0);
      const again = await start();
      expect(await statesOf(again)).toEqual(states);
      expect(await storage.facts()).toEqual(before);
    });
  });
}
