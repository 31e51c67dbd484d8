import { it } from 'vitest';
import { steppingZfs } from './drivers/stepping-storages.ts';
import { requireZfsAndGrub } from './drivers/zfs-daemon.ts';
import { useZfs } from './drivers/zfs-pool.ts';
import { killAtEach } from './step-runs.ts';
import { groupsOn } from './tried-operations.ts';

useZfs();

// An import makes datasets, mounts them, and fills them: most of what a write on ZFS can do, in as many steps as all others.

it.for(groupsOn('zfs', 1, (name) => name === 'import'))(
  'killed before any of its steps, an import has happened as a whole or not at all',
  { timeout: 1_800_000 },
  async ({ subjects }, context) => {
    requireZfsAndGrub(context);
    await context.annotate(await killAtEach(subjects, steppingZfs));
  },
);
