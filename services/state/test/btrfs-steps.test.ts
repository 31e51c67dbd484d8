import { skipWithout } from '@croft/testing';
import { it, type TestContext } from 'vitest';
import { missingForBtrfs } from './drivers/btrfs-image.ts';
import { steppingBtrfs } from './drivers/stepping-storages.ts';
import { failAtEach, killAtEach } from './step-runs.ts';
import type { Subject } from './subjects.ts';
import { checkTable, subjectsOn } from './tried-operations.ts';

// Every write on btrfs is stopped at each thing that it does to the disk, and the daemon killed there; then each of them fails.

const SUBJECTS = subjectsOn('btrfs');
const timeout = 1_800_000;

function open(context: TestContext): (subject?: Subject) => ReturnType<typeof steppingBtrfs> {
  const missing = missingForBtrfs();
  if (missing !== undefined) skipWithout(context, missing);
  return (subject) => steppingBtrfs(subject?.runs === true);
}

it('every operation has its steps tried, or writes nothing', async (context) => {
  await checkTable(await open(context)());
});

it('killed before any of its steps, a write has happened as a whole or not at all', {
  timeout,
}, async (context) => {
  await context.annotate(await killAtEach(SUBJECTS, open(context)));
});

it('of which any step fails, a write has happened as a whole or not at all', { timeout }, async (context) => {
  await context.annotate(await failAtEach(SUBJECTS, open(context), ['fail', 'lie']));
});
