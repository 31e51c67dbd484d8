import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { callAt, collect, type Dump, temporaryFolder } from './daemon.ts';
import { exported, importBytes, openImport } from './extras-client.ts';
import { startProcess } from './spawned-daemon.ts';
import { checkVault } from './vault-check.ts';

async function dumpOf(address: string): Promise<Dump> {
  const answer = await callAt(address, 'DumpStates');
  return JSON.parse(answer.results.map(({ states }) => states).join('')) as Dump;
}

it('an import that is killed at any moment leaves a whole state or none', async () => {
  const folder = join(temporaryFolder(), 'state');
  const tree = temporaryFolder();
  for (let at = 0; at < 400; at++) writeFileSync(join(tree, `f${at}`), `content ${at} `.repeat(400));
  let daemon = await startProcess(folder, tree);
  await callAt(daemon.address, 'SaveSystemState', { stateName: 'one' });
  const bytes = await exported(daemon.address, { stateName: 'one' });
  await callAt(daemon.address, 'RemoveSystemState', { stateName: 'one' });
  let interrupted = 0;
  for (const delay of [5, 40, 80, 120, 160, 220, 300]) {
    const importing = importBytes(daemon.address, bytes, `i${delay}`);
    await sleep(delay);
    await daemon.kill();
    const { code } = await importing;
    if (code !== 0) interrupted++;
    daemon = await startProcess(folder, tree);
    const dump = await dumpOf(daemon.address);
    checkVault(folder, dump);
    const names = dump.machines[0]?.states.map(({ name }) => name);
    expect(code === 0 ? [[`i${delay}`]] : [[], [`i${delay}`]]).toContainEqual(names);
    for (const stateName of names ?? []) await callAt(daemon.address, 'RemoveSystemState', { stateName });
  }
  expect(interrupted).toBeGreaterThan(1);
});

it('half an import leaves nothing when the daemon is killed, and the next one works', async () => {
  const folder = join(temporaryFolder(), 'state');
  const tree = temporaryFolder();
  for (let at = 0; at < 50; at++) writeFileSync(join(tree, `f${at}`), `content ${at} `.repeat(400));
  const daemon = await startProcess(folder, tree);
  await callAt(daemon.address, 'SaveSystemState', { stateName: 'one' });
  const bytes = await exported(daemon.address, { stateName: 'one' });
  await callAt(daemon.address, 'RemoveSystemState', { stateName: 'one' });
  const stream = openImport(daemon.address);
  const answer = collect(stream, {});
  stream.write({ header: { stateName: 'half' } });
  for (let at = 0; at < bytes.length / 2; at += 60_000)
    stream.write({ content: bytes.subarray(at, at + 60_000) });
  await sleep(300);
  await daemon.kill();
  expect((await answer).code).toBe(14);
  const again = await startProcess(folder, tree);
  const dump = await dumpOf(again.address);
  checkVault(folder, dump);
  expect(dump.machines[0]?.states).toEqual([]);
  expect((await importBytes(again.address, bytes, 'whole')).code).toBe(0);
  checkVault(folder, await dumpOf(again.address));
});
