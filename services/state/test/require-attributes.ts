import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { skipWithout } from '@croft/testing';
import xattr from '@napi-rs/xattr';
import type { TestContext } from 'vitest';
import { temporaryFolder } from './daemon.ts';

/** Skips the test where files have no extended attributes. */
export function requireAttributes(context: TestContext): void {
  if (process.platform !== 'linux') skipWithout(context, 'Linux, where extended attributes are kept,');
  const file = join(temporaryFolder(), 'file');
  writeFileSync(file, '');
  try {
    xattr.setAttributeSync(file, 'user.note', 'x');
  } catch {
    skipWithout(context, 'a TMPDIR whose file system has extended attributes');
  }
}
