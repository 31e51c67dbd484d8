import { afterAll, beforeAll } from 'vitest';
import type { StorageFixture } from './fixture.ts';
import { openPool } from './zfs-image.ts';
import { missingForZfs, startZfs, stopZfs } from './zfs-programs.ts';

/** Each may wait for the file before, and zfs-fuse takes its time on a machine with other work. */
const PATIENCE_MS = 300_000;

/** Starts zfs-fuse for the tests of a file, and ends it when no other file has pools. */
export function useZfs(): void {
  beforeAll(() => {
    if (missingForZfs() === undefined) startZfs();
  }, PATIENCE_MS);
  afterAll(stopZfs, PATIENCE_MS);
}

/** ZFS in files. */
export const zfs: StorageFixture = { name: 'zfs', missing: missingForZfs, open: () => openPool() };
