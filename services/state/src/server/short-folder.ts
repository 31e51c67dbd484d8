import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';

/** `sun_path` of Linux has 108 bytes with the closing zero; others have fewer, and 104 is theirs. */
export const MAX_SOCKET_BYTES = process.platform === 'linux' ? 107 : 103;

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
