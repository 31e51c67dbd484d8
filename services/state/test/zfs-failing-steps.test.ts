import { it } from 'vitest';
import { steppingZfs } from './drivers/stepping-storages.ts';
import { requireZfsAndGrub } from './drivers/zfs-daemon.ts';
import { useZfs } from './drivers/zfs-pool.ts';
import { failInTurn } from './step-runs.ts';
import { groupsOn } from './tried-operations.ts';

useZfs();

// Every thing that a write does to the pool fails, or is done and told as failed. The longest has a file of its own.

it.for(groupsOn('zfs', 6, (name) => name !== 'import'))(
  'of which any step fails, a write has happened as a whole or not at all: $names',
  { timeout: 1_800_000 },
  async ({ subjects }, context) => {
    requireZfsAndGrub(context);
    await context.annotate(await failInTurn(subjects, steppingZfs));
  },
);
