import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { callAt, treeFacts } from '../daemon.ts';
import { startProcess } from '../spawned-daemon.ts';
import { memberOf, namesOf, openHost, type StorageFixture } from './fixture.ts';

/** Daemons that are killed in the middle of a save or a removal. */
export function crashScenarios(fixture: StorageFixture): void {
  describe('kill -9', { timeout: 150_000 }, () => {
    it.for(['SaveSystemState', 'RemoveSystemState'])(
      'in %s leaves whole states and nothing else',
      async (operation, context) => {
        const { storage, start } = await openHost(context, fixture);
        for (let file = 0; file < 50; file++)
          writeFileSync(join(storage.systemPath, `f${file}`), `content of ${file} `.repeat(50));
        const tree = treeFacts(storage.systemPath);
        const first = await start();
        await first.call('CreateUserData', { user: 'ada', homepath: join(storage.homesFolder, 'ada') });
        const without = await storage.facts();
        await first.service.close(0);
        let interrupted = 0;
        for (const delay of [5, 15, 30, 60, 120]) {
          const killed = await startProcess(storage.folder, storage.systemPath, storage.settings);
          if (operation === 'RemoveSystemState')
            await callAt(killed.address, 'SaveSystemState', { stateName: 'one' });
          const calling = callAt(killed.address, operation, { stateName: 'one' });
          await sleep(delay);
          await killed.kill();
          if ((await calling).code !== 0) interrupted++;
          const daemon = await start();
          const names = await namesOf(daemon);
          expect([[], ['one', 'ada one']]).toContainEqual(names);
          if (names.length > 0) {
            const { state, member } = await memberOf(daemon, 'one');
            expect(state.partial).toBe(false);
            expect(treeFacts(await storage.contentOf(member))).toEqual(tree);
            expect((await daemon.call('RemoveSystemState', { stateName: 'one' })).code).toBe(0);
          }
          // What a program of the dead daemon did after the start is cleared away by this at the latest.
          await daemon.call('Refresh');
          expect(await storage.facts()).toEqual(without);
          expect((await daemon.call('Refresh')).lines).toEqual(['nothing differed: 0 states']);
          await daemon.service.close(0);
        }
        // A suite that never interrupts anything proves nothing.
        expect(interrupted).toBeGreaterThan(0);
      },
    );
  });
}
