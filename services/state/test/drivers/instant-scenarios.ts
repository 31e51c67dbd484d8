import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type StorageFixture, statesOf, withDaemon } from './fixture.ts';

/** How somebody writes: over what is there, the same and waiting for the disk each time, or by new names. */
type Way = 'over' | 'synced' | 'named';

/** Counts in two files, the first always first, as fast as it can: at every instant they are equal, or the first is one ahead. */
const WRITER = `
const fs = require('node:fs');
const [way, ...files] = process.argv.slice(1);
const flags = fs.constants.O_RDWR | (way === 'synced' ? fs.constants.O_DSYNC : 0);
const handles = files.map((file) => fs.openSync(file, flags));
const write = (at, count) => {
  if (way !== 'named') return fs.writeSync(handles[at], count, 0);
  fs.writeFileSync(files[at] + '.new', count);
  fs.renameSync(files[at] + '.new', files[at]);
};
process.stdout.write('ready');
for (let count = 1; ; count++) for (const at of files.keys()) write(at, String(count).padStart(12, '0'));
`;

const SAVES = 5;

/** Writes in two folders until the test ends. */
export async function count(way: Way, places: readonly string[]): Promise<void> {
  const files = places.map((place) => join(place, 'count'));
  for (const place of places) mkdirSync(place, { recursive: true });
  for (const file of files) writeFileSync(file, '0'.repeat(12));
  const writer = spawn(process.execPath, ['-e', WRITER, way, ...files], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(writer, 'exit');
  onTestFinished(async () => {
    writer.kill('SIGKILL');
    await exited;
  });
  await once(writer.stdout, 'data');
}

/** How far the count in a folder is. */
export const countIn = (folder: string): number => Number(readFileSync(join(folder, 'count'), 'latin1'));

/** States that the storage calls one instant are one: somebody writes to two places while they are saved. */
export function instantScenarios(fixture: StorageFixture): void {
  describe('one instant', () => {
    it('is what a dataset was, in every place of it', { timeout: 150_000 }, async (context) => {
      const { daemon, storage } = await withDaemon(context, fixture);
      await count('over', [join(storage.systemPath, 'a/b'), join(storage.systemPath, 'c')]);
      const seen: number[] = [];
      for (let save = 0; save < SAVES; save++) {
        await daemon.save();
        await sleep(5);
      }
      for (const { oneInstant, members } of await statesOf(daemon)) {
        if (!oneInstant || members[0] === undefined) continue;
        const content = await storage.contentOf(members[0]);
        const [first, second] = [countIn(join(content, 'a/b')), countIn(join(content, 'c'))];
        expect([0, 1]).toContain(first - second);
        seen.push(first);
      }
      // A walk takes its time, and a snapshot on btrfs misses content that is still in memory.
      expect(seen).toHaveLength(fixture.name === 'zfs' ? SAVES : 0);
      expect(new Set(seen).size).toBe(seen.length);
    });

    it('is what several datasets were, where the storage says so', { timeout: 150_000 }, async (context) => {
      const { daemon, storage } = await withDaemon(context, fixture);
      const home = join(storage.homesFolder, 'ada');
      await daemon.call('CreateUserData', { user: 'ada', homepath: home });
      await count('over', [storage.systemPath, home]);
      for (let save = 0; save < SAVES; save++) await daemon.save();
      const states = await statesOf(daemon);
      for (const { id, oneInstant, members } of states) {
        const other = states.find(({ system }) => system === id);
        if (!oneInstant || members[0] === undefined || other?.members[0] === undefined) continue;
        const [first, second] = [
          countIn(await storage.contentOf(members[0])),
          countIn(await storage.contentOf(other.members[0])),
        ];
        expect([0, 1]).toContain(first - second);
      }
      // On btrfs snapshots of subvolumes come one after the other, too.
      expect(states.some(({ oneInstant }) => oneInstant)).toBe(fixture.name === 'zfs');
    });
  });
}
