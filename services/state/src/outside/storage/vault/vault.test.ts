import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
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
  timeout: 60_000,
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
