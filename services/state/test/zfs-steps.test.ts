import { hasProgram, skipWithout } from '@croft/testing';
import { it, type TestContext } from 'vitest';
import { steppingZfs } from './drivers/stepping-storages.ts';
import { requireZfs } from './drivers/zfs-daemon.ts';
import { killAtEach } from './step-runs.ts';
import { checkTable, groupsOn } from './tried-operations.ts';

// Every write on ZFS is stopped at each thing that it does to the pool, and the daemon killed there.

/** Pools, and GRUB's environment, which is asked for the way back. */
function requireAll(context: TestContext): void {
  requireZfs(context);
  if (!hasProgram('grub-editenv')) skipWithout(context, 'grub-editenv (apt install grub-common)');
}

it('every operation has its steps tried, or writes nothing', async (context) => {
  requireAll(context);
  await checkTable(await steppingZfs());
});

it.for(groupsOn('zfs', 6))(
  'killed before any of its steps, a write has happened as a whole or not at all: $names',
  {
    timeout: 900_000,
  },
  async ({ subjects }, context) => {
    requireAll(context);
    await context.annotate(await killAtEach(subjects, steppingZfs));
  },
);
