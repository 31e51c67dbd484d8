import { lstat, readdir } from 'node:fs/promises';
import { pathBytes } from '../model/path-text.ts';
import { isAnswering } from './answering.ts';

/**
 * The uid of a folder that has something in it. Undefined for any other, and for what cannot be looked at: whoever wants something
 * of that is told why.
 * @param path as path text
 */
export async function contentOwner(path: string): Promise<number | undefined> {
  const bytes = pathBytes(path);
  if (!(await isAnswering(bytes))) return undefined;
  const at = Buffer.from(bytes, 'latin1');
  try {
    const stat = await lstat(at);
    return stat.isDirectory() && (await readdir(at)).length > 0 ? stat.uid : undefined;
  } catch {
    return undefined;
  }
}
