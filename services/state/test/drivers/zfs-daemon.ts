import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { hasProgram, skipWithout } from '@croft/testing';
import { onTestFinished, type TestContext } from 'vitest';
import { type Daemon, type DaemonOptions, startDaemon, temporaryFolder } from '../daemon.ts';
import { openPool, type ZfsPool } from './zfs-image.ts';
import { missingForZfs, ZFS_PATH } from './zfs-programs.ts';

/** Skips the test where there can be no pools. */
export function requireZfs(context: TestContext): void {
  const missing = missingForZfs();
  if (missing !== undefined) skipWithout(context, missing);
}

/** The same, and GRUB's environment, which is asked for the way back. */
export function requireZfsAndGrub(context: TestContext): void {
  requireZfs(context);
  if (!hasProgram('grub-editenv')) skipWithout(context, 'grub-editenv (apt install grub-common)');
}

/** A pool of a test; skips the test where there can be none. */
export async function poolFor(
  context: TestContext,
  options?: Parameters<typeof openPool>[0],
): Promise<ZfsPool> {
  requireZfs(context);
  const storage = await openPool(options);
  onTestFinished(() => storage.close());
  return storage;
}

/** A daemon on a pool. */
export function daemonOn(storage: ZfsPool, { settings, ...options }: DaemonOptions = {}): Promise<Daemon> {
  return startDaemon({ ...options, folder: storage.folder, settings: { ...storage.settings, ...settings } });
}

/** A folder with a `zfs` that does something else for some arguments: a script that gets them as its own. */
export function otherZfs(script: string): string {
  const folder = temporaryFolder();
  const file = join(folder, 'zfs');
  writeFileSync(file, `#!/bin/sh\n${script}\nPATH=${ZFS_PATH} exec zfs "$@"\n`);
  chmodSync(file, 0o755);
  return `${folder}:${ZFS_PATH}`;
}
