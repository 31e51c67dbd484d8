import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';

/** The folder of a socket whose own path is too long for one. */
export function shortFolder(path: string): string {
  const uid = process.getuid?.() ?? 0;
  const hash = createHash('sha256').update(path).digest('hex').slice(0, 12);
  const own = `/run/user/${uid}`;
  return existsSync(own) ? `${own}/croft-${hash}` : join(tmpdir(), `croft-${uid}-${hash}`);
}

/** Whether it is such a folder among the temporary files, where anybody can make one of this name first. */
export function isOpenToOthers(folder: string): boolean {
  return dirname(folder) === tmpdir() && /^croft-\d+-[0-9a-f]{12}$/.test(basename(folder));
}
