import { describe } from 'vitest';
import { bootScenarios } from './drivers/boot-scenarios.ts';
import { btrfs } from './drivers/btrfs-image.ts';
import { changeScenarios } from './drivers/change-scenarios.ts';
import { crashScenarios } from './drivers/crash-scenarios.ts';
import type { StorageFixture } from './drivers/fixture.ts';
import { homeScenarios } from './drivers/home-scenarios.ts';
import { instantScenarios } from './drivers/instant-scenarios.ts';
import { lookScenarios } from './drivers/look-scenarios.ts';
import { stateScenarios } from './drivers/state-scenarios.ts';
import { vault } from './drivers/vault-folder.ts';
import { useZfs, zfs } from './drivers/zfs-pool.ts';

useZfs();

// Every driver does the same: one suite, over gRPC, on the real thing.
const drivers: readonly StorageFixture[] = [vault, btrfs, zfs];

describe.each(drivers)('$name', (fixture) => {
  stateScenarios(fixture);
  homeScenarios(fixture);
  changeScenarios(fixture);
  bootScenarios(fixture);
  crashScenarios(fixture);
  instantScenarios(fixture);
  lookScenarios(fixture);
});
