import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { startDaemon, temporaryFolder, vaultFacts } from './daemon.ts';
import { statesOf } from './drivers/fixture.ts';

/** A daemon with the state `good` in the boot menu, which a power cut stopped when its removal had begun. */
async function cutBeforeRemoval({ alreadyGone = [] }: { alreadyGone?: readonly string[] } = {}) {
  const [boot, cmdline] = [temporaryFolder(), join(temporaryFolder(), 'cmdline')];
  mkdirSync(join(boot, 'grub'));
  for (const name of ['vmlinuz-6.1.0', 'initrd.img-6.1.0', 'grub/grub.cfg'])
    writeFileSync(join(boot, name), '');
  writeFileSync(cmdline, 'root=UUID=1-2 ro\n');
  const settings = {
    STATESVC_BOOT_LOADER: 'grub',
    STATESVC_BOOT_FOLDER: boot,
    STATESVC_CMDLINE_FILE: cmdline,
  };
  const first = await startDaemon({ settings });
  const { folder, tree } = first;
  writeFileSync(join(tree, 'file'), 'content');
  await first.save('good');
  expect((await first.call('UpdateBootMenu')).code).toBe(0);
  const id = (await statesOf(first))[0]?.id ?? '';
  await first.service.close(0);
  const intent = { do: 'remove', id, ids: [id, ...alreadyGone], dependants: [] };
  appendFileSync(join(folder, 'journal.jsonl'), `${JSON.stringify({ event: 'begun', intent })}\n`);
  return {
    folder,
    menu: () => readFileSync(join(boot, 'grub/croft.cfg'), 'utf8'),
    boot: (words: string) => writeFileSync(cmdline, `root=UUID=1-2 ro ${words}\n`),
    booted: `statesvc.state=${id}`,
    start: async () => {
      const daemon = await startDaemon({ folder, tree, settings });
      const told = (await statesOf(daemon)).map(({ name, removing }) => `${name}${removing ? ' goes' : ''}`);
      return { daemon, told };
    },
  };
}

it('is finished at the next start, and the menu offers the state no longer', async () => {
  const { menu, start } = await cutBeforeRemoval();
  expect(menu()).toContain('good');
  expect((await start()).told).toEqual([]);
  expect(menu()).not.toContain('good');
});

it('is taken back when the state was booted since', async () => {
  const { folder, boot, booted, menu, start } = await cutBeforeRemoval();
  const before = [vaultFacts(folder), menu()];
  boot(booted);
  const { daemon, told } = await start();
  expect([told, vaultFacts(folder), menu()]).toEqual([['good'], ...before]);
  expect((await daemon.call('RemoveSystemState', { stateName: 'good', force: true })).code).toBe(9);
  await daemon.service.close(0);
  // For good, whatever is booted after that.
  boot('');
  const after = await start();
  expect(after.told).toEqual(['good']);
  expect((await after.daemon.call('RemoveSystemState', { stateName: 'good' })).code).toBe(0);
});

it('stays begun when the state was booted since and something is gone already', async () => {
  const { folder, boot, booted, start } = await cutBeforeRemoval({ alreadyGone: ['other'] });
  const before = vaultFacts(folder);
  boot(booted);
  const { daemon, told } = await start();
  expect([told, vaultFacts(folder)]).toEqual([['good goes'], before]);
  expect((await daemon.call('RemoveSystemState', { stateName: 'good', force: true })).code).toBe(9);
  await daemon.service.close(0);
  boot('');
  expect((await start()).told).toEqual([]);
});
