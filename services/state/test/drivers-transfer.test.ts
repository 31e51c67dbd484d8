import { describe } from 'vitest';
import { btrfs } from './drivers/btrfs-image.ts';
import type { StorageFixture } from './drivers/fixture.ts';
import { transferScenarios } from './drivers/transfer-scenarios.ts';
import { vault } from './drivers/vault-folder.ts';
import { useZfs, zfs } from './drivers/zfs-pool.ts';

useZfs();

// As drivers.test.ts, which runs beside it.
const drivers: readonly StorageFixture[] = [vault, btrfs, zfs];

describe.each(drivers)('$name', (fixture) => {
  transferScenarios(fixture);
});
