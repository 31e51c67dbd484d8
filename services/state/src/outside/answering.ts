import { readlink } from 'node:fs/promises';
import { dirname } from 'node:path';
import { isOwnType, readMounts } from './mounts.ts';
import { programsIn } from './programs.ts';

const run = programsIn('/usr/bin:/bin');
/** A server that is slower than this holds everybody up, who waits for the machine. */
const TIMEOUT_MS = 5000;
/** What the kernel follows in one path. */
const MAX_LINKS = 40;

/** What is told of a path that does not answer. */
export const NO_ANSWER = 'the server or program that its file system comes from does not answer';

/** Whether somebody who looks at a path gets an answer. @param path as latin1 bytes */
export async function isAnswering(path: string): Promise<boolean> {
  return (await silentMount(path)) === undefined;
}

/**
 * The mount on the way to a path that does not answer, both as latin1 bytes. Its server or program may be gone, and whoever asked it
 * waits for ever and cannot be stopped, but for a program of its own, which can be killed. Nothing is started for what the kernel
 * itself answers for.
 */
export async function silentMount(path: string): Promise<string | undefined> {
  const text = Buffer.from(path, 'latin1').toString('utf8');
  const mount = await foreignMount(text);
  if (mount === undefined) return undefined;
  // Facts of a folder are remembered by the kernel, those of its file system are asked for each time.
  const { why } = await run('stat', ['-f', '--', text], { timeoutMs: TIMEOUT_MS });
  return why.includes('did not end within') ? Buffer.from(mount).toString('latin1') : undefined;
}

/** Follows a path as the kernel does, up to the first mount that somebody else answers for. */
async function foreignMount(path: string): Promise<string | undefined> {
  const foreign = new Set(
    (await readMounts()).filter(({ type }) => !isOwnType(type)).map((mount) => mount.path),
  );
  const left = path.split('/');
  let at = '/';
  for (let links = 0; left.length > 0 && links <= MAX_LINKS; ) {
    if (foreign.has(at)) return at;
    const name = left.shift() as string;
    if (name === '' || name === '.') continue;
    const next = name === '..' ? dirname(at) : `${at === '/' ? '' : at}/${name}`;
    const link = foreign.has(next) ? undefined : await readlink(next).catch(() => undefined);
    if (link === undefined) {
      at = next;
      continue;
    }
    links++;
    left.unshift(...link.split('/'));
    if (link.startsWith('/')) at = '/';
  }
  return foreign.has(at) ? at : undefined;
}
