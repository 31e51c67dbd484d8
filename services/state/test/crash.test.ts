import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { materialise } from '../src/outside/storage/vault/trees/materialise.ts';
import { callAt, type Dump, temporaryFolder, treeFacts, vaultFacts } from './daemon.ts';
import { startProcess } from './spawned-daemon.ts';
import { readManifest } from './vault-check.ts';

function makeTree(files: number): string {
  const tree = temporaryFolder();
  for (let file = 0; file < files; file++)
    writeFileSync(join(tree, `f${file}`), `content ${file} `.repeat(100));
  return tree;
}

async function states(address: string) {
  const answer = await callAt(address, 'DumpStates');
  const dump = JSON.parse(answer.results.map(({ states: text }) => text).join('')) as Dump;
  return { location: dump.storage.location, list: dump.machines[0]?.states ?? [] };
}

/** Every state is whole, and the vault holds nothing that no state uses. */
async function checkVault(
  folder: string,
  address: string,
  expected: Record<string, string>,
): Promise<string[]> {
  const { list, location } = await states(address);
  const used = new Set<string>();
  for (const state of list) {
    const manifest = state.members[0]?.snapshot as string;
    used.add(manifest);
    for (const line of readManifest(location, manifest).toString().trim().split('\n'))
      used.add((JSON.parse(line) as { hash?: string }).hash ?? manifest);
  }
  for (const state of list.slice(0, 1)) {
    const target = join(temporaryFolder(), 'restored');
    await materialise(location, state.members[0]?.snapshot as string, target);
    // Compared as texts: a tree of hundreds of files makes no readable difference otherwise.
    expect(JSON.stringify(treeFacts(target))).toBe(JSON.stringify(expected));
  }
  const objects = vaultFacts(folder).flatMap(
    (fact) => /^objects\/(..)\/(\w+) /.exec(fact)?.slice(1).join('') ?? [],
  );
  expect(objects.sort()).toEqual([...used].sort());
  expect(readdirSync(join(folder, 'vault/staging'))).toEqual([]);
  return list.map(({ name }) => name);
}

it('a save that is killed at any moment leaves a whole state or none', async () => {
  const folder = join(temporaryFolder(), 'state');
  const tree = makeTree(120);
  const expected = treeFacts(tree);
  let killed = 0;
  let daemon = await startProcess(folder, tree);
  for (const delay of [0, 15, 40, 80, 150]) {
    const stateName = `s${delay}`;
    const saving = callAt(daemon.address, 'SaveSystemState', { stateName });
    await sleep(delay);
    await daemon.kill();
    const { code } = await saving;
    if (code !== 0) killed++;
    daemon = await startProcess(folder, tree);
    const names = await checkVault(folder, daemon.address, expected);
    // Acknowledged is there; not acknowledged may be there, if it is whole.
    expect(code === 0 ? [[stateName]] : [[], [stateName]]).toContainEqual(names);
    // The next calls work; and without states every object has to be written again, which is the long way.
    expect((await callAt(daemon.address, 'SaveSystemState', { stateName: 'next' })).code).toBe(0);
    expect(await checkVault(folder, daemon.address, expected)).toContain('next');
    for (const name of ['next', ...names])
      await callAt(daemon.address, 'RemoveSystemState', { stateName: name });
    expect(await checkVault(folder, daemon.address, expected)).toEqual([]);
  }
  // A suite that never interrupts anything proves nothing.
  expect(killed).toBeGreaterThan(1);
});

it('a removal that is killed at any moment is finished or has not begun', async () => {
  const folder = join(temporaryFolder(), 'state');
  const tree = makeTree(120);
  const expected = treeFacts(tree);
  let interrupted = 0;
  let daemon = await startProcess(folder, tree);
  for (const delay of [0, 4, 12]) {
    await callAt(daemon.address, 'SaveSystemState', { stateName: 'doomed' });
    let cut: Promise<void> | undefined;
    const running = daemon;
    const answer = await callAt(
      daemon.address,
      'RemoveSystemState',
      { stateName: 'doomed' },
      {
        onLine: () => {
          cut ??= sleep(delay).then(() => running.kill());
        },
      },
    );
    await cut;
    if (answer.code !== 0) interrupted++;
    daemon = await startProcess(folder, tree);
    // The first line comes after the intent is on the disk, so the removal is carried through.
    expect(await checkVault(folder, daemon.address, expected)).toEqual([]);
  }
  expect(interrupted).toBeGreaterThan(0);
});

it('a second daemon on the same folder does not start, and starts when the first is killed', async () => {
  const folder = join(temporaryFolder(), 'state');
  const tree = makeTree(1);
  const first = await startProcess(folder, tree);
  await expect(startProcess(folder, tree)).rejects.toThrow('did not start');
  expect((await callAt(first.address, 'Version')).code).toBe(0);
  await first.kill();
  expect((await callAt((await startProcess(folder, tree)).address, 'Version')).code).toBe(0);
});

it('a daemon that is told to stop exits with 0', async () => {
  const folder = join(temporaryFolder(), 'state');
  const script = join(import.meta.dirname, 'daemon-process.ts');
  const child = spawn(process.execPath, [script, folder, makeTree(1)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [address] = await once(child.stdout, 'data');
  const exited = once(child, 'exit');
  await callAt(String(address).trim(), 'DaemonStop');
  expect(await exited).toEqual([0, null]);
});
