import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { mountJournaledDisk } from '@croft/testing';
import { expect, it } from 'vitest';
import { startDaemon, temporaryFolder } from './daemon.ts';
import { checkVault } from './vault-check.ts';

// What was answered survives a power cut right after it, on a disk that holds back whatever is not flushed.

it('states on the vault are after a power cut what they were when it was answered', async (context) => {
  const folder = temporaryFolder();
  await using disk = await mountJournaledDisk(context, folder, temporaryFolder());
  const daemon = await startDaemon({ folder: join(folder, 'state') });
  mkdirSync(join(daemon.tree, 'deep'));
  const write = (text: string) => {
    for (let file = 0; file < 20; file++) writeFileSync(join(daemon.tree, `deep/${file}`), `${text} ${file}`);
  };
  const doings: readonly [string, () => Promise<unknown>][] = [
    ['a save', () => daemon.save('one')],
    ['another', () => daemon.save('two')],
    ['a removal', () => daemon.call('RemoveSystemState', { stateName: 'one' })],
    ['garbage collection', () => daemon.call('GC', { all: true })],
    ['a save after it', () => daemon.save('three')],
  ];
  for (const [what, act] of doings) {
    write(what);
    await act();
    const dump = await daemon.dump();
    await using after = await disk.afterPowerCut();
    const again = await startDaemon({ folder: join(after.folder, 'state') });
    const found = await again.dump();
    // The other daemon is another machine, with no states.
    const states = ({ machines }: typeof dump) => machines.flatMap((machine) => machine.states);
    expect([what, states(found)]).toEqual([what, states(dump)]);
    checkVault(join(after.folder, 'state'), found);
    await again.service.close(0);
  }
  await daemon.service.close(0);
  // It is such a disk.
  writeFileSync(join(folder, 'later'), 'not flushed');
  await using after = await disk.afterPowerCut();
  expect(existsSync(join(after.folder, 'later'))).toBe(false);
});
