import { afterAll } from 'vitest';
import type { StorageFixture } from './fixture.ts';
import { openPool } from './zfs-image.ts';
import { missingForZfs, stopZfs } from './zfs-programs.ts';

afterAll(stopZfs);

/** ZFS in files. */
export const zfs: StorageFixture = { name: 'zfs', missing: missingForZfs, open: () => openPool() };
