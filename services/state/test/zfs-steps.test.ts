import { it } from 'vitest';
import { steppingZfs } from './drivers/stepping-storages.ts';
import { requireZfsAndGrub } from './drivers/zfs-daemon.ts';
import { useZfs } from './drivers/zfs-pool.ts';
import { killAtEach } from './step-runs.ts';
import { checkTable, groupsOn } from './tried-operations.ts';

useZfs();

// Every write on ZFS is stopped at each thing that it does to the pool, and the daemon killed there. The longest has a file of its
// own, so that nothing waits for it.

it('every operation has its steps tried, or writes nothing', async (context) => {
  requireZfsAndGrub(context);
  await checkTable(await steppingZfs());
});

it.for(groupsOn('zfs', 6, (name) => name !== 'import'))(
  'killed before any of its steps, a write has happened as a whole or not at all: $names',
  { timeout: 1_800_000 },
  async ({ subjects }, context) => {
    requireZfsAndGrub(context);
    await context.annotate(await killAtEach(subjects, steppingZfs));
  },
);
