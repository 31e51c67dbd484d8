import { it } from 'vitest';
import { steppingVault } from './drivers/stepping-storages.ts';
import { failAtEach, killAtEach } from './step-runs.ts';
import { checkTable, subjectsOn } from './tried-operations.ts';

// Every write on the vault is stopped at each thing that it does, and the daemon killed there; then each of them fails.

const SUBJECTS = subjectsOn('vault');
const timeout = 1_800_000;

it('every operation has its steps tried, or writes nothing', async () => {
  await checkTable(steppingVault());
});

it('killed before any of its steps, a write has happened as a whole or not at all', {
  timeout,
}, async (context) => {
  await context.annotate(await killAtEach(SUBJECTS, steppingVault));
});

it('of which any step fails, a write has happened as a whole or not at all', { timeout }, async (context) => {
  await context.annotate(await failAtEach(SUBJECTS, steppingVault));
});
