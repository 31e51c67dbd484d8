import { randomUUID } from 'node:crypto';
import { mkdirSync, promises, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { expect, it, onTestFinished, vi } from 'vitest';
import { temporaryFolder } from '../../../../test/daemon.ts';
import { aMachine, aState } from '../../../../test/models.ts';
import type { State } from '../../../model/model.ts';
import { openVault } from './vault.ts';

/** So many that reading them all takes much longer than writing one. */
const MANY = 2000;
const ROUNDS = 5;

/** A vault, and a way to save a file of a content of its own up to the completion mark. */
async function scene() {
  const [tree, folder] = [temporaryFolder(), temporaryFolder()];
  const vault = await openVault({ folder, machine: aMachine(), leaveOut: folder });
  const snapshot = async (): Promise<State> => {
    const id = randomUUID();
    writeFileSync(`${tree}/file`, id);
    const { members } = await vault.snapshotGroup({
      id,
      datasets: [{ name: 'system', role: 'system', path: tree }],
      budget: Number.POSITIVE_INFINITY,
      signal: new AbortController().signal,
      report: () => {},
    });
    return aState({ id, members });
  };
  return { vault, folder, snapshot };
}

/** Records of more states that hold what a state holds. */
function copyRecord(folder: string, { id }: State, count: number): void {
  const text = readFileSync(`${folder}/states/${id}.json`, 'utf8');
  for (let copy = 0; copy < count; copy++) {
    const other = randomUUID();
    writeFileSync(`${folder}/states/${other}.json`, text.replaceAll(id, other));
  }
}

const objectsIn = (folder: string) =>
  readdirSync(`${folder}/objects`, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.includes('/'),
  );

it('a collection takes nothing of a save that is completed while it reads what others need', {
  timeout: 150_000,
}, async () => {
  const { vault, folder, snapshot } = await scene();
  const first = await snapshot();
  await vault.complete([first]);
  copyRecord(folder, first, MANY);
  for (let round = 0; round < ROUNDS; round++) {
    const state = await snapshot();
    const there = objectsIn(folder);
    await Promise.all([vault.collect(), vault.complete([state])]);
    expect(objectsIn(folder)).toEqual(there);
  }
});

it('a look while a home is moved leaves the mark that tells a crash where it is', async () => {
  const { vault, folder } = await scene();
  const homes = temporaryFolder();
  const [path, target] = [`${homes}/ada`, `${homes}/moved`];
  mkdirSync(path);
  const home = { user: 'ada', path, machines: [] };
  await vault.homes.create(home, undefined);
  const read = () => JSON.parse(readFileSync(`${folder}/homes.json`, 'utf8')) as unknown;
  const seen: unknown[] = [];
  const { rename } = promises;
  const spy = vi.spyOn(promises, 'rename').mockImplementation(async (from, to) => {
    if (String(to) === target) {
      const { homes: found } = await vault.scan();
      seen.push(found, read());
    }
    await rename(from, to);
  });
  syncBuiltinESMExports();
  onTestFinished(() => {
    spy.mockRestore();
    syncBuiltinESMExports();
  });
  await vault.homes.move(home, target);
  expect(seen).toMatchObject([
    [{ user: 'ada', path }],
    { homes: [{ user: 'ada', path, moving: { path: target } }] },
  ]);
  expect(read()).toMatchObject({ homes: [{ user: 'ada', path: target }] });
});
