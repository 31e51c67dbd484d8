import { existsSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';

/** Makes a folder and those above it, for nobody else. Node's own way to make those tries for ever where the kernel makes no folders, as below /proc. */
export function makeFolder(folder: string): void {
  if (existsSync(folder)) return;
  makeFolder(dirname(folder));
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    // Somebody may have made it meanwhile.
    if (!existsSync(folder)) throw error;
  }
}
