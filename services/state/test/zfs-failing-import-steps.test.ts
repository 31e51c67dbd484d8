import { it } from 'vitest';
import { steppingZfs } from './drivers/stepping-storages.ts';
import { requireZfsAndGrub } from './drivers/zfs-daemon.ts';
import { useZfs } from './drivers/zfs-pool.ts';
import { failInTurn } from './step-runs.ts';
import { groupsOn } from './tried-operations.ts';

useZfs();

// An import takes longer than all others together, as it has as many steps.

it.for(groupsOn('zfs', 1, (name) => name === 'import'))(
  'of which any step fails, an import has happened as a whole or not at all',
  { timeout: 1_800_000 },
  async ({ subjects }, context) => {
    requireZfsAndGrub(context);
    await context.annotate(await failInTurn(subjects, steppingZfs));
  },
);
